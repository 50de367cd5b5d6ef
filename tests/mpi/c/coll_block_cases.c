// Collectives with a block for each rank where others went wrong, and beside other calls.
#include "blocks.h"

// Ranks have different types of one signature: Open MPI 2256 (libnbc), 199 and 1763 (tuned).
static void one_signature_open_mpi_2256(void) {
  enum { elements = 6000 };
  MPI_Datatype pairs, apart;
  MPI_Type_contiguous(2, MPI_INT, &pairs);
  MPI_Type_vector(elements, 1, 2, MPI_INT, &apart);
  MPI_Type_create_resized(apart, 0, 2 * elements * (MPI_Aint)sizeof(int), &apart);
  MPI_Type_commit(&pairs);
  MPI_Type_commit(&apart);
  const int form = rank % 3;
  const MPI_Datatype type = form == 0 ? MPI_INT : form == 1 ? pairs : apart;
  const int count = form == 0 ? elements : form == 1 ? elements / 2 : 1, stride = form == 2 ? 2 : 1;
  for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
    int* own = filled(elements, untouched);
    int* all = filled(2 * elements * (size_t)size, untouched);
    for (int k = 0; k < elements; k++) own[k] = element(rank, 0, k);
    CALL(nonblocking, Allgather, Iallgather, own, elements, MPI_INT, all, count, type, WORLD);
    for (int from = 0; from < size; from++) {
      const int* block = all + from * elements * stride;
      int wrong = 0;
      for (int k = 0; k < elements; k++) wrong += block[k * stride] != element(from, 0, k);
      for (int k = 0; k < elements && stride == 2; k++) wrong += block[k * 2 + 1] != untouched;
      EXPECT(wrong == 0, "%d elements from %d are wrong", wrong, from);
    }
    free(all);
    free(own);
  }
  MPI_Type_free(&pairs);
  MPI_Type_free(&apart);
}

// Counts and types of no bytes on one side only: Open MPI looked at the wrong side (commits 737eefd, a7b4d3e).
static void no_bytes_of_any_count(void) {
  MPI_Datatype nothing;
  MPI_Type_contiguous(0, MPI_INT, &nothing);
  MPI_Type_commit(&nothing);
  int mark = untouched;
  for (int root = 0; root < size; root++) {
    for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
      CALL(nonblocking, Gather, Igather, NULL, 0, MPI_INT, &mark, 5, nothing, root, WORLD);
      CALL(nonblocking, Scatter, Iscatter, &mark, 7, nothing, NULL, 0, MPI_DOUBLE, root, WORLD);
      CALL(nonblocking, Allgather, Iallgather, &mark, 3, nothing, NULL, 0, MPI_INT, WORLD);
      CALL(nonblocking, Alltoall, Ialltoall, NULL, 0, MPI_CHAR, &mark, 2, nothing, WORLD);
    }
  }
  EXPECT_EQ(mark, untouched);
  MPI_Type_free(&nothing);
}

// Bytes from one rank for another: short ones, long ones, and many that together are long.
static int length_of(int from, int to, int round) {
  static const int lengths[] = {0, 1, 7, 48, 400, 1361, 2041, 4095, 4096, 5000, 20000, 90000};
  const unsigned mixed = (unsigned)(from * 7 + to * 13 + round * 31) * 2654435761u >> 16;
  return lengths[(size_t)mixed % (round % 3 == 0 ? 5 : sizeof lengths / sizeof *lengths)];
}
static char byte_of(int from, int to, int round, int k) { return (char)(from * 41 + to * 17 + round * 5 + k); }

enum { longest = 90000, stride = longest + 1, most_ranks = 64, beyond = 0x5b };

static void write_part(char* part, int from, int to, int round) {
  for (int k = 0; k < length_of(from, to, round); k++) part[k] = byte_of(from, to, round, k);
}
static void check_part(const char* part, int from, int to, int round, const char* call) {
  int wrong = 0;
  for (int k = 0; k < length_of(from, to, round); k++) wrong += part[k] != byte_of(from, to, round, k);
  EXPECT(wrong == 0, "%s, round %d: %d bytes from %d are wrong", call, round, wrong, from);
  EXPECT(part[length_of(from, to, round)] == beyond, "%s, round %d: more than the part of %d", call, round, from);
}

// Each pair knows its own length only; what is short for one pair is long for another, of one call.
static void lengths_that_only_pairs_know(void) {
  char* out = allocate((size_t)size * stride);
  char* in = allocate((size_t)size * stride);
  int to[most_ranks], from[most_ranks], places[most_ranks];
  for (int other = 0; other < size; other++) places[other] = other * stride;
  for (int round = 0; round < 24; round++) {
    const int root = round % size;
    for (int other = 0; other < size; other++) {
      to[other] = length_of(rank, other, round);
      from[other] = length_of(other, rank, round);
      write_part(out + places[other], rank, other, round);
    }
    memset(in, beyond, (size_t)size * stride);
    MPI_Alltoallv(out, to, places, MPI_CHAR, in, from, places, MPI_CHAR, WORLD);
    for (int other = 0; other < size; other++) check_part(in + places[other], other, rank, round, "MPI_Alltoallv");
    memset(in, beyond, (size_t)size * stride);
    MPI_Gatherv(out + places[root], to[root], MPI_CHAR, in, from, places, MPI_CHAR, root, WORLD);
    for (int other = 0; other < size && rank == root; other++) check_part(in + places[other], other, rank, round, "MPI_Gatherv");
    memset(in, beyond, stride);
    MPI_Scatterv(out, to, places, MPI_CHAR, in, from[root], MPI_CHAR, root, WORLD);
    check_part(in, root, rank, round, "MPI_Scatterv");
  }
  free(out);
  free(in);
}

