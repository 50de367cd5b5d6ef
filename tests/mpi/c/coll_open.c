// Many open nonblocking collective calls, short ones above all: started far ahead, waited for in any order, on several
// communicators at a time, and beside blocking ones.
#include "late.h"

enum { most_open = 200, most_ints = 256 };

typedef struct {
  int kind, count, root, serial;
  MPI_Comm comm;
  int rank, size;  // in that communicator
  int sent[most_ints], got[most_ints];
  MPI_Request request;
} Open;

enum { ALLREDUCE, BCAST, BARRIER, REDUCE, ALLGATHER, ALLTOALL, GATHER, SCATTER, SCAN, EXSCAN, REDUCE_SCATTER, ALLGATHERV, kinds };

static int value(int from, int serial, int i) { return 1000 * from + 13 * serial + i; }

static void start(Open* call, int kind, int count, int root, int serial, MPI_Comm comm) {
  MPI_Comm_rank(comm, &call->rank);
  MPI_Comm_size(comm, &call->size);
  const int each = most_ints / call->size;
  call->kind = kind;
  call->root = root % call->size;
  call->serial = serial;
  call->comm = comm;
  call->count =
      kind == BCAST || kind == ALLREDUCE || kind == REDUCE || kind == SCAN || kind == EXSCAN || count < each ? count : each;
  for (int i = 0; i < most_ints; i++) call->sent[i] = value(call->rank, serial, i), call->got[i] = -1;
  int counts[64], places[64];
  for (int other = 0; other < call->size; other++) counts[other] = call->count, places[other] = other * call->count;
  switch (kind) {
    case ALLREDUCE:
      MPI_Iallreduce(call->sent, call->got, call->count, MPI_INT, MPI_SUM, comm, &call->request);
      break;
    case BCAST:
      if (call->rank == call->root) memcpy(call->got, call->sent, sizeof call->got);
      MPI_Ibcast(call->got, call->count, MPI_INT, call->root, comm, &call->request);
      break;
    case BARRIER:
      MPI_Ibarrier(comm, &call->request);
      break;
    case REDUCE:
      MPI_Ireduce(call->sent, call->got, call->count, MPI_INT, MPI_MAX, call->root, comm, &call->request);
      break;
    case ALLGATHER:
      MPI_Iallgather(call->sent, call->count, MPI_INT, call->got, call->count, MPI_INT, comm, &call->request);
      break;
    case ALLTOALL:
      MPI_Ialltoall(call->sent, call->count, MPI_INT, call->got, call->count, MPI_INT, comm, &call->request);
      break;
    case GATHER:
      MPI_Igather(call->sent, call->count, MPI_INT, call->got, call->count, MPI_INT, call->root, comm, &call->request);
      break;
    case SCATTER:
      MPI_Iscatter(call->sent, call->count, MPI_INT, call->got, call->count, MPI_INT, call->root, comm, &call->request);
      break;
    case SCAN:
      MPI_Iscan(call->sent, call->got, call->count, MPI_INT, MPI_SUM, comm, &call->request);
      break;
    case EXSCAN:
      MPI_Iexscan(call->sent, call->got, call->count, MPI_INT, MPI_SUM, comm, &call->request);
      break;
    case REDUCE_SCATTER:
      MPI_Ireduce_scatter_block(call->sent, call->got, call->count, MPI_INT, MPI_SUM, comm, &call->request);
      break;
    default:
      MPI_Iallgatherv(call->sent, call->count, MPI_INT, call->got, counts, places, MPI_INT, comm, &call->request);
      break;
  }
}

// The ranks of a communicator have consecutive numbers, so that sums over the first of them are known.
static int sum_of(const Open* call, int ranks, int i) {
  return 1000 * (ranks * (ranks - 1) / 2) + ranks * (13 * call->serial + i);
}

// The i-th result; -1: there is none here.
static int wanted(const Open* call, int i) {
  const int in_block = i % (call->count ? call->count : 1), block = i / (call->count ? call->count : 1);
  const int is_root = call->rank == call->root, is_first_block = i < call->count, is_in_all = i < call->count * call->size;
  switch (call->kind) {
    case ALLREDUCE:
      return is_first_block ? sum_of(call, call->size, i) : -1;
    case BCAST:
      return is_root || is_first_block ? value(call->root, call->serial, i) : -1;
    case BARRIER:
      return -1;
    case REDUCE:
      return is_root && is_first_block ? value(call->size - 1, call->serial, i) : -1;
    case ALLGATHER:
    case ALLGATHERV:
      return is_in_all ? value(block, call->serial, in_block) : -1;
    case ALLTOALL:
      return is_in_all ? value(block, call->serial, call->rank * call->count + in_block) : -1;
    case GATHER:
      return is_root && is_in_all ? value(block, call->serial, in_block) : -1;
    case SCATTER:
      return is_first_block ? value(call->root, call->serial, call->rank * call->count + i) : -1;
    case SCAN:
      return is_first_block ? sum_of(call, call->rank + 1, i) : -1;
    case EXSCAN:
      return call->rank != 0 && is_first_block ? sum_of(call, call->rank, i) : -1;
    default:
      return is_first_block ? sum_of(call, call->size, call->rank * call->count + i) : -1;
  }
}

