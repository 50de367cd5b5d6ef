// Persistent collectives of all kinds, as far as Sluice carries them, and beyond what the host can do: each rank starts them in
// an order of its own, and types and communicators are freed once the call is made.
#include <dlfcn.h>

#include "blocks.h"
#include "persistent_calls.h"

#ifdef HAVE_PERSISTENT_CALLS

enum { rounds = 12 };

// Each kind, with what the blocking call has as the right result. Types of the program's own are freed once the call is made.
enum { kinds = 22, block = 6 };
typedef struct {
  int counts[32], displacements[32], bytes[32];
  MPI_Datatype types[32];
  MPI_Aint offsets[32];
} Counts;

static Counts counts_of(int members, MPI_Datatype type) {
  Counts all;
  for (int i = 0; i < members; i++) {
    all.counts[i] = block;
    all.displacements[i] = block * (members - 1 - i);
    all.bytes[i] = all.displacements[i] * (int)sizeof(int);
    all.offsets[i] = all.bytes[i];
    all.types[i] = type;
  }
  return all;
}

// `line`: periodic, so that each rank has two neighbours. Blocks of `block` integers, as `type` describes one.
#define ALL_KINDS(X)                                                                                                 \
  X(0, Barrier, WORLD)                                                                                               \
  X(1, Bcast, out, block, type, root, WORLD)                                                                         \
  X(2, Gather, in, block, type, out, block, type, root, WORLD)                                                       \
  X(3, Gatherv, in, block, type, out, all.counts, all.displacements, type, root, WORLD)                              \
  X(4, Scatter, in, block, type, out, block, type, root, WORLD)                                                      \
  X(5, Scatterv, in, all.counts, all.displacements, type, out, block, type, root, WORLD)                             \
  X(6, Allgather, in, block, type, out, block, type, WORLD)                                                          \
  X(7, Allgatherv, in, block, type, out, all.counts, all.displacements, type, WORLD)                                 \
  X(8, Alltoall, in, block, type, out, block, type, WORLD)                                                           \
  X(9, Alltoallv, in, all.counts, all.displacements, type, out, all.counts, all.displacements, type, WORLD)          \
  X(10, Alltoallw, in, all.counts, all.bytes, all.types, out, all.counts, all.bytes, all.types, WORLD)               \
  X(11, Reduce, in, out, block, MPI_INT, MPI_SUM, root, WORLD)                                                       \
  X(12, Allreduce, in, out, block, MPI_INT, MPI_MAX, WORLD)                                                          \
  X(13, Scan, in, out, block, MPI_INT, MPI_SUM, WORLD)                                                               \
  X(14, Exscan, in, out, block, MPI_INT, MPI_SUM, WORLD)                                                             \
  X(15, Reduce_scatter, in, out, all.counts, MPI_INT, MPI_SUM, WORLD)                                                \
  X(16, Reduce_scatter_block, in, out, block, MPI_INT, MPI_SUM, WORLD)                                               \
  X(17, Neighbor_allgather, in, block, type, out, block, type, line)                                                 \
  X(18, Neighbor_allgatherv, in, block, type, out, two.counts, two.displacements, type, line)                        \
  X(19, Neighbor_alltoall, in, block, type, out, block, type, line)                                                  \
  X(20, Neighbor_alltoallv, in, two.counts, two.displacements, type, out, two.counts, two.displacements, type, line) \
  X(21, Neighbor_alltoallw, in, two.counts, two.offsets, two.types, out, two.counts, two.offsets, two.types, line)

static const int root = 0;

static void call_blocking(int kind, const int* in, int* out, MPI_Comm line) {
  const MPI_Datatype type = MPI_INT;
  const Counts all = counts_of(size, type), two = counts_of(2, type);
  switch (kind) {
#define CASE_OF(number, X, ...) \
  case number:                  \
    MPI_##X(__VA_ARGS__);       \
    break;
    ALL_KINDS(CASE_OF)
#undef CASE_OF
  }
}

// What a call of counts gets must stay until it is freed: `all` and `two` are the caller's.
static void make(int kind, const int* in, int* out, MPI_Comm line, Counts all, Counts two, MPI_Datatype type,
                 MPI_Request* request) {
  switch (kind) {
#define CASE_OF(number, X, ...)                   \
  case number:                                    \
    INIT(X)(__VA_ARGS__, MPI_INFO_NULL, request); \
    break;
    ALL_KINDS(CASE_OF)
#undef CASE_OF
  }
}

static void fill_in(int* in, int* out, int kind, int round) {
  for (int i = 0; i < 32 * block; i++) {
    in[i] = element(rank, kind, i) + round;
    out[i] = kind == 1 && rank == root ? element(rank, kind, i) + round : untouched;
  }
}

