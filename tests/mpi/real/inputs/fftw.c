/* Transforms of a cube there and back, spread over the ranks, by FFTW's MPI interface. */
#include <fftw3-mpi.h>
#include <math.h>
#include <stdio.h>

enum { edge = 64, rounds = 6 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  fftw_mpi_init();
  ptrdiff_t local, first;
  const ptrdiff_t room = fftw_mpi_local_size_3d(edge, edge, edge, MPI_COMM_WORLD, &local, &first);
  fftw_complex* cube = fftw_alloc_complex((size_t)room);
  fftw_plan there = fftw_mpi_plan_dft_3d(edge, edge, edge, cube, cube, MPI_COMM_WORLD, FFTW_FORWARD, FFTW_ESTIMATE);
  fftw_plan back = fftw_mpi_plan_dft_3d(edge, edge, edge, cube, cube, MPI_COMM_WORLD, FFTW_BACKWARD, FFTW_ESTIMATE);
  for (ptrdiff_t i = 0; i < local * edge * edge; i++) {
    cube[i][0] = sin((double)(first * edge * edge + i));
    cube[i][1] = cos((double)(first * edge * edge + i));
  }
  for (int round = 0; round < rounds; round++) {
    fftw_execute(there);
    fftw_execute(back);
    for (ptrdiff_t i = 0; i < local * edge * edge; i++) {
      cube[i][0] /= (double)edge * edge * edge;
      cube[i][1] /= (double)edge * edge * edge;
    }
  }
  double error = 0, all = 0;
  for (ptrdiff_t i = 0; i < local * edge * edge; i++)
    error = fmax(error, fabs(cube[i][0] - sin((double)(first * edge * edge + i))));
  MPI_Reduce(&error, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("largest error %.17g\n", all);
  MPI_Finalize();
  return 0;
}
