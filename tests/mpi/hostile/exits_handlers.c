// A program that goes on in an exit handler it has set before MPI_Init, as destructors of its own objects would: what the
// preloaded library has is still whole by then. The same cases run before and in there, and MPI ends in there.
#include <stddef.h>

#include "hostile.h"

enum { numbers = 40000, short_one = 12 };

static int left(void) { return (rank + size - 1) % size; }
static int right(void) { return (rank + 1) % size; }

static double* new_numbers(int scale) {
  double* all = allocate(numbers * sizeof *all);
  for (int i = 0; i < numbers; i++) all[i] = i % 1000 * scale;
  return all;
}

static void expect_numbers(const double* all, int count, int scale) {
  int wrong = 0;
  for (int i = 0; i < count; i++) wrong += all[i] != i % 1000 * scale;
  EXPECT_EQ(wrong, 0);
}

static void messages(void) {
  static const int sizes[] = {0, 1, 100, 5000, large};
  char* buffer = map(large);
  for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    if (!late(buffer, sizes[i], i)) continue;
    expect_filled(buffer, (size_t)sizes[i], i);
  }
  munmap(buffer, large);
}

static void requests(void) {
  enum { many = 40 };
  MPI_Request all[2 * many], kept[2];
  int sent[many], got[many];
  for (int i = 0; i < many; i++) {
    sent[i] = rank * many + i;
    MPI_Irecv(&got[i], 1, MPI_INT, left(), i, WORLD, &all[i]);
    MPI_Isend(&sent[i], 1, MPI_INT, right(), i, WORLD, &all[many + i]);
  }
  for (int done = 0; done != 2 * many;) {
    int count, places[2 * many];
    MPI_Waitsome(2 * many, all, &count, places, MPI_STATUSES_IGNORE);
    done += count;
  }
  for (int i = 0; i < many; i++) EXPECT_EQ(got[i], left() * many + i);
  MPI_Recv_init(got, 1, MPI_INT, left(), 1, WORLD, &kept[0]);
  MPI_Send_init(sent, 1, MPI_INT, right(), 1, WORLD, &kept[1]);
  MPI_Startall(2, kept);
  MPI_Waitall(2, kept, MPI_STATUSES_IGNORE);
  EXPECT_EQ(got[0], left() * many);
  for (int i = 0; i < 2; i++) MPI_Request_free(&kept[i]);
}

static void types(void) {
  MPI_Datatype every_other;
  double *sent = new_numbers(1), *got = new_numbers(0);
  MPI_Type_vector(numbers / 2, 1, 2, MPI_DOUBLE, &every_other);
  MPI_Type_commit(&every_other);
  MPI_Sendrecv(sent, 1, every_other, right(), 2, got, 1, every_other, left(), 2, WORLD, IGNORE);
  int wrong = 0;
  for (int i = 0; i < numbers; i++) wrong += got[i] != (i % 2 == 0 ? i % 1000 : 0);
  EXPECT_EQ(wrong, 0);
  MPI_Type_free(&every_other);
  free(sent);
  free(got);
}

static void collectives(void) {
  MPI_Comm own;
  MPI_Comm_dup(WORLD, &own);
  for (int count = short_one; count <= numbers; count *= 50) {
    double *in = new_numbers(rank + 1), *out = new_numbers(0);
    MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, own);
    expect_numbers(out, count, size * (size + 1) / 2);
    MPI_Bcast(in, count, MPI_DOUBLE, size - 1, own);
    expect_numbers(in, count, size);
    MPI_Request request;
    const int block = count / size;
    MPI_Ialltoall(in, block, MPI_DOUBLE, out, block, MPI_DOUBLE, own, &request);
    MPI_Wait(&request, IGNORE);
    EXPECT(memcmp(out, in + rank * block, (size_t)block * sizeof *in) == 0, "another block");
    free(in);
    free(out);
  }
  MPI_Comm_free(&own);
}

static void windows(void) {
  MPI_Win window;
  double *all, *sent = new_numbers(rank + 1);
  MPI_Win_allocate(numbers * sizeof *all, sizeof *all, MPI_INFO_NULL, WORLD, &all, &window);
  MPI_Win_fence(0, window);
  MPI_Put(sent, numbers, MPI_DOUBLE, right(), 0, numbers, MPI_DOUBLE, window);
  MPI_Win_fence(0, window);
  expect_numbers(all, numbers, left() + 1);
  MPI_Win_fence(0, window);
  MPI_Accumulate(sent, numbers, MPI_DOUBLE, right(), 0, numbers, MPI_DOUBLE, MPI_SUM, window);
  MPI_Win_fence(0, window);
  expect_numbers(all, numbers, 2 * (left() + 1));
  MPI_Win_free(&window);
  free(sent);
}

static const Case cases[] = {CASE(messages, 1), CASE(requests, 1), CASE(types, 1), CASE(collectives, 1), CASE(windows, 1)};

static void run_all(void) { run_cases(cases, sizeof cases / sizeof cases[0], 1, NULL); }

static void go_on(void) {
  run_all();
  const int failed = verdict();
  MPI_Finalize();
  if (failed) _exit(1);
}

int main(int argc, char** argv) {
  atexit(go_on);
  MPI_Init(&argc, &argv);
  run_all();
  return 0;
}