// A rank that neither sends nor receives anything is not waited for, nor in the way.
static void only_one_pair_has_something(void) {
  int* zeros = allocate((size_t)size * sizeof(int));
  int* to = allocate((size_t)size * sizeof(int));
  int* from = allocate((size_t)size * sizeof(int));
  memset(zeros, 0, (size_t)size * sizeof(int));
  memset(to, 0, (size_t)size * sizeof(int));
  memset(from, 0, (size_t)size * sizeof(int));
  int sent = 1000 + rank, received = untouched;
  const int last = size - 1;
  if (rank == 0) to[last] = 1;
  if (rank == last) from[0] = 1;
  MPI_Alltoallv(&sent, to, zeros, MPI_INT, &received, from, zeros, MPI_INT, WORLD);
  EXPECT_EQ(received, rank == last ? 1000 : untouched);
  free(from);
  free(to);
  free(zeros);
}

// Ranks of a node are not neighbours: HAN hung (Open MPI 14165).
static void orders_of_ranks_open_mpi_14165(void) {
  MPI_Comm turned;
  MPI_Comm_split(WORLD, 0, rank % 2 ? -rank : rank, &turned);
  int place, counts[64], places[64], all[64];
  MPI_Comm_rank(turned, &place);
  for (int i = 0; i < size && i < 64; i++) counts[i] = i % 2, places[i] = i, all[i] = untouched;
  const int own = 7 * place;
  for (int root = 0; root < size && size <= 64; root++) {
    MPI_Gatherv(&own, place % 2, MPI_INT, all, counts, places, MPI_INT, root, turned);
    for (int i = 0; i < size && place == root; i++) EXPECT_EQ(all[i], i % 2 ? 7 * i : untouched);
    int back = untouched;
    MPI_Scatterv(all, counts, places, MPI_INT, &back, place % 2, MPI_INT, root, turned);
    EXPECT_EQ(back, place % 2 ? own : untouched);
    for (int i = 0; i < size; i++) all[i] = untouched;
  }
  MPI_Comm_free(&turned);
}

// Displacements from MPI_BOTTOM are addresses.
static void absolute_addresses(void) {
  int out[2] = {element(rank, 0, 0), element(rank, 0, 1)};
  int* in = filled(2 * (size_t)size, untouched);
  int* counts = allocate(4 * (size_t)size * sizeof(int));
  MPI_Datatype* types = allocate(2 * (size_t)size * sizeof *types);
  for (int peer = 0; peer < size; peer++) {
    MPI_Aint from, to;
    const int two = 2;
    MPI_Get_address(out, &from);
    MPI_Get_address(in + 2 * peer, &to);
    MPI_Type_create_hindexed(1, &two, &from, MPI_INT, &types[peer]);
    MPI_Type_create_hindexed(1, &two, &to, MPI_INT, &types[size + peer]);
    MPI_Type_commit(&types[peer]);
    MPI_Type_commit(&types[size + peer]);
    counts[peer] = counts[size + peer] = 1;
    counts[2 * size + peer] = counts[3 * size + peer] = 0;
  }
  MPI_Alltoallw(MPI_BOTTOM, counts, counts + 2 * size, types, MPI_BOTTOM, counts + size, counts + 3 * size, types + size, WORLD);
  for (int peer = 0; peer < size; peer++) expect_block(in + 2 * peer, 2, peer, 0);
  for (int i = 0; i < 2 * size; i++) MPI_Type_free(&types[i]);
  free(types);
  free(counts);
  free(in);
}