// All at once; each rank starts and completes them in an order of its own.
static void each_kind_in_any_order(void) {
  static int in[kinds][32 * block], out[kinds][32 * block], beside_in[32 * block], expected[32 * block];
  static Counts all, two;
  MPI_Comm line;
  MPI_Cart_create(WORLD, 1, &size, (int[]){size > 2}, 0, &line);
  MPI_Datatype type;
  MPI_Type_contiguous(1, MPI_INT, &type);
  MPI_Type_commit(&type);
  all = counts_of(size, type), two = counts_of(2, type);
  MPI_Request requests[kinds];
  for (int kind = 0; kind < kinds; kind++) make(kind, in[kind], out[kind], line, all, two, type, &requests[kind]);
  MPI_Type_free(&type);
  for (int round = 0; round < rounds; round++) {
    for (int kind = 0; kind < kinds; kind++) fill_in(in[kind], out[kind], kind, round);
    const int step = (int[]){1, 3, 5, 7, 9, 13, 15, 17}[(rank + round) % 8];
    if (round % 3 == 2) {
      MPI_Startall(kinds, requests);
      MPI_Waitall(kinds, requests, MPI_STATUSES_IGNORE);
    } else {
      for (int i = 0; i < kinds; i++) MPI_Start(&requests[(i * step + rank) % kinds]);
      for (int i = 0; i < kinds; i++) MPI_Wait(&requests[(i * step + 5) % kinds], IGNORE);
    }
    for (int kind = 0; kind < kinds; kind++) {
      fill_in(beside_in, expected, kind, round);
      call_blocking(kind, beside_in, expected, line);
      EXPECT(memcmp(out[kind], expected, sizeof expected) == 0, "kind %d in round %d", kind, round);
    }
  }
  for (int kind = 0; kind < kinds; kind++) MPI_Request_free(&requests[kind]);
  MPI_Comm_free(&line);
}

// A reduction in place of a type with gaps is worked on in a copy, which each start makes anew.
static void in_place(void) {
  int own[3 * block], blocks[32 * block];
  MPI_Datatype apart;
  MPI_Type_create_resized(MPI_INT, 0, 3 * (MPI_Aint)sizeof(int), &apart);
  MPI_Type_commit(&apart);
  MPI_Request requests[3];
  INIT(Allreduce)(MPI_IN_PLACE, own, 2 * block, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, &requests[0]);
  INIT(Allgather)(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, blocks, 2, apart, WORLD, MPI_INFO_NULL, &requests[1]);
  INIT(Alltoall)(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, blocks, 2, apart, WORLD, MPI_INFO_NULL, &requests[2]);
  MPI_Type_free(&apart);
  for (int round = 0; round < rounds; round++) {
    for (int i = 0; i < 3 * block; i++) own[i] = rank + i + round;
    MPI_Start(&requests[0]);
    MPI_Wait(&requests[0], IGNORE);
    for (int i = 0; i < 3 * block; i++)
      EXPECT_EQ(own[i], i < 2 * block ? size * (size - 1) / 2 + size * (i + round) : rank + i + round);
    for (int i = 0; i < 32 * block; i++) blocks[i] = untouched;
    for (int k = 0; k < 2; k++) blocks[(2 * rank + k) * 3] = element(rank, k, round);
    MPI_Start(&requests[1]);
    MPI_Wait(&requests[1], IGNORE);
    for (int i = 0; i < 6 * size; i++) EXPECT_EQ(blocks[i], i % 3 != 0 ? untouched : element(i / 6, i / 3 % 2, round));
    for (int i = 0; i < 2 * size; i++) blocks[3 * i] = element(rank, i / 2, i % 2) + round;
    MPI_Start(&requests[2]);
    MPI_Wait(&requests[2], IGNORE);
    for (int i = 0; i < 6 * size; i++) EXPECT_EQ(blocks[i], i % 3 != 0 ? untouched : element(i / 6, rank, i / 3 % 2) + round);
  }
  for (int i = 0; i < 3; i++) MPI_Request_free(&requests[i]);
}

// The request keeps what it needs of the communicator, and one made next is another.
static void of_a_freed_communicator(void) {
  MPI_Comm own, next;
  MPI_Comm_dup(WORLD, &own);
  int sum = 0, value = 0;
  MPI_Request request;
  INIT(Allreduce)(&value, &sum, 1, MPI_INT, MPI_SUM, own, MPI_INFO_NULL, &request);
  MPI_Comm_free(&own);
  MPI_Comm_dup(WORLD, &next);
  for (int round = 0; round < rounds; round++) {
    value = rank + round;
    int others = 0;
    MPI_Start(&request);
    MPI_Allreduce(&value, &others, 1, MPI_INT, MPI_SUM, next);
    MPI_Wait(&request, IGNORE);
    EXPECT_EQ(sum, size * (size - 1) / 2 + size * round);
    EXPECT_EQ(others, sum);
  }
  MPI_Request_free(&request);
  MPI_Comm_free(&next);
}

#define NAME_OF(X) NAME_OF_(X)
#define NAME_OF_(X) #X

// Some ranks have the call from the handle of the host's library.
static void by_name(void) {
  typedef int Make(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info, MPI_Request*);
  void* const library = dlopen("libmpi.so.40", RTLD_NOLOAD | RTLD_LAZY);
  Make* const found = library ? (Make*)dlsym(library, NAME_OF(INIT(Allreduce))) : NULL;
  EXPECT(found && dlsym(RTLD_DEFAULT, NAME_OF(INIT(Allreduce))), "it is not found");
  int sum = 0;
  MPI_Request request;
  (rank % 2 != 0 ? found : INIT(Allreduce))(&rank, &sum, 1, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  MPI_Wait(&request, IGNORE);
  EXPECT_EQ(sum, size * (size - 1) / 2);
  MPI_Request_free(&request);
}

static const Case cases[] = {
    {"by_name", 1, by_name},
    {"each_kind_in_any_order", 1, each_kind_in_any_order},
    {"in_place", 1, in_place},
    {"of_a_freed_communicator", 1, of_a_freed_communicator},
};

#else

static void the_host_has_none(void) {}
static const Case cases[] = {{"the_host_has_none", 1, the_host_has_none}};

#endif

SUITE(cases)
