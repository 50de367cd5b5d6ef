// Reductions by operations of the program's own, and of pairs with padding: commutative or not, of types with and without gaps.
#include "blocks.h"

enum { modulus = 10007, longest = 20000 };
static const int lengths[] = {0, 1, 3, 1000, longest};
enum { count_of_lengths = sizeof lengths / sizeof *lengths };

// Matrices of two rows: their product depends on the order, and not on how it is bracketed.
typedef struct {
  int at[4];
} Matrix;

static Matrix product(Matrix a, Matrix b) {
  Matrix c;
  for (int i = 0; i < 4; i++) c.at[i] = (a.at[i / 2 * 2] * b.at[i % 2] + a.at[i / 2 * 2 + 1] * b.at[i % 2 + 2]) % modulus;
  return c;
}

static Matrix matrix(int from, int k) {
  return (Matrix){{(from + 1 + k) % modulus, (7 * from + 3) % modulus, (k + 5) % modulus, (from * k + 11) % modulus}};
}

static Matrix product_of(int first, int last, int k) {
  Matrix all = {{1, 0, 0, 1}};
  for (int from = first; from < last; from++) all = product(all, matrix(from, k));
  return all;
}

// How a matrix lies in memory: `stride` integers from one element of it to the next, `extent` from one matrix to the next, the
// first one `begin` behind its address.
typedef struct {
  int begin, stride, extent;
  MPI_Datatype type;
} Form;

static const Form* form_now;
static int calls_of_operation;

// It does what a program may do there: asks for types, takes memory, and gives it back.
static void multiply(void* lower, void* upper, int* length, MPI_Datatype* type) {
  const Form* form = form_now;
  MPI_Aint lower_bound, extent;
  MPI_Type_get_extent(*type, &lower_bound, &extent);
  EXPECT_EQ(extent, form->extent * (MPI_Aint)sizeof(int));
  int** from = malloc(2 * sizeof *from);
  from[0] = lower, from[1] = upper;
  for (int k = 0; k < *length; k++) {
    Matrix both[2];
    for (int side = 0; side < 2; side++)
      for (int i = 0; i < 4; i++) both[side].at[i] = from[side][k * form->extent + form->begin + i * form->stride];
    const Matrix all = product(both[0], both[1]);
    for (int i = 0; i < 4; i++) from[1][k * form->extent + form->begin + i * form->stride] = all.at[i];
  }
  free(from);
  calls_of_operation++;
}

static void put(int* memory, int k, Matrix value) {
  for (int i = 0; i < 4; i++) memory[k * form_now->extent + form_now->begin + i * form_now->stride] = value.at[i];
}

// Matrices, and `untouched` in between.
static int* matrices(int count) {
  return filled((size_t)(count * form_now->extent + form_now->begin + 4 * form_now->stride), untouched);
}

static int* own_matrices(int count) {
  int* memory = matrices(count);
  for (int k = 0; k < count; k++) put(memory, k, matrix(rank, k));
  return memory;
}

// `count` products of the ranks [first, last), of the matrices from `offset` on, and nothing else has changed.
static void expect_products(const int* memory, int count, int offset, int first, int last) {
  int* wanted = matrices(count);
  for (int k = 0; k < count; k++) put(wanted, k, product_of(first, last, offset + k));
  int wrong = 0;
  for (int i = 0; i < count * form_now->extent + form_now->begin; i++) wrong += memory[i] != wanted[i];
  EXPECT(wrong == 0, "%d integers of %d matrices are wrong", wrong, count);
  free(wanted);
}

static void reduce(MPI_Op op, int count, int in_place, int nonblocking) {
  for (int root = 0; root < size; root++) {
    int* own = own_matrices(count);
    int* all = in_place ? own_matrices(count) : matrices(count);
    const int here = rank == root;
    CALL(nonblocking, Reduce, Ireduce, in_place && here ? MPI_IN_PLACE : own, here ? (void*)all : GARBAGE, count, form_now->type,
         op, root, WORLD);
    if (here) expect_products(all, count, 0, 0, size);
    free(all);
    free(own);
  }
}

