/* A Laplacian on a square, solved by conjugate gradients with algebraic multigrid, both of hypre. */
#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>
#include <mpi.h>
#include <stdio.h>

enum { edge = 200 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int rows = edge * edge, first = rows / size * rank, last = rank == size - 1 ? rows - 1 : rows / size * (rank + 1) - 1;
  HYPRE_Init();
  HYPRE_IJMatrix matrix;
  HYPRE_IJVector right, solution;
  HYPRE_IJMatrixCreate(MPI_COMM_WORLD, first, last, first, last, &matrix);
  HYPRE_IJMatrixSetObjectType(matrix, HYPRE_PARCSR);
  HYPRE_IJMatrixInitialize(matrix);
  HYPRE_IJVectorCreate(MPI_COMM_WORLD, first, last, &right);
  HYPRE_IJVectorCreate(MPI_COMM_WORLD, first, last, &solution);
  HYPRE_IJVectorSetObjectType(right, HYPRE_PARCSR);
  HYPRE_IJVectorSetObjectType(solution, HYPRE_PARCSR);
  HYPRE_IJVectorInitialize(right);
  HYPRE_IJVectorInitialize(solution);
  for (HYPRE_Int row = first; row <= last; row++) {
    HYPRE_Int columns[5], count = 0;
    double values[5];
    const int near[4] = {row >= edge ? row - edge : -1, row % edge ? row - 1 : -1, row % edge != edge - 1 ? row + 1 : -1,
                         row < rows - edge ? row + edge : -1};
    for (int i = 0; i < 4; i++)
      if (near[i] >= 0) columns[count] = near[i], values[count++] = -1;
    columns[count] = row, values[count++] = 4;
    HYPRE_IJMatrixSetValues(matrix, 1, &count, &row, columns, values);
    const double one = 1.0 / rows, zero = 0;
    HYPRE_IJVectorSetValues(right, 1, &row, &one);
    HYPRE_IJVectorSetValues(solution, 1, &row, &zero);
  }
  HYPRE_IJMatrixAssemble(matrix);
  HYPRE_IJVectorAssemble(right);
  HYPRE_IJVectorAssemble(solution);
  HYPRE_ParCSRMatrix a;
  HYPRE_ParVector b, x;
  HYPRE_IJMatrixGetObject(matrix, (void**)&a);
  HYPRE_IJVectorGetObject(right, (void**)&b);
  HYPRE_IJVectorGetObject(solution, (void**)&x);
  HYPRE_Solver solver, preconditioner;
  HYPRE_ParCSRPCGCreate(MPI_COMM_WORLD, &solver);
  HYPRE_PCGSetMaxIter(solver, 100);
  HYPRE_PCGSetTol(solver, 1e-8);
  HYPRE_PCGSetTwoNorm(solver, 1);
  HYPRE_BoomerAMGCreate(&preconditioner);
  HYPRE_BoomerAMGSetTol(preconditioner, 0);
  HYPRE_BoomerAMGSetMaxIter(preconditioner, 1);
  HYPRE_PCGSetPrecond(solver, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSolve, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSetup,
                      preconditioner);
  HYPRE_ParCSRPCGSetup(solver, a, b, x);
  HYPRE_ParCSRPCGSolve(solver, a, b, x);
  HYPRE_Int steps;
  double residual, product;
  HYPRE_PCGGetNumIterations(solver, &steps);
  HYPRE_PCGGetFinalRelativeResidualNorm(solver, &residual);
  HYPRE_ParVectorInnerProd(x, b, &product);
  if (rank == 0) printf("%d steps, residual %.12e, product %.12e\n", (int)steps, residual, product);
  HYPRE_Finalize();
  MPI_Finalize();
  return 0;
}
