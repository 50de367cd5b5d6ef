// Spawned and connected jobs: intercommunicators to processes outside of MPI_COMM_WORLD.
#include "late.h"

// What the spawned processes do: one exchange with each parent, then an exchange among themselves.
static int child(MPI_Comm parents) {
  int parent_count, in = -1;
  char* buffer = allocate(large);
  MPI_Comm_remote_size(parents, &parent_count);
  for (int i = 0; i < parent_count; i++) {
    MPI_Recv(buffer, large, MPI_BYTE, i, 1, parents, IGNORE);
    MPI_Send(buffer, large, MPI_BYTE, i, 2, parents);
  }
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &in, 1, MPI_INT, (rank + size - 1) % size, 0, WORLD, IGNORE);
  EXPECT_EQ(in, (rank + size - 1) % size);
  MPI_Comm all;
  MPI_Intercomm_merge(parents, 1, &all);
  int total = 0, one = 1;
  MPI_Allreduce(&one, &total, 1, MPI_INT, MPI_SUM, all);
  MPI_Comm_free(&all);
  free(buffer);
  MPI_Comm_disconnect(&parents);
  return verdict();
}

static char* program;

static void spawned_job_talks_to_its_parents(void) {
  enum { children = 2 };
  MPI_Comm inter, all;
  char* buffer = allocate(large);
  MPI_Comm_spawn(program, MPI_ARGV_NULL, children, MPI_INFO_NULL, 0, WORLD, &inter, MPI_ERRCODES_IGNORE);
  for (int i = 0; i < children; i++) {
    fill(buffer, large, (unsigned)(rank * 10 + i));
    MPI_Send(buffer, large, MPI_BYTE, i, 1, inter);
    memset(buffer, 0, large);
    MPI_Recv(buffer, large, MPI_BYTE, i, 2, inter, IGNORE);
    expect_filled(buffer, large, (unsigned)(rank * 10 + i));
  }
  int total = 0, one = 1, merged_rank;
  MPI_Intercomm_merge(inter, 0, &all);
  MPI_Comm_rank(all, &merged_rank);
  MPI_Allreduce(&one, &total, 1, MPI_INT, MPI_SUM, all);
  EXPECT_EQ(total, size + children);
  note("%d %d", merged_rank, total);
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&inter);
  free(buffer);
}

static void own_world_goes_on_afterwards(void) {
  int in = -1;
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &in, 1, MPI_INT, (rank + size - 1) % size, 0, WORLD, IGNORE);
  EXPECT_EQ(in, (rank + size - 1) % size);
}

static const Case cases[] = {CASE(spawned_job_talks_to_its_parents, 1), CASE(own_world_goes_on_afterwards, 1)};

int main(int argc, char** argv) {
  MPI_Comm parents;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(WORLD, &rank);
  MPI_Comm_size(WORLD, &size);
  MPI_Comm_get_parent(&parents);
  program = argv[0];
  if (parents == MPI_COMM_NULL) run_cases(cases, 2, argc, argv);
  const int failed = parents == MPI_COMM_NULL ? verdict() : child(parents);
  MPI_Finalize();
  return failed;
}