static void expect_done(const Open* call) {
  for (int i = 0; i < most_ints; i++) {
    EXPECT(call->got[i] == wanted(call, i), "kind %d of %d, serial %d: %d is %d and not %d", call->kind, call->count,
           call->serial, i, call->got[i], wanted(call, i));
    if (call->got[i] != wanted(call, i)) return;
  }
}

// Around what one line of a lane holds, what a slot does, and none.
static int count_of(int serial) {
  static const int counts[] = {1, 2, 0, 12, 13, 40, 96, 97, 128, 256};
  return counts[serial % (int)(sizeof counts / sizeof *counts)];
}

static void all_at_once(void) {
  Open* open = allocate(most_open * sizeof *open);
  MPI_Request requests[most_open];
  for (int round = 0; round < 6; round++) {
    for (int i = 0; i < most_open; i++) {
      start(&open[i], (i + round) % kinds, round % 2 ? 1 : count_of(i / kinds), i, i + round, WORLD);
      requests[i] = open[i].request;
    }
    MPI_Waitall(most_open, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < most_open; i++) expect_done(&open[i]);
  }
  free(open);
}

static void the_last_first(void) {
  Open* open = allocate(most_open * sizeof *open);
  for (int i = 0; i < most_open; i++) start(&open[i], i % kinds, count_of(i), i, i, WORLD);
  for (int i = most_open - 1; i >= 0; i--) {
    MPI_Wait(&open[i].request, IGNORE);
    expect_done(&open[i]);
  }
  free(open);
}

// Each rank in an order of its own, by tests.
static void tests_in_any_order(void) {
  enum { some = 60 };
  Open* open = allocate(some * sizeof *open);
  for (int i = 0; i < some; i++) start(&open[i], i * 5 % kinds, count_of(i), i, i, WORLD);
  int left = some;
  for (int turn = 0; left > 0; turn++) {
    Open* const call = &open[(turn * 7 + rank * 11) % some];
    if (call->request == MPI_REQUEST_NULL) continue;
    int flag = 0;
    MPI_Test(&call->request, &flag, IGNORE);
    if (!flag) continue;
    expect_done(call);
    left--;
  }
  free(open);
}

// A window of them that moves on, with blocking calls, messages and late ranks between.
static void a_window_beside_other_calls(void) {
  enum { window = 12, calls = 240 };
  Open* open = allocate(window * sizeof *open);
  for (int i = 0; i < calls; i++) {
    Open* const call = &open[i % window];
    if (i >= window) {
      MPI_Wait(&call->request, IGNORE);
      expect_done(call);
    }
    start(call, i % kinds, count_of(i), i, i, WORLD);
    if (i % 17 == 0) {
      int own = rank + i, all = -1;
      MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MAX, WORLD);
      EXPECT_EQ(all, size - 1 + i);
    }
    if (i % 23 == 0) {
      int sent = 100 * rank + i, got = -1;
      MPI_Sendrecv(&sent, 1, MPI_INT, (rank + 1) % size, 5, &got, 1, MPI_INT, (rank + size - 1) % size, 5, WORLD, IGNORE);
      EXPECT_EQ(got, 100 * ((rank + size - 1) % size) + i);
    }
    if (i % 80 == 79 && rank == i / 80 % size) be_late();
  }
  for (int i = 0; i < window; i++) {
    MPI_Wait(&open[(calls + i) % window].request, IGNORE);
    expect_done(&open[(calls + i) % window]);
  }
  free(open);
}

// Short and long ones by turns: they go different ways, and neither waits for the other.
static void beside_long_ones(void) {
  enum { pairs = 12, doubles = 40000 };
  Open* open = allocate(pairs * sizeof *open);
  double* sent = allocate(pairs * doubles * sizeof *sent);
  double* got = allocate(pairs * doubles * sizeof *got);
  MPI_Request long_ones[pairs];
  for (int i = 0; i < pairs; i++) {
    for (int k = 0; k < doubles; k++) sent[i * doubles + k] = rank + i + k % 7;
    MPI_Iallreduce(sent + i * doubles, got + i * doubles, doubles, MPI_DOUBLE, MPI_SUM, WORLD, &long_ones[i]);
    start(&open[i], i % kinds, count_of(i), i, i, WORLD);
  }
  for (int i = pairs - 1; i >= 0; i--) {
    MPI_Wait(&open[i].request, IGNORE);
    expect_done(&open[i]);
  }
  MPI_Waitall(pairs, long_ones, MPI_STATUSES_IGNORE);
  for (int i = 0; i < pairs; i++) {
    for (int k = 0; k < doubles; k++) {
      const double sum = size * (size - 1) / 2 + size * (i + k % 7);
      EXPECT(got[i * doubles + k] == sum, "%d of long call %d is %g", k, i, got[i * doubles + k]);
      if (got[i * doubles + k] != sum) break;
    }
  }
  free(open);
  free(sent);
  free(got);
}

