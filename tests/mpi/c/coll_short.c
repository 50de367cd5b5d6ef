// Short collectives: Barrier, Bcast, Reduce and Allreduce in every form that Sluice may carry, and beside those that it leaves to
// the host.
#include "late.h"

// Lengths around everything that changes with them: one line, a slot, a page, and what is left to the host.
static const int lengths[] = {0, 1, 6, 7, 48, 117, 118, 119, 500, 512, 513, 1024, 2000};
enum { most = 2000, count_of_lengths = sizeof lengths / sizeof *lengths };

static void barriers(void) {
  for (int i = 0; i < 200; i++) MPI_Barrier(WORLD);
}

// Nobody leaves before the last one has come. All ranks have the same clock, also where each is on a host of its own.
static void barrier_waits(void) {
  double* came = allocate((size_t)size * sizeof *came);
  for (int late = 0; late < size; late++) {
    if (rank == late) be_late();
    const double own = seconds_now();
    MPI_Barrier(WORLD);
    const double left = seconds_now();
    MPI_Allgather(&own, 1, MPI_DOUBLE, came, 1, MPI_DOUBLE, WORLD);
    for (int from = 0; from < size; from++) EXPECT(came[from] <= left, "rank %d came after rank %d had left", from, rank);
  }
  free(came);
}

static void bcast_from_each(void) {
  unsigned char* buffer = allocate(8 * most + 1);
  for (int root = 0; root < size; root++) {
    for (int l = 0; l < count_of_lengths; l++) {
      const size_t bytes = 8 * (size_t)lengths[l];
      memset(buffer, 0, bytes + 1);
      if (rank == root) fill(buffer, bytes, (unsigned)(root * 100 + l));
      EXPECT_EQ(MPI_Bcast(buffer, lengths[l], MPI_DOUBLE, root, WORLD), MPI_SUCCESS);
      expect_filled(buffer, bytes, (unsigned)(root * 100 + l));
      EXPECT_EQ(buffer[bytes], 0);
    }
  }
  free(buffer);
}

// One signature, another type on each rank (the issues of Open MPI about that: 199, 1763, 10523).
static void bcast_of_one_signature(void) {
  enum { elements = 60 };
  MPI_Datatype pair, apart, nested;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_vector(elements / 2, 1, 3, pair, &apart);
  MPI_Type_vector(elements, 1, 2, MPI_INT, &nested);
  MPI_Type_commit(&pair);
  MPI_Type_commit(&apart);
  MPI_Type_commit(&nested);
  for (int root = 0; root < size; root++) {
    int buffer[4 * elements];
    for (int i = 0; i < 4 * elements; i++) buffer[i] = rank == root ? 1000 + i : -1;
    const int form = (rank + root) % 4;
    MPI_Datatype type = form == 0 ? MPI_INT : form == 1 ? pair : form == 2 ? apart : nested;
    MPI_Bcast(buffer, form == 0 ? elements : form == 1 ? elements / 2 : 1, type, root, WORLD);
    // Which integer of the root's is the k-th of the message.
    const int root_form = (root + root) % 4;
    for (int k = 0; k < elements; k++) {
      const int at = form < 2 ? k : form == 2 ? k / 2 * 6 + k % 2 : 2 * k;
      const int from = root_form < 2 ? k : root_form == 2 ? k / 2 * 6 + k % 2 : 2 * k;
      EXPECT_EQ(buffer[at], 1000 + from);
    }
    if (rank != root && form == 3) EXPECT_EQ(buffer[1], -1);
  }
  MPI_Type_free(&pair);
  MPI_Type_free(&apart);
  MPI_Type_free(&nested);
}

