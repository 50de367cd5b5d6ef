// Collectives that go by messages: long ones, and nonblocking ones of any length, beside each other and beside messages.
#include "late.h"

static const int lengths[] = {0, 1, 1000, 4097, 40000, 170003};
enum { count_of_lengths = sizeof lengths / sizeof *lengths, longest = 170003, most_open = 16 };

// How a request is completed.
enum { by_wait, by_test, by_waitall, by_waitany, by_testsome, ways_to_complete };

static void complete(MPI_Request* request, int way) {
  int flag = 0, index = -1;
  switch (way) {
    case by_test:
      while (!flag) EXPECT_EQ(MPI_Test(request, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
      break;
    case by_waitall:
      EXPECT_EQ(MPI_Waitall(1, request, MPI_STATUSES_IGNORE), MPI_SUCCESS);
      break;
    case by_waitany:
      EXPECT_EQ(MPI_Waitany(1, request, &index, MPI_STATUS_IGNORE), MPI_SUCCESS);
      EXPECT_EQ(index, 0);
      break;
    case by_testsome:
      while (flag == 0) EXPECT_EQ(MPI_Testsome(1, request, &flag, &index, MPI_STATUSES_IGNORE), MPI_SUCCESS);
      break;
    default:
      EXPECT_EQ(MPI_Wait(request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  }
  EXPECT(*request == MPI_REQUEST_NULL, "the request is still there");
}

static void bcast(void* buffer, int count, MPI_Datatype type, int root, int way) {
  if (way < 0) {
    EXPECT_EQ(MPI_Bcast(buffer, count, type, root, WORLD), MPI_SUCCESS);
    return;
  }
  MPI_Request request;
  EXPECT_EQ(MPI_Ibcast(buffer, count, type, root, WORLD, &request), MPI_SUCCESS);
  complete(&request, way);
}

static void bcasts(void) {
  int* buffer = allocate((longest + 1) * sizeof *buffer);
  for (int root = 0; root < size; root++) {
    for (int l = 0; l < count_of_lengths; l++) {
      for (int way = -1; way < ways_to_complete; way += 1 + 2 * (l > 2)) {
        const unsigned seed = (unsigned)(root * 100 + l * 10 + way);
        const size_t bytes = (size_t)lengths[l] * sizeof *buffer;
        memset(buffer, 0, bytes + sizeof *buffer);
        if (rank == root) fill(buffer, bytes, seed);
        bcast(buffer, lengths[l], MPI_INT, root, way);
        expect_filled(buffer, bytes, seed);
        EXPECT_EQ(buffer[lengths[l]], 0);
      }
    }
  }
  free(buffer);
}

// One signature, another type on each rank, so long that it is cut where a type has its gaps.
static void bcasts_of_one_signature(void) {
  enum { elements = 90000 };
  MPI_Datatype apart, nested, pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_vector(elements, 1, 2, MPI_INT, &nested);
  MPI_Type_vector(3, 1, 2, MPI_INT, &apart);
  MPI_Type_commit(&pair);
  MPI_Type_commit(&nested);
  MPI_Type_commit(&apart);
  int* buffer = allocate(4 * elements * sizeof *buffer);
  for (int root = 0; root < size; root++) {
    for (int way = -1; way <= by_wait; way++) {
      const int form = (rank + root) % 4, root_form = 2 * root % 4;
      for (int i = 0; i < 4 * elements; i++) buffer[i] = rank == root ? 1000 + i : -1;
      const MPI_Datatype type = form == 0 ? MPI_INT : form == 1 ? pair : form == 2 ? apart : nested;
      bcast(buffer, form == 0 ? elements : form == 1 ? elements / 2 : form == 2 ? elements / 3 : 1, type, root, way);
      // The k-th of the message lies at ...
      for (int k = 0; k < elements; k++) {
        const int at = form < 2 ? k : form == 2 ? k / 3 * 5 + k % 3 * 2 : 2 * k;
        const int from = root_form < 2 ? k : root_form == 2 ? k / 3 * 5 + k % 3 * 2 : 2 * k;
        if (buffer[at] == 1000 + from) continue;
        EXPECT(0, "element %d of root %d is %d and not %d", k, root, buffer[at], 1000 + from);
        break;
      }
      if (rank != root && form == 3) EXPECT_EQ(buffer[1], -1);
    }
  }
  free(buffer);
  MPI_Type_free(&pair);
  MPI_Type_free(&nested);
  MPI_Type_free(&apart);
}

static int is_right(const double* sums, int count) {
  for (int i = 0; i < count; i++) {
    if (sums[i] != size * (size - 1) / 2.0 + size * (i % 13)) return 0;
  }
  return 1;
}

// `root` -1: all have the result. `way` -1: blocking.
static void sum(double* own, double* all, int count, int in_place, int root, int way) {
  const int here = root < 0 || rank == root;
  for (int i = 0; i < count; i++) own[i] = rank + i % 13, all[i] = in_place ? own[i] : -1;
  all[count] = 77;
  const void* from = in_place && here ? MPI_IN_PLACE : own;
  void* to = here ? all : NULL;
  MPI_Request request;
  int code;
  if (way < 0)
    code = root < 0 ? MPI_Allreduce(from, to, count, MPI_DOUBLE, MPI_SUM, WORLD)
                    : MPI_Reduce(from, to, count, MPI_DOUBLE, MPI_SUM, root, WORLD);
  else
    code = root < 0 ? MPI_Iallreduce(from, to, count, MPI_DOUBLE, MPI_SUM, WORLD, &request)
                    : MPI_Ireduce(from, to, count, MPI_DOUBLE, MPI_SUM, root, WORLD, &request);
  EXPECT_EQ(code, MPI_SUCCESS);
  if (way >= 0) complete(&request, way);
  if (here) EXPECT(is_right(all, count), "sum of %d, root %d, in place %d, way %d", count, root, in_place, way);
  EXPECT(all[count] == 77, "behind %d elements, root %d", count, root);
  EXPECT(count == 0 || own[count - 1] == rank + (count - 1) % 13, "the operand of %d, root %d", count, root);
}

static void sums(void) {
  double* own = allocate(longest * sizeof *own);
  double* all = allocate((longest + 1) * sizeof *all);
  for (int l = 0; l < count_of_lengths; l++) {
    for (int root = -1; root < size; root++) {
      for (int in_place = 0; in_place < 2; in_place++) {
        for (int way = -1; way <= by_wait; way++) sum(own, all, lengths[l], in_place, root, way);
      }
    }
  }
  free(all);
  free(own);
}

static void every_operation(void) {
  const MPI_Op ops[] = {MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND, MPI_BAND, MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR};
  enum { many = 5000 };
  static int in[many], out[many], at_root[many], later[many];
  for (int o = 0; o < 10; o++) {
    MPI_Request open[2];
    for (int i = 0; i < many; i++) in[i] = (rank * 7 + i * 3) % 5 - (i % 2);
    MPI_Allreduce(in, out, many, MPI_INT, ops[o], WORLD);
    MPI_Iallreduce(in, later, many, MPI_INT, ops[o], WORLD, &open[0]);
    MPI_Ireduce(in, at_root, many, MPI_INT, ops[o], size - 1, WORLD, &open[1]);
    MPI_Waitall(2, open, MPI_STATUSES_IGNORE);
    EXPECT_EQ(memcmp(out, later, sizeof out), 0);
    if (rank == size - 1) EXPECT_EQ(memcmp(out, at_root, sizeof out), 0);
    note_bytes(out, 64);
  }
}

static void keep_left(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  memcpy(inout, in, (size_t)*length * sizeof(int));
}

// Operations and types of the program stay with the host, in the middle of others.
static void own_operations(void) {
  enum { many = 20000 };
  static int in[many], left[many], all[many];
  MPI_Op op;
  MPI_Op_create(keep_left, 0, &op);
  for (int i = 0; i < many; i++) in[i] = rank * many + i;
  for (int i = 0; i < 3; i++) {
    MPI_Request open[3];
    MPI_Ibarrier(WORLD, &open[0]);
    MPI_Iallreduce(in, left, many, MPI_INT, op, WORLD, &open[1]);
    MPI_Iallreduce(in, all, many, MPI_INT, MPI_MAX, WORLD, &open[2]);
    MPI_Waitall(3, open, MPI_STATUSES_IGNORE);
    EXPECT_EQ(left[many - 1], many - 1);
    EXPECT_EQ(all[many - 1], size * many - 1);
  }
  MPI_Op_free(&op);
}

// Nobody's barrier is complete before the last one has come.
static void nonblocking_barriers_wait(void) {
  double* came = allocate((size_t)size * sizeof *came);
  for (int late = 0; late < size; late++) {
    MPI_Request request;
    if (rank == late) be_late();
    const double own = seconds_now();
    MPI_Ibarrier(WORLD, &request);
    complete(&request, late % ways_to_complete);
    const double left = seconds_now();
    MPI_Allgather(&own, 1, MPI_DOUBLE, came, 1, MPI_DOUBLE, WORLD);
    for (int from = 0; from < size; from++) EXPECT(came[from] <= left, "rank %d came after rank %d had left", from, rank);
  }
  free(came);
}

// Many are open; they are completed in another order than they were begun in.
static void many_open(void) {
  enum { count = 3000 };
  double* in = allocate(most_open * count * sizeof *in);
  double* out = allocate(most_open * count * sizeof *out);
  for (int round = 0; round < 5; round++) {
    MPI_Request open[most_open];
    for (int i = 0; i < most_open; i++) {
      const int n = i % 4 == 0 ? count : 3;
      for (int k = 0; k < n; k++) in[i * count + k] = rank + i + k, out[i * count + k] = rank == i % size ? 5 * i + k : -1;
      if (i % 3 == 0) MPI_Iallreduce(in + i * count, out + i * count, n, MPI_DOUBLE, MPI_SUM, WORLD, &open[i]);
      if (i % 3 == 1) MPI_Ibcast(out + i * count, n, MPI_DOUBLE, i % size, WORLD, &open[i]);
      if (i % 3 == 2) MPI_Ibarrier(WORLD, &open[i]);
    }
    for (int i = most_open - 1; i >= 0; i -= 2) MPI_Wait(&open[i], IGNORE);
    MPI_Waitall(most_open, open, MPI_STATUSES_IGNORE);
    for (int i = 0; i < most_open; i++) {
      const int k = i % 4 == 0 ? count - 1 : 2;
      if (i % 3 == 0) EXPECT(out[i * count + k] == size * (size - 1) / 2 + size * (i + k), "sum %d", i);
      if (i % 3 == 1) EXPECT(out[i * count + k] == 5 * i + k, "bcast %d", i);
    }
  }
  free(out);
  free(in);
}

// A blocking call, short or long, on the communicator of one that is open, which all ranks complete afterwards.
static void blocking_beside_open(void) {
  double* in = allocate(large);
  double* out = allocate(large);
  const int n = large / (int)sizeof *in;
  for (int i = 0; i < 10; i++) {
    MPI_Request request;
    double own = rank, all = -1;
    for (int k = 0; k < n; k++) in[k] = rank + k;
    if (rank == i % size) be_late();
    MPI_Iallreduce(in, out, n, MPI_DOUBLE, MPI_SUM, WORLD, &request);
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, WORLD);
    EXPECT(all == size * (size - 1) / 2, "the short one: %g", all);
    MPI_Barrier(WORLD);
    unsigned char* message = allocate(large);
    if (rank == 0) fill(message, large, (unsigned)i);
    MPI_Bcast(message, large, MPI_BYTE, 0, WORLD);
    expect_filled(message, large, (unsigned)i);
    free(message);
    MPI_Wait(&request, IGNORE);
    EXPECT(out[n - 1] == size * (size - 1) / 2 + (double)size * (n - 1), "the long one");
  }
  free(out);
  free(in);
}

// Ranks that run ahead, and messages among the same ranks with all tags.
static void beside_messages(void) {
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  unsigned char* out = allocate(large);
  unsigned char* in = allocate(large);
  unsigned char* told = allocate(large);
  for (int i = 0; i < 20; i++) {
    MPI_Request open[3];
    const int bytes = i % 2 ? large : 100;
    fill(out, (size_t)bytes, (unsigned)(rank * 50 + i));
    if (rank == i % size) fill(told, (size_t)bytes, (unsigned)(900 + i));
    if (i % 5 == 0 && rank == size - 1) be_late();
    MPI_Irecv(in, bytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &open[0]);
    MPI_Ibcast(told, bytes, MPI_BYTE, i % size, WORLD, &open[1]);
    MPI_Isend(out, bytes, MPI_BYTE, next, i, WORLD, &open[2]);
    if (i % 3) {
      MPI_Waitall(3, open, MPI_STATUSES_IGNORE);
    } else {
      int index;
      for (int k = 0; k < 3; k++) MPI_Waitany(3, open, &index, IGNORE);
    }
    expect_filled(in, (size_t)bytes, (unsigned)(previous * 50 + i));
    expect_filled(told, (size_t)bytes, (unsigned)(900 + i));
    MPI_Barrier(WORLD);
  }
  free(told);
  free(in);
  free(out);
}

// A call that is open goes on while this rank waits for a message that its end brings about; and while it does not call MPI.
static void open_while_waiting(void) {
  static unsigned char buffer[large];
  for (int i = 0; i < 5; i++) {
    MPI_Request request;
    double own = 1, all = 0;
    if (rank == 0) {
      MPI_Iallreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, WORLD, &request);
      if (size > 1) MPI_Recv(buffer, large, MPI_BYTE, size - 1, 8, WORLD, IGNORE);
      pause_ms(3);
      if (size > 1) expect_filled(buffer, large, (unsigned)i);
    } else {
      MPI_Iallreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, WORLD, &request);
      MPI_Wait(&request, IGNORE);
      fill(buffer, large, (unsigned)i);
      if (rank == size - 1) be_late();
      if (rank == size - 1) MPI_Send(buffer, large, MPI_BYTE, 0, 8, WORLD);
    }
    if (rank == 0) MPI_Wait(&request, IGNORE);
    EXPECT(all == size, "%g of %d", all, size);
  }
}

// A call that is open goes on while the host has this rank, for ranks that complete theirs first.
static void open_in_host_calls(void) {
  static double in[20000], out[20000];
  for (int i = 0; i < 10; i++) {
    MPI_Request open[2];
    int* all = allocate((size_t)size * sizeof *all);
    for (int k = 0; k < 20000; k++) in[k] = rank + k;
    MPI_Ibarrier(WORLD, &open[0]);
    MPI_Iallreduce(in, out, i % 2 ? 20000 : 1, MPI_DOUBLE, MPI_SUM, WORLD, &open[1]);
    if (rank % 2) MPI_Waitall(2, open, MPI_STATUSES_IGNORE);
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, WORLD);
    if (rank % 2 == 0) MPI_Waitall(2, open, MPI_STATUSES_IGNORE);
    for (int k = 0; k < size; k++) EXPECT_EQ(all[k], k);
    EXPECT(out[0] == size * (size - 1) / 2, "sum %g", out[0]);
    free(all);
  }
}