static void allreduce(MPI_Op op, int count, int in_place, int nonblocking) {
  int* own = own_matrices(count);
  int* all = in_place ? own_matrices(count) : matrices(count);
  CALL(nonblocking, Allreduce, Iallreduce, in_place ? MPI_IN_PLACE : own, all, count, form_now->type, op, WORLD);
  expect_products(all, count, 0, 0, size);
  free(all);
  free(own);
}

static void scan(MPI_Op op, int count, int in_place, int nonblocking) {
  int* own = own_matrices(count);
  int* all = in_place ? own_matrices(count) : matrices(count);
  CALL(nonblocking, Scan, Iscan, in_place ? MPI_IN_PLACE : own, all, count, form_now->type, op, WORLD);
  expect_products(all, count, 0, 0, rank + 1);
  free(all);
  free(own);
}

// The first rank has no result, and need not have a buffer for one.
static void exscan(MPI_Op op, int count, int in_place, int nonblocking) {
  int* own = own_matrices(count);
  int* all = in_place ? own_matrices(count) : matrices(count);
  CALL(nonblocking, Exscan, Iexscan, in_place ? MPI_IN_PLACE : own, rank == 0 && !in_place ? NULL : all, count, form_now->type,
       op, WORLD);
  if (rank != 0) expect_products(all, count, 0, 0, rank);
  free(all);
  free(own);
}

static void reduce_scatter_block(MPI_Op op, int count, int in_place, int nonblocking) {
  count /= size;
  int* own = own_matrices(count * size);
  int* part = in_place ? own_matrices(count * size) : matrices(count);
  CALL(nonblocking, Reduce_scatter_block, Ireduce_scatter_block, in_place ? MPI_IN_PLACE : own, part, count, form_now->type, op,
       WORLD);
  expect_products(part, count, rank * count, 0, size);
  free(part);
  free(own);
}

// Some ranks get nothing.
static void reduce_scatter(MPI_Op op, int count, int in_place, int nonblocking) {
  int* counts = allocate((size_t)size * sizeof(int));
  int all = 0, before = 0;
  for (int to = 0; to < size; to++) {
    counts[to] = to % 3 == 1 ? 0 : count / size + to;
    before += to < rank ? counts[to] : 0;
    all += counts[to];
  }
  int* own = own_matrices(all);
  int* part = in_place ? own_matrices(all) : matrices(counts[rank]);
  CALL(nonblocking, Reduce_scatter, Ireduce_scatter, in_place ? MPI_IN_PLACE : own, part, counts, form_now->type, op, WORLD);
  if (counts[rank] != 0) expect_products(part, counts[rank], before, 0, size);
  free(part);
  free(own);
  free(counts);
}

typedef void (*Call)(MPI_Op op, int count, int in_place, int nonblocking);

// The handle is the one that the program has given, so it may compare it.
static void in_all_ways(Call call) {
  Form forms[] = {{0, 1, 4, NULL}, {0, 2, 9, NULL}, {3, 1, 8, NULL}};
  for (int f = 0; f < 3; f++) {
    MPI_Datatype spread, moved;
    const MPI_Aint begin = forms[f].begin * (MPI_Aint)sizeof(int);
    MPI_Type_vector(4, 1, forms[f].stride, MPI_INT, &spread);
    MPI_Type_create_hindexed(1, (int[]){1}, &begin, spread, &moved);
    MPI_Type_create_resized(moved, 0, forms[f].extent * (MPI_Aint)sizeof(int), &forms[f].type);
    MPI_Type_commit(&forms[f].type);
    form_now = &forms[f];
    MPI_Op op;
    MPI_Op_create(multiply, 0, &op);
    for (int l = 0; l < count_of_lengths; l++) {
      for (int in_place = 0; in_place < 2; in_place++)
        for (int nonblocking = 0; nonblocking < 2; nonblocking++) call(op, lengths[l], in_place, nonblocking);
    }
    MPI_Op_free(&op);
    MPI_Type_free(&forms[f].type);
    MPI_Type_free(&moved);
    MPI_Type_free(&spread);
  }
}