static void bcast_of_structs(void) {
  struct {
    char c;
    double d[3];
    short s;
  } value, wanted = {'x', {1.5, -2, 3e300}, -7};
  const int blocks[] = {1, 3, 1};
  const MPI_Aint places[] = {(char*)&value.c - (char*)&value, (char*)value.d - (char*)&value, (char*)&value.s - (char*)&value};
  const MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT};
  MPI_Datatype type;
  MPI_Type_create_struct(3, blocks, places, types, &type);
  MPI_Type_commit(&type);
  for (int root = 0; root < size; root++) {
    memset(&value, 0, sizeof value);
    if (rank == root) value = wanted;
    MPI_Bcast(&value, 1, type, root, WORLD);
    EXPECT_EQ(value.c, wanted.c);
    EXPECT(memcmp(value.d, wanted.d, sizeof value.d) == 0, "three doubles");
    EXPECT_EQ(value.s, wanted.s);
  }
  MPI_Type_free(&type);
}

#define SUMS_OF(name, ctype, mpitype)                                                                          \
  static void name(void) {                                                                                     \
    ctype *own = allocate(most * sizeof *own), *all = allocate((most + 1) * sizeof *all);                      \
    for (int l = 0; l < count_of_lengths; l++) {                                                               \
      const int n = lengths[l];                                                                                \
      for (int in_place = 0; in_place < 2; in_place++) {                                                       \
        for (int root = -1; root < size; root++) {                                                             \
          for (int i = 0; i < n; i++) own[i] = (ctype)(rank + i % 11), all[i] = in_place ? own[i] : (ctype)99; \
          all[n] = (ctype)77;                                                                                  \
          const int here = root < 0 || rank == root;                                                           \
          void* const from = in_place && here ? MPI_IN_PLACE : own;                                            \
          const int code = root < 0 ? MPI_Allreduce(from, all, n, mpitype, MPI_SUM, WORLD)                     \
                                    : MPI_Reduce(from, here ? all : NULL, n, mpitype, MPI_SUM, root, WORLD);   \
          EXPECT_EQ(code, MPI_SUCCESS);                                                                        \
          for (int i = 0; here && i < n; i++) {                                                                \
            const ctype wanted = (ctype)(size * (size - 1) / 2 + size * (i % 11));                             \
            EXPECT(all[i] == wanted, "element %d of %d, root %d, in place %d", i, n, root, in_place);          \
            if (all[i] != wanted) break;                                                                       \
          }                                                                                                    \
          EXPECT(all[n] == (ctype)77, "behind %d elements, root %d", n, root);                                 \
          EXPECT(n == 0 || own[n - 1] == (ctype)(rank + (n - 1) % 11), "the operand of %d, root %d", n, root); \
        }                                                                                                      \
      }                                                                                                        \
    }                                                                                                          \
    free(all);                                                                                                 \
    free(own);                                                                                                 \
  }

SUMS_OF(sums_of_signed_char, signed char, MPI_SIGNED_CHAR)
SUMS_OF(sums_of_unsigned_char, unsigned char, MPI_UNSIGNED_CHAR)
SUMS_OF(sums_of_short, short, MPI_SHORT)
SUMS_OF(sums_of_int, int, MPI_INT)
SUMS_OF(sums_of_long, long, MPI_LONG)
SUMS_OF(sums_of_uint64, uint64_t, MPI_UINT64_T)
SUMS_OF(sums_of_float, float, MPI_FLOAT)
SUMS_OF(sums_of_double, double, MPI_DOUBLE)
SUMS_OF(sums_of_long_double, long double, MPI_LONG_DOUBLE)

// Every operation, also of the types that are left to the host; what the host makes of them is noted and compared.
static void every_operation(void) {
  const MPI_Op ops[] = {MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND, MPI_BAND, MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR};
  for (int o = 0; o < 10; o++) {
    int in[20], out[20], root_out[20];
    for (int i = 0; i < 20; i++) in[i] = (rank * 7 + i * 3) % 5 - (i % 2);
    MPI_Allreduce(in, out, 20, MPI_INT, ops[o], WORLD);
    note_bytes(out, sizeof out);
    MPI_Reduce(in, root_out, 20, MPI_INT, ops[o], size - 1, WORLD);
    if (rank == size - 1) EXPECT_EQ(memcmp(out, root_out, sizeof out), 0);
    unsigned long wide[20], wide_out[20];
    for (int i = 0; i < 20; i++) wide[i] = (unsigned long)(rank + 1) << i;
    MPI_Allreduce(wide, wide_out, 20, MPI_UNSIGNED_LONG, ops[o], WORLD);
    note_bytes(wide_out, sizeof wide_out);
  }
}