// Several calls open at a time, with types that are freed meanwhile, beside messages that have nothing to do with them.
static void many_open_beside_messages(void) {
  enum { calls = 12, count = 3000 };
  int *out[calls], *in[calls];
  MPI_Request requests[calls + 2];
  int message = untouched;
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  MPI_Irecv(&message, 1, MPI_INT, before, 3, WORLD, &requests[calls]);
  for (int i = 0; i < calls; i++) {
    MPI_Datatype spread, wide;
    MPI_Type_vector(count, 1, 2, MPI_INT, &spread);
    MPI_Type_create_resized(spread, 0, 2 * count * (MPI_Aint)sizeof(int), &wide);
    MPI_Type_commit(&wide);
    out[i] = filled((size_t)(count * size), untouched);
    in[i] = filled(2 * (size_t)(count * size), untouched);
    for (int to = 0; to < size; to++)
      for (int k = 0; k < count; k++) out[i][to * count + k] = element(rank, i % 3 ? to : 0, k) + i;
    if (i % 3 == 0) MPI_Iallgather(out[i], count, MPI_INT, in[i], 1, wide, WORLD, &requests[i]);
    if (i % 3 == 1) MPI_Ialltoall(out[i], count, MPI_INT, in[i], 1, wide, WORLD, &requests[i]);
    if (i % 3 == 2) MPI_Iscatter(out[i], count, MPI_INT, in[i], 1, wide, i % size, WORLD, &requests[i]);
    MPI_Type_free(&wide);
    MPI_Type_free(&spread);
  }
  MPI_Isend(&rank, 1, MPI_INT, next, 3, WORLD, &requests[calls + 1]);
  MPI_Barrier(WORLD);
  MPI_Waitall(calls + 2, requests, MPI_STATUSES_IGNORE);
  EXPECT_EQ(message, before);
  for (int i = 0; i < calls; i++) {
    int wrong = 0;
    for (int from = 0; from < (i % 3 == 2 ? 1 : size); from++) {
      const int source = i % 3 == 2 ? i % size : from;
      for (int k = 0; k < count; k++)
        wrong += in[i][2 * (from * count + k)] != element(source, i % 3 ? rank : 0, k) + i ||
                 in[i][2 * (from * count + k) + 1] != untouched;
    }
    EXPECT(wrong == 0, "%d elements of call %d", wrong, i);
    free(out[i]);
    free(in[i]);
  }
}

// Who is late gives its blocks late, and what is not there yet is not seen too soon.
static void late_ranks(void) {
  enum { count = 60000 };
  int* out = filled((size_t)(count * size), untouched);
  int* in = filled((size_t)(count * size), untouched);
  for (int late = 0; late < size; late++) {
    for (int repeat = 0; repeat < 6; repeat++) {
      for (int to = 0; to < size; to++)
        for (int k = 0; k < count; k++) out[to * count + k] = element(rank, to, k) + repeat;
      if (rank == late) be_late();
      MPI_Alltoall(out, count, MPI_INT, in, count, MPI_INT, WORLD);
      int wrong = 0;
      for (int i = count * size - 1; i >= 0; i--) wrong += in[i] != element(i / count, rank, i % count) + repeat;
      EXPECT(wrong == 0, "%d elements of repeat %d, late %d", wrong, repeat, late);
    }
  }
  free(in);
  free(out);
}

static void communicators(void) {
  MPI_Comm copies[3];
  for (int i = 0; i < 3; i++) MPI_Comm_dup(WORLD, &copies[i]);
  int* all[3];
  MPI_Request requests[3];
  int own[3];
  for (int i = 0; i < 3; i++) {
    own[i] = 10 * rank + i;
    all[i] = filled((size_t)size, untouched);
    MPI_Iallgather(&own[i], 1, MPI_INT, all[i], 1, MPI_INT, copies[(rank + i) % 3], &requests[i]);
  }
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < 3; i++) {
    EXPECT_EQ(all[i][rank], own[i]);
    for (int from = 0; from < size; from++) EXPECT_EQ(all[i][from], 10 * from + ((rank + i) % 3 - from % 3 + 3) % 3);
    free(all[i]);
  }
  for (int i = 0; i < 3; i++) MPI_Comm_free(&copies[i]);
  int self = rank, back = untouched;
  MPI_Alltoall(&self, 1, MPI_INT, &back, 1, MPI_INT, MPI_COMM_SELF);
  EXPECT_EQ(back, rank);
  MPI_Gather(&self, 1, MPI_INT, &back, 1, MPI_INT, 0, MPI_COMM_SELF);
  EXPECT_EQ(back, rank);
}

static void wrong_arguments(void) {
  int value = 1, all[64] = {0};
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
  EXPECT_CLASS(MPI_Gather(&value, 1, MPI_INT, all, 1, MPI_INT, size, WORLD), MPI_ERR_ROOT);
  EXPECT_CLASS(MPI_Scatter(all, 1, MPI_INT, &value, -1, MPI_INT, 0, WORLD), MPI_ERR_COUNT);
  EXPECT_CLASS(MPI_Allgather(&value, 1, MPI_DATATYPE_NULL, all, 1, MPI_INT, WORLD), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Alltoall(&value, -1, MPI_INT, all, 1, MPI_INT, WORLD), MPI_ERR_COUNT);
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Barrier(WORLD);
}

static const Case cases[] = {
    {"one_signature_open_mpi_2256", 1, one_signature_open_mpi_2256},
    {"no_bytes_of_any_count", 1, no_bytes_of_any_count},
    {"lengths_that_only_pairs_know", 1, lengths_that_only_pairs_know},
    {"only_one_pair_has_something", 1, only_one_pair_has_something},
    {"orders_of_ranks_open_mpi_14165", 1, orders_of_ranks_open_mpi_14165},
    {"absolute_addresses", 1, absolute_addresses},
    {"many_open_beside_messages", 1, many_open_beside_messages},
    {"late_ranks", 2, late_ranks},
    {"communicators", 1, communicators},
    {"wrong_arguments", 1, wrong_arguments},
};
SUITE(cases)
