// Scan, exscan and reduce-scatter in every form, with the same sums on all ways.
#include "late.h"

static const int lengths[] = {0, 1, 5, 1000, 20000, 70000};
enum { count_of_lengths = sizeof lengths / sizeof *lengths, untouched = -77 };

#define CALL(nonblocking, X, I, ...)                                  \
  do {                                                                \
    MPI_Request request_ = MPI_REQUEST_NULL;                          \
    if (nonblocking) {                                                \
      EXPECT_EQ(MPI_##I(__VA_ARGS__, &request_), MPI_SUCCESS);        \
      EXPECT_EQ(MPI_Wait(&request_, MPI_STATUS_IGNORE), MPI_SUCCESS); \
    } else {                                                          \
      EXPECT_EQ(MPI_##X(__VA_ARGS__), MPI_SUCCESS);                   \
    }                                                                 \
  } while (0)

static double* filled(int elements, double value) {
  double* memory = allocate(((size_t)elements + 1) * sizeof *memory);
  for (int i = 0; i <= elements; i++) memory[i] = value;
  return memory;
}

static double operand(int from, int k) { return from + 1 + k % 7; }

static double sum_of(int ranks, int k) {
  double sum = 0;
  for (int from = 0; from < ranks; from++) sum += operand(from, k);
  return sum;
}

static void expect_sums(const double* sums, int count, int first, int ranks) {
  for (int k = 0; k < count; k++) {
    if (sums[k] == sum_of(ranks, first + k)) continue;
    EXPECT(0, "element %d of %d is %g and not %g", k, count, sums[k], sum_of(ranks, first + k));
    return;
  }
}

static void scan(int count, int in_place, int nonblocking) {
  double *own = filled(count, untouched), *sums = filled(count, untouched);
  for (int k = 0; k < count; k++) (in_place ? sums : own)[k] = operand(rank, k);
  CALL(nonblocking, Scan, Iscan, in_place ? MPI_IN_PLACE : own, sums, count, MPI_DOUBLE, MPI_SUM, WORLD);
  expect_sums(sums, count, 0, rank + 1);
  EXPECT(sums[count] == untouched, "behind %d elements", count);
  free(sums);
  free(own);
}

static void exscan(int count, int in_place, int nonblocking) {
  double *own = filled(count, untouched), *sums = filled(count, untouched);
  for (int k = 0; k < count; k++) (in_place ? sums : own)[k] = operand(rank, k);
  CALL(nonblocking, Exscan, Iexscan, in_place ? MPI_IN_PLACE : own, sums, count, MPI_DOUBLE, MPI_SUM, WORLD);
  if (rank > 0) expect_sums(sums, count, 0, rank);
  EXPECT(sums[count] == untouched, "behind %d elements", count);
  free(sums);
  free(own);
}

static void reduce_scatter_block(int count, int in_place, int nonblocking) {
  double *own = filled(count * size, untouched), *sums = filled(count * size, untouched);
  for (int k = 0; k < count * size; k++) (in_place ? sums : own)[k] = operand(rank, k);
  CALL(nonblocking, Reduce_scatter_block, Ireduce_scatter_block, in_place ? MPI_IN_PLACE : own, sums, count, MPI_DOUBLE, MPI_SUM,
       WORLD);
  expect_sums(sums, count, rank * count, size);
  EXPECT(sums[count * size] == untouched, "behind %d elements", count);
  free(sums);
  free(own);
}

static void reduce_scatter(int count, int in_place, int nonblocking) {
  int all = 0, first = 0;
  int* counts = allocate((size_t)size * sizeof(int));
  for (int to = 0; to < size; to++) {
    counts[to] = to % 3 == 1 ? 0 : count + 11 * to;
    if (to < rank) first += counts[to];
    all += counts[to];
  }
  double *own = filled(all, untouched), *sums = filled(all, untouched);
  for (int k = 0; k < all; k++) (in_place ? sums : own)[k] = operand(rank, k);
  CALL(nonblocking, Reduce_scatter, Ireduce_scatter, in_place ? MPI_IN_PLACE : own, sums, counts, MPI_DOUBLE, MPI_SUM, WORLD);
  expect_sums(sums, counts[rank], first, size);
  EXPECT(sums[all] == untouched, "behind %d elements", all);
  free(sums);
  free(own);
  free(counts);
}

typedef void (*Call)(int count, int in_place, int nonblocking);

static void in_all_ways(Call call) {
  for (int l = 0; l < count_of_lengths; l++) {
    for (int in_place = 0; in_place < 2; in_place++) {
      for (int nonblocking = 0; nonblocking < 2; nonblocking++) call(lengths[l], in_place, nonblocking);
    }
  }
}

static void scans(void) { in_all_ways(scan); }
static void exscans(void) { in_all_ways(exscan); }
static void reduce_scatter_blocks(void) { in_all_ways(reduce_scatter_block); }
static void reduce_scatters(void) { in_all_ways(reduce_scatter); }

// Reduce-scatter gives the bits that allreduce gives, and scan those of a loop.
static void same_bits(void) {
  enum { count = 3000 };
  double* own = filled(count * size, 0);
  double* all = filled(count * size, 0);
  double* strip = filled(count, 0);
  double* everything = filled(count * size * size, 0);
  for (int k = 0; k < count * size; k++) own[k] = 1.0 / (3 + rank * 7 + k) * (k % 2 ? 1e9 : -1e-3);
  MPI_Allreduce(own, all, count * size, MPI_DOUBLE, MPI_SUM, WORLD);
  MPI_Reduce_scatter_block(own, strip, count, MPI_DOUBLE, MPI_SUM, WORLD);
  EXPECT(memcmp(strip, all + rank * count, count * sizeof *strip) == 0, "reduce-scatter differs from allreduce");
  MPI_Allgather(own, count * size, MPI_DOUBLE, everything, count * size, MPI_DOUBLE, WORLD);
  MPI_Scan(own, all, count * size, MPI_DOUBLE, MPI_SUM, WORLD);
  int wrong = 0;
  for (int k = 0; k < count * size; k++) {
    double sum = everything[k];
    for (int from = 1; from <= rank; from++) sum += everything[from * count * size + k];
    wrong += memcmp(&sum, &all[k], sizeof sum) != 0;
  }
  EXPECT(wrong == 0, "%d of %d prefixes are not those of a loop", wrong, count * size);
  free(everything);
  free(strip);
  free(all);
  free(own);
}

static void take_upper(void* lower, void* upper, int* count, MPI_Datatype* type) {
  (void)lower, (void)upper, (void)count, (void)type;
}

// The host's, on all ranks.
static void own_operations(void) {
  MPI_Op op;
  MPI_Op_create(take_upper, 0, &op);
  int value = rank, got = untouched;
  MPI_Scan(&value, &got, 1, MPI_INT, op, WORLD);
  EXPECT_EQ(got, rank);
  MPI_Op_free(&op);
}

static void open_beside_others(void) {
  int value = rank + 1, sum = untouched, before = untouched, message = untouched;
  const int next = (rank + 1) % size, last = (rank + size - 1) % size;
  MPI_Request requests[4];
  MPI_Iscan(&value, &sum, 1, MPI_INT, MPI_SUM, WORLD, &requests[0]);
  MPI_Irecv(&message, 1, MPI_INT, last, 0, WORLD, &requests[2]);
  MPI_Iexscan(&value, &before, 1, MPI_INT, MPI_SUM, WORLD, &requests[1]);
  MPI_Isend(&rank, 1, MPI_INT, next, 0, WORLD, &requests[3]);
  MPI_Barrier(WORLD);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  EXPECT_EQ(sum, (rank + 1) * (rank + 2) / 2);
  if (rank > 0) EXPECT_EQ(before, rank * (rank + 1) / 2);
  EXPECT_EQ(message, last);
}

static void wrong_arguments(void) {
  int value = 1, sum = 0;
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
  EXPECT_CLASS(MPI_Scan(&value, &sum, -1, MPI_INT, MPI_SUM, WORLD), MPI_ERR_COUNT);
  EXPECT_CLASS(MPI_Exscan(&value, &sum, 1, MPI_INT, MPI_OP_NULL, WORLD), MPI_ERR_OP);
  EXPECT_CLASS(MPI_Reduce_scatter_block(&value, &sum, -1, MPI_INT, MPI_SUM, WORLD), MPI_ERR_COUNT);
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Barrier(WORLD);
}

static const Case cases[] = {
    {"scans", 1, scans},
    {"exscans", 1, exscans},
    {"reduce_scatter_blocks", 1, reduce_scatter_blocks},
    {"reduce_scatters", 1, reduce_scatters},
    {"same_bits", 1, same_bits},
    {"own_operations", 1, own_operations},
    {"open_beside_others", 1, open_beside_others},
    {"wrong_arguments", 1, wrong_arguments},
};
SUITE(cases)
