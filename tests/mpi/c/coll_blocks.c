// Collectives with a block for each rank: gather, scatter, allgather, alltoall, with counts and with types, blocking and not.
#include "blocks.h"

static const int lengths[] = {0, 1, 7, 1000, 9001, 40000};
enum { count_of_lengths = sizeof lengths / sizeof *lengths, longest = 40000 };

// With counts: some are 0, blocks stand in reverse order, with gaps between them.
static int count_of(int from, int to, int count) { return (from + 2 * to) % 3 == 1 ? 0 : count + from + to; }

typedef struct {
  int *counts, *places;
  size_t elements;
} Table;

// Of what comes from each rank to this one, or (`outgoing`) goes to each.
static Table table_of(int count, int to, int outgoing) {
  Table table = {allocate((size_t)size * sizeof(int)), allocate((size_t)size * sizeof(int)), 0};
  for (int peer = size - 1; peer >= 0; peer--) {
    table.counts[peer] = outgoing ? count_of(to, peer, count) : count_of(peer, to, count);
    table.places[peer] = (int)table.elements + 2;
    table.elements += (size_t)table.counts[peer] + 3;
  }
  return table;
}

static void free_table(Table table) {
  free(table.counts);
  free(table.places);
}

static void gather(int root, int count, int in_place, int nonblocking) {
  const int here = rank == root;
  int* own = filled((size_t)count, untouched);
  int* all = filled((size_t)count * (size_t)size, untouched);
  for (int k = 0; k < count; k++) own[k] = all[rank * count + k] = element(rank, 0, k);
  const void* sent = in_place && here ? MPI_IN_PLACE : own;
  CALL(nonblocking, Gather, Igather, sent, in_place && here ? -5 : count, in_place && here ? MPI_DATATYPE_NULL : MPI_INT,
       here ? (void*)all : GARBAGE, here ? count : -3, here ? MPI_INT : MPI_DATATYPE_NULL, root, WORLD);
  if (here)
    for (int from = 0; from < size; from++) expect_block(all + from * count, count, from, 0);
  EXPECT_EQ(all[size * count], untouched);
  free(all);
  free(own);
}

static void gather_counts(int root, int count, int in_place, int nonblocking) {
  const int here = rank == root;
  const int own_count = count_of(rank, root, count);
  const Table table = table_of(count, root, 0);
  int* own = filled((size_t)own_count, untouched);
  int* all = filled(table.elements, untouched);
  for (int k = 0; k < own_count; k++) own[k] = element(rank, 0, k);
  if (in_place && here) memcpy(all + table.places[rank], own, (size_t)own_count * sizeof(int));
  CALL(nonblocking, Gatherv, Igatherv, in_place && here ? MPI_IN_PLACE : own, own_count, MPI_INT, here ? (void*)all : GARBAGE,
       here ? table.counts : GARBAGE, here ? table.places : GARBAGE, here ? MPI_INT : MPI_DATATYPE_NULL, root, WORLD);
  for (int from = 0; from < size && here; from++) {
    expect_block(all + table.places[from], table.counts[from], from, 0);
    expect_untouched(all + table.places[from] - 2, 2);
  }
  free(all);
  free(own);
  free_table(table);
}

static void scatter(int root, int count, int in_place, int nonblocking) {
  const int here = rank == root;
  int* own = filled((size_t)count, untouched);
  int* all = filled((size_t)count * (size_t)size, untouched);
  for (int to = 0; to < size; to++)
    for (int k = 0; k < count; k++) all[to * count + k] = element(root, to, k);
  CALL(nonblocking, Scatter, Iscatter, here ? (void*)all : GARBAGE, here ? count : -3, here ? MPI_INT : MPI_DATATYPE_NULL,
       in_place && here ? MPI_IN_PLACE : own, count, MPI_INT, root, WORLD);
  if (!in_place || !here) expect_block(own, count, root, rank);
  EXPECT_EQ(own[count], untouched);
  expect_block(all + rank * count, count, root, rank);
  free(all);
  free(own);
}