// What the call reads and writes lies where a receive is under guard.
static void buffers_under_guard(void) {
  unsigned char* buffer = allocate(large);
  unsigned char* other = allocate(large);
  for (int i = 0; i < 6; i++) {
    MPI_Request request;
    const int received = late_message(buffer, large, (unsigned)(50 + i));
    if (!received && rank != 1) memset(buffer, 0, large);
    if (i % 2) {
      MPI_Bcast(buffer, large, MPI_BYTE, 1, WORLD);
    } else {
      MPI_Ibcast(buffer, large, MPI_BYTE, 1, WORLD, &request);
      MPI_Wait(&request, IGNORE);
    }
    expect_filled(buffer, large, (unsigned)(50 + i));
    // The result comes where one is still to come.
    late_message(buffer, large, (unsigned)(70 + i));
    memset(other, 1, large);
    MPI_Allreduce(other, buffer, large, MPI_BYTE, MPI_BOR, WORLD);
    EXPECT(buffer[0] == 1 && buffer[large - 1] == 1, "the result is overwritten");
    for (int k = 0; k < large; k += 1001) EXPECT_EQ(buffer[k], 1);
  }
  free(other);
  free(buffer);
}

// The root is late; who receives does nothing with it for a while, and writes to some of it then.
static void late_roots(void) {
  unsigned char* buffer = allocate(large);
  for (int i = 0; i < 12; i++) {
    const int root = i % size;
    MPI_Request request;
    if (rank == root) {
      fill(buffer, large, (unsigned)i);
      be_late();
    }
    if (i % 3 == 2) {
      MPI_Ibcast(buffer, large, MPI_BYTE, root, WORLD, &request);
      MPI_Wait(&request, IGNORE);
    } else {
      MPI_Bcast(buffer, large, MPI_BYTE, root, WORLD);
    }
    if (i % 2 && rank != root) pause_ms(2);
    // Nobody hears of this before the root has come.
    int token = rank;
    MPI_Sendrecv_replace(&token, 1, MPI_INT, (rank + 1) % size, 5, (rank + size - 1) % size, 5, WORLD, IGNORE);
    EXPECT_EQ(token, (rank + size - 1) % size);
    expect_filled(buffer, large, (unsigned)i);
  }
  free(buffer);
}