// A root that does not wait goes far ahead, and others read all of it in order.
static void a_root_far_ahead(void) {
  enum { calls = 300 };
  int values[calls];
  MPI_Request requests[calls];
  for (int root = 0; root < size; root++) {
    for (int i = 0; i < calls; i++) values[i] = rank == root ? 17 * i + root : -1;
    if (rank != root) be_late();
    for (int i = 0; i < calls; i++) MPI_Ibcast(&values[i], 1, MPI_INT, root, WORLD, &requests[i]);
    MPI_Waitall(calls, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < calls; i++) EXPECT_EQ(values[i], 17 * i + root);
  }
}

// MPI lets a communicator be freed while its calls are open, and others of that kind be made. Open MPI 4.1 crashes.
static void freed_while_open(void) {
  enum { rounds = 40, each = 6 };
  Open* open = allocate(rounds * each * sizeof *open);
  for (int round = 0; round < rounds; round++) {
    MPI_Comm own;
    MPI_Comm_dup(WORLD, &own);
    for (int i = 0; i < each; i++) {
      start(&open[round * each + i], (round + i) % kinds, count_of(round + i), i, round + i, own);
    }
    MPI_Comm_free(&own);
  }
  for (int i = rounds * each - 1; i >= 0; i--) {
    MPI_Wait(&open[i].request, IGNORE);
    expect_done(&open[i]);
  }
  free(open);
}

static void on_several_communicators(void) {
  enum { comms = 3, each = 30 };
  MPI_Comm made[comms];
  for (int i = 0; i < comms; i++) MPI_Comm_dup(WORLD, &made[i]);
  Open* open = allocate(comms * each * sizeof *open);
  // Within a communicator in one order, among them in another on each rank.
  for (int turn = 0; turn < each; turn++) {
    for (int k = 0; k < comms; k++) {
      const int comm = (k + rank) % comms;
      start(&open[comm * each + turn], (turn + comm) % kinds, count_of(turn), turn, turn + comm, made[comm]);
    }
  }
  for (int i = 0; i < comms * each; i++) {
    Open* const call = &open[(i * 7 + rank) % (comms * each)];
    MPI_Wait(&call->request, IGNORE);
    expect_done(call);
  }
  for (int i = 0; i < comms; i++) MPI_Comm_free(&made[i]);
  free(open);
}

// In place, and into types with gaps that are freed before the call ends.
static void in_place_and_with_gaps(void) {
  enum { count = 20 };
  int own[count], spread[3 * count], packed[count * 64];
  for (int i = 0; i < count; i++) own[i] = rank + i;
  for (int i = 0; i < 3 * count; i++) spread[i] = -1;
  MPI_Request requests[3];
  MPI_Iallreduce(MPI_IN_PLACE, own, count, MPI_INT, MPI_SUM, WORLD, &requests[0]);
  MPI_Datatype apart;
  MPI_Type_vector(count, 1, 3, MPI_INT, &apart);
  MPI_Type_commit(&apart);
  int sent[count];
  for (int i = 0; i < count; i++) sent[i] = 7 * i;
  MPI_Ibcast(rank == 0 ? sent : spread, rank == 0 ? count : 1, rank == 0 ? MPI_INT : apart, 0, WORLD, &requests[1]);
  MPI_Type_free(&apart);
  for (int i = 0; i < count; i++) packed[rank * count + i] = 100 * rank + i;
  MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, packed, count, MPI_INT, WORLD, &requests[2]);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < count; i++) {
    EXPECT_EQ(own[i], size * (size - 1) / 2 + size * i);
    if (rank != 0) EXPECT_EQ(spread[3 * i], 7 * i);
    if (rank != 0) EXPECT_EQ(spread[3 * i + 1], -1);
    for (int from = 0; from < size; from++) EXPECT_EQ(packed[from * count + i], 100 * from + i);
  }
}

static const Case cases[] = {
    {"all_at_once", 1, all_at_once},
    {"the_last_first", 1, the_last_first},
    {"tests_in_any_order", 1, tests_in_any_order},
    {"a_window_beside_other_calls", 1, a_window_beside_other_calls},
    {"beside_long_ones", 1, beside_long_ones},
    {"a_root_far_ahead", 1, a_root_far_ahead},
    {"freed_while_open", 1, freed_while_open},
    {"on_several_communicators", 1, on_several_communicators},
    {"in_place_and_with_gaps", 1, in_place_and_with_gaps},
};
SUITE(cases)