static void scatter_counts(int root, int count, int in_place, int nonblocking) {
  const int here = rank == root;
  const int own_count = count_of(root, rank, count);
  const Table table = table_of(count, root, 1);
  int* own = filled((size_t)own_count, untouched);
  int* all = filled(table.elements, untouched);
  for (int to = 0; to < size; to++)
    for (int k = 0; k < table.counts[to]; k++) all[table.places[to] + k] = element(root, to, k);
  CALL(nonblocking, Scatterv, Iscatterv, here ? (void*)all : GARBAGE, here ? table.counts : GARBAGE,
       here ? table.places : GARBAGE, here ? MPI_INT : MPI_DATATYPE_NULL, in_place && here ? MPI_IN_PLACE : own, own_count,
       MPI_INT, root, WORLD);
  if (!in_place || !here) expect_block(own, own_count, root, rank);
  EXPECT_EQ(own[own_count], untouched);
  free(all);
  free(own);
  free_table(table);
}

static void allgather(int root, int count, int in_place, int nonblocking) {
  int* own = filled((size_t)count, untouched);
  int* all = filled((size_t)count * (size_t)size, untouched);
  for (int k = 0; k < count; k++) own[k] = element(rank, root, k);
  if (in_place) memcpy(all + rank * count, own, (size_t)count * sizeof(int));
  CALL(nonblocking, Allgather, Iallgather, in_place ? MPI_IN_PLACE : own, in_place ? -1 : count,
       in_place ? MPI_DATATYPE_NULL : MPI_INT, all, count, MPI_INT, WORLD);
  for (int from = 0; from < size; from++) expect_block(all + from * count, count, from, root);
  EXPECT_EQ(all[size * count], untouched);
  free(all);
  free(own);
}

static void allgather_counts(int root, int count, int in_place, int nonblocking) {
  const int own_count = count_of(rank, root, count);
  const Table table = table_of(count, root, 0);
  int* own = filled((size_t)own_count, untouched);
  int* all = filled(table.elements, untouched);
  for (int k = 0; k < own_count; k++) own[k] = element(rank, root, k);
  if (in_place) memcpy(all + table.places[rank], own, (size_t)own_count * sizeof(int));
  CALL(nonblocking, Allgatherv, Iallgatherv, in_place ? MPI_IN_PLACE : own, own_count, MPI_INT, all, table.counts, table.places,
       MPI_INT, WORLD);
  for (int from = 0; from < size; from++) {
    expect_block(all + table.places[from], table.counts[from], from, root);
    expect_untouched(all + table.places[from] - 2, 2);
  }
  free(all);
  free(own);
  free_table(table);
}

static void alltoall(int root, int count, int in_place, int nonblocking) {
  (void)root;
  int* out = filled((size_t)count * (size_t)size, untouched);
  int* in = filled((size_t)count * (size_t)size, untouched);
  for (int to = 0; to < size; to++)
    for (int k = 0; k < count; k++) (in_place ? in : out)[to * count + k] = element(rank, to, k);
  CALL(nonblocking, Alltoall, Ialltoall, in_place ? MPI_IN_PLACE : out, in_place ? -1 : count,
       in_place ? MPI_DATATYPE_NULL : MPI_INT, in, count, MPI_INT, WORLD);
  for (int from = 0; from < size; from++) expect_block(in + from * count, count, from, rank);
  EXPECT_EQ(in[size * count], untouched);
  free(in);
  free(out);
}

// In place both sides of a pair have one count.
static Table symmetric_table(int count) {
  Table table = table_of(count, rank, 0);
  table.elements = 0;
  for (int peer = size - 1; peer >= 0; peer--) {
    const int low = peer < rank ? peer : rank, high = peer < rank ? rank : peer;
    table.counts[peer] = count_of(low, high, count);
    table.places[peer] = (int)table.elements + 2;
    table.elements += (size_t)table.counts[peer] + 3;
  }
  return table;
}