static void largest_and_where(void) {
  struct {
    double value;
    int index;
  } in = {1.0 + rank % 3, rank}, out;
  MPI_Allreduce(&in, &out, 1, MPI_DOUBLE_INT, MPI_MAXLOC, WORLD);
  note("%g at %d", out.value, out.index);
  struct {
    int value, index;
  } pair = {rank % 2, rank}, least;
  MPI_Allreduce(&pair, &least, 1, MPI_2INT, MPI_MINLOC, WORLD);
  EXPECT_EQ(least.value, 0);
  EXPECT_EQ(least.index, 0);
}

static void add_matrices(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *length; i++) ((int*)inout)[i] += 10 * ((int*)in)[i] - 9 * ((int*)in)[i];
}

static void own_operation(void) {
  MPI_Op op;
  MPI_Op_create(add_matrices, 1, &op);
  int in[3] = {rank, 2 * rank, 1}, out[3];
  MPI_Allreduce(in, out, 3, MPI_INT, op, WORLD);
  EXPECT_EQ(out[1], size * (size - 1));
  MPI_Reduce(in, out, 3, MPI_INT, op, 0, WORLD);
  if (rank == 0) EXPECT_EQ(out[2], size);
  MPI_Op_free(&op);
}

// Nobody waits for anybody: roots and leaves run ahead of each other as far as they can.
static void in_a_row(void) {
  for (int i = 0; i < 3000; i++) {
    int value = rank == i / 1000 % size ? i : -1;
    MPI_Bcast(&value, 1, MPI_INT, i / 1000 % size, WORLD);
    EXPECT_EQ(value, i);
    if (value != i) return;
  }
  for (int i = 0; i < 3000; i++) {
    int sum = -1;
    MPI_Reduce(&i, &sum, 1, MPI_INT, MPI_SUM, 0, WORLD);
    if (rank == 0) EXPECT_EQ(sum, i * size);
  }
}

static void with_late_ranks(void) {
  for (int late = 0; late < size; late++) {
    for (int kind = 0; kind < 4; kind++) {
      int value = rank == 0 ? 41 : 0, sum = 0;
      if (rank == late) be_late();
      if (kind == 0) MPI_Barrier(WORLD);
      if (kind == 1) MPI_Bcast(&value, 1, MPI_INT, 0, WORLD);
      if (kind == 2) MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, WORLD);
      if (kind == 3) MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, WORLD);
      if (kind == 1) EXPECT_EQ(value, 41);
      if (kind == 3 || (kind == 2 && rank == 0)) EXPECT_EQ(sum, size * (size - 1) / 2);
    }
  }
}

// A rank is away for so long that the others go to sleep.
static void with_sleepers(void) {
  for (int late = 0; late < size && late < 2; late++) {
    int sum = 0, value = rank == late ? 5 : 0;
    if (rank == late) pause_ms(30);
    MPI_Bcast(&value, 1, MPI_INT, late, WORLD);
    EXPECT_EQ(value, 5);
    if (rank == late) pause_ms(30);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, WORLD);
    EXPECT_EQ(sum, size * (size - 1) / 2);
  }
}

// Beside messages, requests that are open, and collectives of the host.
static void beside_others(void) {
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  for (int i = 0; i < 50; i++) {
    static int out[40000], in[40000];
    const int n = i % 3 == 0 ? 40000 : 10;
    MPI_Request open[3];
    double own = rank + i, sum = 0, all[64];
    for (int k = 0; k < n; k++) out[k] = rank * 1000 + i + k;
    MPI_Irecv(in, n, MPI_INT, previous, i, WORLD, &open[0]);
    MPI_Isend(out, n, MPI_INT, next, i, WORLD, &open[1]);
    MPI_Ibarrier(WORLD, &open[2]);
    MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, WORLD);
    EXPECT(sum == size * (size - 1) / 2 + (double)size * i, "sum %g in round %d", sum, i);
    if (size <= 64) MPI_Allgather(&own, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, WORLD);
    if (size <= 64) EXPECT(all[previous] == previous + i, "gathered");
    int root_says = rank == i % size ? i : -1;
    MPI_Bcast(&root_says, 1, MPI_INT, i % size, WORLD);
    EXPECT_EQ(root_says, i);
    MPI_Waitall(3, open, MPI_STATUSES_IGNORE);
    for (int k = 0; k < n; k += 999) EXPECT_EQ(in[k], previous * 1000 + i + k);
    MPI_Barrier(WORLD);
  }
}