static void reductions(void) { in_all_ways(reduce); }
static void reductions_to_all(void) { in_all_ways(allreduce); }
static void prefixes(void) { in_all_ways(scan); }
static void exclusive_prefixes(void) { in_all_ways(exscan); }
static void scattered_blocks(void) { in_all_ways(reduce_scatter_block); }
static void scattered_strips(void) { in_all_ways(reduce_scatter); }

// Of numbers that the host knows, beside the same by the host's operation.
static void add(void* lower, void* upper, int* length, MPI_Datatype* type) {
  EXPECT_EQ(*type == MPI_INT, 1);
  for (int k = 0; k < *length; k++) ((int*)upper)[k] += ((int*)lower)[k];
}

static void commutative_between_predefined_ones(void) {
  enum { count = 5000 };
  MPI_Op op;
  MPI_Op_create(add, 1, &op);
  int* own = filled(count, 3 + rank);
  int* sums[3] = {filled(count, untouched), filled(count, untouched), filled(count, untouched)};
  for (int c = 1; c <= count; c += 1 + 4 * c) {
    MPI_Allreduce(own, sums[0], c, MPI_INT, MPI_SUM, WORLD);
    MPI_Allreduce(own, sums[1], c, MPI_INT, op, WORLD);
    MPI_Allreduce(own, sums[2], c, MPI_INT, MPI_SUM, WORLD);
    EXPECT_EQ(memcmp(sums[0], sums[1], (size_t)c * sizeof(int)), 0);
    EXPECT_EQ(memcmp(sums[0], sums[2], (size_t)c * sizeof(int)), 0);
    MPI_Barrier(WORLD);
  }
  for (int i = 0; i < 3; i++) free(sums[i]);
  free(own);
  MPI_Op_free(&op);
}

// Handles that are freed while the call is open.
static void freed_while_open(void) {
  enum { count = 2000 };
  Form form = {0, 1, 4, NULL};
  MPI_Type_contiguous(4, MPI_INT, &form.type);
  MPI_Type_commit(&form.type);
  form_now = &form;
  int* own = own_matrices(count);
  int* all = matrices(count);
  MPI_Op op;
  MPI_Request request;
  MPI_Op_create(multiply, 0, &op);
  if (rank == size - 1) be_late();
  MPI_Iallreduce(own, all, count, form.type, op, WORLD, &request);
  MPI_Op_free(&op);
  MPI_Type_free(&form.type);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_products(all, count, 0, 0, size);
  free(all);
  free(own);
}

// Pairs with padding, which is no part of the message: ties go to the lower rank.
enum { most_pairs = 2000 };
#define PAIRS(Value, mpi_type)                                                                        \
  do {                                                                                                \
    struct {                                                                                          \
      Value value;                                                                                    \
      int place;                                                                                      \
    } own[most_pairs], all[most_pairs + 1];                                                           \
    memset(own, 0x55, sizeof own);                                                                    \
    memset(all, 0x55, sizeof all);                                                                    \
    for (int k = 0; k < most_pairs; k++) own[k].value = (Value)((rank + k) % 4), own[k].place = rank; \
    MPI_Allreduce(own, all, most_pairs, mpi_type, op, WORLD);                                         \
    for (int k = 0; k < most_pairs; k++) {                                                            \
      int best = 0;                                                                                   \
      for (int from = 1; from < size; from++) {                                                       \
        const int now = (best + k) % 4, other = (from + k) % 4;                                       \
        if (op == MPI_MAXLOC ? other > now : other < now) best = from;                                \
      }                                                                                               \
      EXPECT_EQ(all[k].place, best);                                                                  \
      EXPECT_EQ(all[k].value, (best + k) % 4);                                                        \
    }                                                                                                 \
    EXPECT_EQ(((unsigned char*)&all[most_pairs])[0], 0x55);                                           \
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : own, own, most_pairs, mpi_type, op, 0, WORLD);              \
    for (int k = 0; k < most_pairs && rank == 0; k++) EXPECT_EQ(own[k].place, all[k].place);          \
  } while (0)