// Communicators that overlap, each with calls open; some are freed while theirs are.
static void communicators_with_open_calls(void) {
  for (int i = 0; i < 20; i++) {
    MPI_Comm halves, turned, copy;
    MPI_Request open[6];
    int ours = 0, sums[3] = {0, 0, 0}, told = rank == 0 ? i : -1;
    static double in[20000], out[20000];
    MPI_Comm_split(WORLD, rank % 2, 0, &halves);
    MPI_Comm_split(WORLD, 0, -rank, &turned);
    MPI_Comm_dup(WORLD, &copy);
    for (int k = 0; k < 20000; k++) in[k] = rank;
    MPI_Comm_size(halves, &ours);
    const int one = 1;
    MPI_Iallreduce(&one, &sums[0], 1, MPI_INT, MPI_SUM, halves, &open[0]);
    MPI_Iallreduce(in, out, 20000, MPI_DOUBLE, MPI_SUM, turned, &open[1]);
    MPI_Ibarrier(copy, &open[2]);
    MPI_Ibcast(&told, 1, MPI_INT, size - 1, turned, &open[3]);
    MPI_Iallreduce(&one, &sums[1], 1, MPI_INT, MPI_SUM, WORLD, &open[4]);
    MPI_Iallreduce(&one, &sums[2], 1, MPI_INT, MPI_SUM, MPI_COMM_SELF, &open[5]);
    if (i % 2) {
      MPI_Comm_free(&halves);
      MPI_Comm_free(&turned);
      MPI_Comm_free(&copy);
    }
    MPI_Waitall(6, open, MPI_STATUSES_IGNORE);
    EXPECT_EQ(sums[0], ours);
    EXPECT_EQ(sums[1], size);
    EXPECT_EQ(sums[2], 1);
    EXPECT_EQ(told, i);
    EXPECT(out[19999] == size * (size - 1) / 2, "sum %g", out[19999]);
    if (i % 2 == 0) {
      MPI_Comm_free(&copy);
      MPI_Comm_free(&turned);
      MPI_Comm_free(&halves);
    }
  }
}