// The faces of a halo exchange may still be on their way when the sum is made.
static void halo_and_sum(void) {
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  unsigned char* in = allocate(large);
  unsigned char* out = allocate(large);
  for (int i = 0; i < 12; i++) {
    MPI_Request sent;
    double own = rank + 0.5, sum = 0;
    fill(out, large, (unsigned)(rank * 31 + i));
    if (i % size == rank) be_late();
    MPI_Isend(out, large, MPI_BYTE, next, 3, WORLD, &sent);
    MPI_Recv(in, large, MPI_BYTE, previous, 3, WORLD, IGNORE);
    MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, WORLD);
    EXPECT(sum == size * (size - 1) / 2 + 0.5 * size, "sum %g", sum);
    expect_filled(in, large, (unsigned)(previous * 31 + i));
    MPI_Wait(&sent, IGNORE);
  }
  free(out);
  free(in);
}

// What a call gets lies in a buffer that is still under guard.
static void buffers_under_guard(void) {
  unsigned char* buffer = allocate(large);
  for (int i = 0; i < 6; i++) {
    if (late_message(buffer, large, (unsigned)(40 + i))) {
      MPI_Send(buffer + 512, 8, MPI_BYTE, 0, 9, WORLD);
    } else if (rank == 0) {
      MPI_Recv(buffer, 8, MPI_BYTE, 1, 9, WORLD, IGNORE);
    }
    if (late_message(buffer, large, (unsigned)(50 + i))) {
      MPI_Bcast(buffer + 4096, 256, MPI_BYTE, 1, WORLD);
      expect_filled(buffer, large, (unsigned)(50 + i));
    } else {
      MPI_Bcast(buffer + 4096, 256, MPI_BYTE, 1, WORLD);
      unsigned char* whole = allocate(large);
      fill(whole, large, (unsigned)(50 + i));
      EXPECT_EQ(memcmp(buffer + 4096, whole + 4096, 256), 0);
      free(whole);
    }
    long sum = 0, own = 1;
    if (late_message(buffer, large, (unsigned)(60 + i))) {
      MPI_Allreduce(&own, buffer, 1, MPI_LONG, MPI_SUM, WORLD);
      memcpy(&sum, buffer, sizeof sum);
      expect_part_filled(buffer, sizeof sum, large, (unsigned)(60 + i));
    } else {
      MPI_Allreduce(&own, &sum, 1, MPI_LONG, MPI_SUM, WORLD);
    }
    EXPECT_EQ(sum, size);
  }
  free(buffer);
}

static void check_communicator(MPI_Comm comm) {
  int members, number, sum = 0, value;
  MPI_Comm_size(comm, &members);
  MPI_Comm_rank(comm, &number);
  MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, comm);
  EXPECT_EQ(sum, members * (members - 1) / 2);
  for (int root = 0; root < members; root++) {
    value = number == root ? root + 3 : -1;
    MPI_Bcast(&value, 1, MPI_INT, root, comm);
    EXPECT_EQ(value, root + 3);
    MPI_Reduce(&number, &sum, 1, MPI_INT, MPI_MAX, root, comm);
    if (number == root) EXPECT_EQ(sum, members - 1);
  }
  MPI_Barrier(comm);
}

static void other_communicators(void) {
  MPI_Comm copy, half, turned, alone;
  check_communicator(WORLD);
  check_communicator(MPI_COMM_SELF);
  MPI_Comm_dup(WORLD, &copy);
  MPI_Comm_split(copy, rank % 2, 0, &half);
  MPI_Comm_split(WORLD, 0, -rank, &turned);
  MPI_Comm_split(WORLD, rank, 0, &alone);
  for (int i = 0; i < 5; i++) {
    check_communicator(half);
    check_communicator(copy);
    check_communicator(turned);
    check_communicator(alone);
  }
  MPI_Comm_free(&copy);
  check_communicator(half);
  MPI_Comm_free(&half);
  check_communicator(turned);
  MPI_Comm_free(&turned);
  MPI_Comm_free(&alone);
  check_communicator(WORLD);
}

