/* A Laplacian on a square by PETSc's Krylov solvers; with SLEPC, its smallest eigenvalues. */
#ifdef SLEPC
#include <slepceps.h>
#else
#include <petscksp.h>
#endif

enum { edge = 120 };

static Mat laplacian(void) {
  Mat matrix;
  PetscInt first, last;
  MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, edge * edge, edge * edge, 5, NULL, 5, NULL, &matrix);
  MatGetOwnershipRange(matrix, &first, &last);
  for (PetscInt row = first; row < last; row++) {
    if (row >= edge) MatSetValue(matrix, row, row - edge, -1, INSERT_VALUES);
    if (row % edge) MatSetValue(matrix, row, row - 1, -1, INSERT_VALUES);
    MatSetValue(matrix, row, row, 4, INSERT_VALUES);
    if (row % edge != edge - 1) MatSetValue(matrix, row, row + 1, -1, INSERT_VALUES);
    if (row < edge * (edge - 1)) MatSetValue(matrix, row, row + edge, -1, INSERT_VALUES);
  }
  MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY);
  MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY);
  return matrix;
}

int main(int argc, char** argv) {
#ifdef SLEPC
  SlepcInitialize(&argc, &argv, NULL, NULL);
  EPS solver;
  EPSCreate(PETSC_COMM_WORLD, &solver);
  EPSSetOperators(solver, laplacian(), NULL);
  EPSSetProblemType(solver, EPS_HEP);
  EPSSetWhichEigenpairs(solver, EPS_LARGEST_REAL);
  EPSSetDimensions(solver, 3, 30, PETSC_DECIDE);
  EPSSetTolerances(solver, 1e-6, 3000);
  EPSSolve(solver);
  PetscInt found;
  EPSGetConverged(solver, &found);
  for (PetscInt i = 0; i < found && i < 3; i++) {
    PetscScalar value;
    EPSGetEigenvalue(solver, i, &value, NULL);
    PetscPrintf(PETSC_COMM_WORLD, "eigenvalue %.10f\n", (double)value);
  }
  SlepcFinalize();
#else
  PetscInitialize(&argc, &argv, NULL, NULL);
  Mat matrix = laplacian();
  Vec right, solution;
  MatCreateVecs(matrix, &solution, &right);
  VecSet(right, 1.0 / edge);
  KSP solver;
  KSPCreate(PETSC_COMM_WORLD, &solver);
  KSPSetOperators(solver, matrix, matrix);
  KSPSetType(solver, KSPCG);
  KSPSetTolerances(solver, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 2000);
  KSPSetFromOptions(solver);
  KSPSolve(solver, right, solution);
  PetscInt steps;
  PetscReal norm;
  KSPGetIterationNumber(solver, &steps);
  VecNorm(solution, NORM_2, &norm);
  PetscPrintf(PETSC_COMM_WORLD, "%d steps, norm %.12e\n", (int)steps, (double)norm);
  PetscFinalize();
#endif
  return 0;
}