// Types and operations may be freed while a call with them is open.
static void freed_types(void) {
  static int buffer[2 * 30000];
  for (int i = 0; i < 4; i++) {
    MPI_Datatype type;
    MPI_Request request;
    MPI_Type_vector(30000, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    for (int k = 0; k < 60000; k++) buffer[k] = rank == i % size ? k + i : -1;
    if (rank == (i + 1) % size) be_late();
    MPI_Ibcast(buffer, 1, type, i % size, WORLD, &request);
    MPI_Type_free(&type);
    MPI_Wait(&request, IGNORE);
    for (int k = 0; k < 60000; k += 2) {
      if (buffer[k] != k + i) EXPECT_EQ(buffer[k], k + i);
    }
    if (rank != i % size) EXPECT_EQ(buffer[1], -1);
  }
}

static void statuses(void) {
  MPI_Request request;
  MPI_Status status;
  int flag = 0, sum = 0, cancelled = -1;
  MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, WORLD, &request);
  while (!flag) MPI_Request_get_status(request, &flag, &status);
  EXPECT_EQ(sum, size * (size - 1) / 2);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &cancelled);
  EXPECT_EQ(cancelled, 0);
}

static void cancelled(void) {
  MPI_Request request;
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
  MPI_Ibarrier(WORLD, &request);
  EXPECT_CLASS(MPI_Cancel(&request), MPI_ERR_REQUEST);
  EXPECT_EQ(MPI_Wait(&request, IGNORE), MPI_SUCCESS);
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
}