// A root leaves its last message unread and frees the communicator; the next one has the same place in its memory.
static void freed_and_made_again(void) {
  for (int i = 0; i < 400; i++) {
    MPI_Comm comm;
    int value = rank == i % size ? i : -1;
    MPI_Comm_split(WORLD, i % 3 == 0 ? rank % 2 : 0, rank, &comm);
    if (i % 3 != 0) {
      if (rank == (i + 1) % size && i % 50 == 0) be_late();
      MPI_Bcast(&value, 1, MPI_INT, i % size, comm);
      EXPECT_EQ(value, i);
    } else {
      check_communicator(comm);
    }
    MPI_Comm_free(&comm);
  }
}

// More than one process has lanes for.
static void many_communicators(void) {
  enum { many = 300 };
  static MPI_Comm comms[many];
  for (int i = 0; i < many; i++) MPI_Comm_dup(WORLD, &comms[i]);
  for (int i = 0; i < many; i += 7) check_communicator(comms[i]);
  for (int i = many - 5; i < many; i++) check_communicator(comms[i]);
  for (int i = 0; i < many; i++) MPI_Comm_free(&comms[i]);
  MPI_Comm again;
  MPI_Comm_dup(WORLD, &again);
  check_communicator(again);
  MPI_Comm_free(&again);
}

// Errors are the host's, and the same.
static void wrong_arguments(void) {
  int value = 1, sum = 0;
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
  EXPECT_CLASS(MPI_Bcast(&value, 1, MPI_INT, size, WORLD), MPI_ERR_ROOT);
  EXPECT_CLASS(MPI_Bcast(&value, -1, MPI_INT, 0, WORLD), MPI_ERR_COUNT);
  EXPECT_CLASS(MPI_Bcast(&value, 1, MPI_DATATYPE_NULL, 0, WORLD), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, -2, WORLD), MPI_ERR_ROOT);
  EXPECT_CLASS(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_OP_NULL, WORLD), MPI_ERR_OP);
  EXPECT_CLASS(MPI_Allreduce(&value, &sum, -1, MPI_INT, MPI_SUM, WORLD), MPI_ERR_COUNT);
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
  check_communicator(WORLD);
}

static const Case cases[] = {
    {"barriers", 1, barriers},
    {"barrier_waits", 1, barrier_waits},
    {"bcast_from_each", 1, bcast_from_each},
    {"bcast_of_one_signature", 1, bcast_of_one_signature},
    {"bcast_of_structs", 1, bcast_of_structs},
    {"sums_of_signed_char", 1, sums_of_signed_char},
    {"sums_of_unsigned_char", 1, sums_of_unsigned_char},
    {"sums_of_short", 1, sums_of_short},
    {"sums_of_int", 1, sums_of_int},
    {"sums_of_long", 1, sums_of_long},
    {"sums_of_uint64", 1, sums_of_uint64},
    {"sums_of_float", 1, sums_of_float},
    {"sums_of_double", 1, sums_of_double},
    {"sums_of_long_double", 1, sums_of_long_double},
    {"every_operation", 1, every_operation},
    {"largest_and_where", 1, largest_and_where},
    {"own_operation", 1, own_operation},
    {"in_a_row", 1, in_a_row},
    {"with_late_ranks", 1, with_late_ranks},
    {"with_sleepers", 1, with_sleepers},
    {"beside_others", 2, beside_others},
    {"halo_and_sum", 2, halo_and_sum},
    {"buffers_under_guard", 2, buffers_under_guard},
    {"other_communicators", 1, other_communicators},
    {"freed_and_made_again", 1, freed_and_made_again},
    {"many_communicators", 1, many_communicators},
    {"wrong_arguments", 1, wrong_arguments},
};
SUITE(cases)