static void pairs(void) {
  for (int i = 0; i < 2; i++) {
    const MPI_Op op = i == 0 ? MPI_MAXLOC : MPI_MINLOC;
    PAIRS(int, MPI_2INT);
    PAIRS(float, MPI_FLOAT_INT);
    PAIRS(double, MPI_DOUBLE_INT);
    PAIRS(long, MPI_LONG_INT);
    PAIRS(short, MPI_SHORT_INT);
    PAIRS(long double, MPI_LONG_DOUBLE_INT);
  }
}

// What an operation looks at may be under guard: the message of a late rank.
static const int* looked_at;

static void add_what_came(void* lower, void* upper, int* length, MPI_Datatype* type) {
  (void)type;
  for (int k = 0; k < *length; k++) ((int*)upper)[k] += ((int*)lower)[k] + (looked_at ? looked_at[200000] : 0) - 5;
}

static void an_operation_that_looks_at_a_late_message(void) {
  enum { count = 300000, operands = 5000 };
  MPI_Op op;
  MPI_Op_create(add_what_came, 1, &op);
  for (int repeat = 0; repeat < 4; repeat++) {
    int* message = filled(count, rank == 0 ? 5 : untouched);
    looked_at = message;
    const int last = size - 1;
    if (rank == 0) be_late();
    if (rank == 0) MPI_Send(message, count, MPI_INT, last, 1, WORLD);
    if (rank == last) MPI_Recv(message, count, MPI_INT, 0, 1, WORLD, IGNORE);
    for (int k = 0; k < count && rank != 0 && rank != last; k++) message[k] = 5;
    int* own = filled(operands, rank);
    int* all = filled(operands, untouched);
    MPI_Allreduce(own, all, operands, MPI_INT, op, WORLD);
    for (int k = 0; k < operands; k += 999) EXPECT_EQ(all[k], size * (size - 1) / 2);
    free(all);
    free(own);
    free(message);
  }
  MPI_Op_free(&op);
}

// The prefix of a rank is there though a later one is late.
static void operands_come_late(void) {
  for (int late = 0; late < size; late++) {
    Form form = {0, 1, 4, NULL};
    MPI_Type_contiguous(4, MPI_INT, &form.type);
    MPI_Type_commit(&form.type);
    form_now = &form;
    MPI_Op op;
    MPI_Op_create(multiply, 0, &op);
    if (rank == late) be_late();
    allreduce(op, longest, 0, 0);
    scan(op, 100, 1, 0);
    MPI_Op_free(&op);
    MPI_Type_free(&form.type);
  }
}

static const Case cases[] = {
    {"reductions", 1, reductions},
    {"reductions_to_all", 1, reductions_to_all},
    {"prefixes", 1, prefixes},
    {"exclusive_prefixes", 1, exclusive_prefixes},
    {"scattered_blocks", 1, scattered_blocks},
    {"scattered_strips", 1, scattered_strips},
    {"commutative_between_predefined_ones", 1, commutative_between_predefined_ones},
    {"freed_while_open", 1, freed_while_open},
    {"pairs", 1, pairs},
    {"an_operation_that_looks_at_a_late_message", 2, an_operation_that_looks_at_a_late_message},
    {"operands_come_late", 1, operands_come_late},
};
SUITE(cases)