static void wrong_arguments(void) {
  int value = 1, sum = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
  EXPECT_CLASS(MPI_Ibcast(&value, 1, MPI_INT, size, WORLD, &request), MPI_ERR_ROOT);
  EXPECT_CLASS(MPI_Ibcast(&value, -1, MPI_INT, 0, WORLD, &request), MPI_ERR_COUNT);
  EXPECT_CLASS(MPI_Ireduce(&value, &sum, 1, MPI_INT, MPI_SUM, -2, WORLD, &request), MPI_ERR_ROOT);
  EXPECT_CLASS(MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_OP_NULL, WORLD, &request), MPI_ERR_OP);
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Barrier(WORLD);
}

static const Case cases[] = {
    {"bcasts", 1, bcasts},
    {"bcasts_of_one_signature", 1, bcasts_of_one_signature},
    {"sums", 1, sums},
    {"every_operation", 1, every_operation},
    {"own_operations", 1, own_operations},
    {"nonblocking_barriers_wait", 1, nonblocking_barriers_wait},
    {"many_open", 1, many_open},
    {"blocking_beside_open", 1, blocking_beside_open},
    {"beside_messages", 1, beside_messages},
    {"open_while_waiting", 1, open_while_waiting},
    {"open_in_host_calls", 1, open_in_host_calls},
    {"buffers_under_guard", 2, buffers_under_guard},
    {"late_roots", 1, late_roots},
    {"communicators_with_open_calls", 1, communicators_with_open_calls},
    {"freed_types", 1, freed_types},
    {"statuses", 1, statuses},
    {"cancelled", 1, cancelled},
    {"wrong_arguments", 1, wrong_arguments},
};
SUITE(cases)