static void alltoall_counts(int root, int count, int in_place, int nonblocking) {
  (void)root;
  const Table to = in_place ? symmetric_table(count) : table_of(count, rank, 1);
  const Table from = in_place ? symmetric_table(count) : table_of(count, rank, 0);
  int* out = filled(to.elements, untouched);
  int* in = filled(from.elements, untouched);
  for (int peer = 0; peer < size; peer++)
    for (int k = 0; k < to.counts[peer]; k++) (in_place ? in : out)[to.places[peer] + k] = element(rank, peer, k);
  CALL(nonblocking, Alltoallv, Ialltoallv, in_place ? MPI_IN_PLACE : out, in_place ? GARBAGE : to.counts,
       in_place ? GARBAGE : to.places, in_place ? MPI_DATATYPE_NULL : MPI_INT, in, from.counts, from.places, MPI_INT, WORLD);
  for (int peer = 0; peer < size; peer++) {
    expect_block(in + from.places[peer], from.counts[peer], peer, rank);
    expect_untouched(in + from.places[peer] - 2, 2);
  }
  free(in);
  free(out);
  free_table(to);
  free_table(from);
}

// Each pair has a type of its own, and the receiver another one than the sender.
static void alltoall_types(int root, int count, int in_place, int nonblocking) {
  (void)root;
  const Table to = in_place ? symmetric_table(count) : table_of(count, rank, 1);
  const Table from = in_place ? symmetric_table(count) : table_of(count, rank, 0);
  int* out = filled(to.elements, untouched);
  int* in = filled(from.elements, untouched);
  MPI_Datatype* types = allocate(2 * (size_t)size * sizeof *types);
  int* counts = allocate(2 * (size_t)size * sizeof *counts);
  for (int peer = 0; peer < size; peer++) {
    for (int k = 0; k < to.counts[peer]; k++) (in_place ? in : out)[to.places[peer] + k] = element(rank, peer, k);
    to.places[peer] *= (int)sizeof(int);
    from.places[peer] *= (int)sizeof(int);
    counts[peer] = to.counts[peer];
    types[peer] = MPI_INT;
    counts[size + peer] = 1;
    MPI_Type_contiguous(from.counts[peer], MPI_INT, &types[size + peer]);
    MPI_Type_commit(&types[size + peer]);
  }
  CALL(nonblocking, Alltoallw, Ialltoallw, in_place ? MPI_IN_PLACE : out, in_place ? GARBAGE : counts,
       in_place ? GARBAGE : to.places, in_place ? GARBAGE : types, in, counts + size, from.places, types + size, WORLD);
  for (int peer = 0; peer < size; peer++) {
    const int at = from.places[peer] / (int)sizeof(int);
    expect_block(in + at, from.counts[peer], peer, rank);
    expect_untouched(in + at - 2, 2);
    MPI_Type_free(&types[size + peer]);
  }
  free(counts);
  free(types);
  free(in);
  free(out);
  free_table(to);
  free_table(from);
}

typedef void (*Call)(int root, int count, int in_place, int nonblocking);

static void in_all_ways(Call call, int roots) {
  for (int root = 0; root < roots; root++) {
    for (int l = 0; l < count_of_lengths; l++) {
      for (int in_place = 0; in_place < 2; in_place++) {
        for (int nonblocking = 0; nonblocking < 2; nonblocking++) call(root, lengths[l], in_place, nonblocking);
      }
    }
  }
}

static void gathers(void) { in_all_ways(gather, size); }
static void gathers_with_counts(void) { in_all_ways(gather_counts, size); }
static void scatters(void) { in_all_ways(scatter, size); }
static void scatters_with_counts(void) { in_all_ways(scatter_counts, size); }
static void allgathers(void) { in_all_ways(allgather, 1); }
static void allgathers_with_counts(void) { in_all_ways(allgather_counts, 2); }
static void alltoalls(void) { in_all_ways(alltoall, 1); }
static void alltoalls_with_counts(void) { in_all_ways(alltoall_counts, 1); }
// Also Open MPI's nonblocking forms in place, which were wrong for long (pull request 2248).
static void alltoalls_with_types(void) { in_all_ways(alltoall_types, 1); }

static const Case cases[] = {
    {"gathers", 1, gathers},
    {"gathers_with_counts", 1, gathers_with_counts},
    {"scatters", 1, scatters},
    {"scatters_with_counts", 1, scatters_with_counts},
    {"allgathers", 1, allgathers},
    {"allgathers_with_counts", 1, allgathers_with_counts},
    {"alltoalls", 1, alltoalls},
    {"alltoalls_with_counts", 1, alltoalls_with_counts},
    {"alltoalls_with_types", 1, alltoalls_with_types},
};
SUITE(cases)
