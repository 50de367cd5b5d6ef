// After a receive returned, nothing that the rank does may be seen by others before the message was sent.
//
// Rank 0 holds back the message that rank 1 receives, and watches for anything that rank 1 does after its receive.
#include "late.h"

enum { go = 1, after = 2 };

static char* buffer;

// On rank 0: for some milliseconds nothing with tag `after` may come from anyone; then the message is sent.
static void watch_then_send(MPI_Comm comm) {
  const double until = seconds_now() + 0.006;
  while (seconds_now() < until) {
    int there = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, after, comm, &there, IGNORE);
    if (there) {
      EXPECT(0, "an effect of the receive was seen before the message was sent");
      break;
    }
  }
  fill(buffer, large, 1);
  MPI_Send(buffer, large, MPI_BYTE, 1, go, comm);
}

static void begin(void) { buffer = allocate(large); }
static void finish(void) { free(buffer); }

static void on_rank_one(void (*effect)(void)) {
  begin();
  for (int i = 0; i < 3; i++) {
    if (rank == 0) {
      watch_then_send(WORLD);
      char* back = allocate(large);
      MPI_Recv(back, large, MPI_BYTE, 1, after, WORLD, IGNORE);
      free(back);
    } else if (rank == 1) {
      MPI_Recv(buffer, large, MPI_BYTE, 0, go, WORLD, IGNORE);
      effect();
      expect_filled(buffer, large, 1);
    }
  }
  finish();
}

static char small[8];
static char sizable[200000];

static void small_send(void) { MPI_Send(small, 8, MPI_BYTE, 0, after, WORLD); }
static void large_send(void) { MPI_Send(sizable, sizeof sizable, MPI_BYTE, 0, after, WORLD); }
static void ssend(void) { MPI_Ssend(small, 8, MPI_BYTE, 0, after, WORLD); }
static void isend(void) {
  MPI_Request request;
  MPI_Isend(small, 8, MPI_BYTE, 0, after, WORLD, &request);
  MPI_Wait(&request, IGNORE);
}
static void large_isend(void) {
  MPI_Request request;
  MPI_Isend(sizable, sizeof sizable, MPI_BYTE, 0, after, WORLD, &request);
  pause_ms(1);
  MPI_Wait(&request, IGNORE);
}
static void persistent_send(void) {
  MPI_Request request;
  MPI_Send_init(small, 8, MPI_BYTE, 0, after, WORLD, &request);
  MPI_Start(&request);
  MPI_Wait(&request, IGNORE);
  MPI_Request_free(&request);
}
static void sendrecv_to_itself_and_send(void) {
  char in[8];
  MPI_Sendrecv(small, 8, MPI_BYTE, 1, 3, in, 8, MPI_BYTE, 1, 3, WORLD, IGNORE);
  small_send();
}
static void buffered_send(void) {
  static char attached[1000 + MPI_BSEND_OVERHEAD];
  void* detached;
  int length;
  MPI_Buffer_attach(attached, sizeof attached);
  MPI_Bsend(small, 8, MPI_BYTE, 0, after, WORLD);
  MPI_Buffer_detach(&detached, &length);
}

static void then_small_send(void) { on_rank_one(small_send); }
static void then_large_send(void) { on_rank_one(large_send); }
static void then_ssend(void) { on_rank_one(ssend); }
static void then_isend(void) { on_rank_one(isend); }
static void then_large_isend(void) { on_rank_one(large_isend); }
static void then_persistent_send(void) { on_rank_one(persistent_send); }
static void then_sendrecv_to_itself(void) { on_rank_one(sendrecv_to_itself_and_send); }
static void then_buffered_send(void) { on_rank_one(buffered_send); }

// Rank 1 tells rank 2, rank 2 tells rank 0: rank 0 would have heard of a message that it has not sent yet.
static void round_a_triangle(int source) {
  begin();
  if (rank == 0) {
    watch_then_send(WORLD);
    MPI_Recv(small, 8, MPI_BYTE, 2, after, WORLD, IGNORE);
  } else if (rank == 1) {
    MPI_Recv(buffer, large, MPI_BYTE, source, go, WORLD, IGNORE);
    MPI_Send(small, 8, MPI_BYTE, 2, after, WORLD);
    expect_filled(buffer, large, 1);
  } else if (rank == 2) {
    MPI_Recv(small, 8, MPI_BYTE, 1, after, WORLD, IGNORE);
    MPI_Send(small, 8, MPI_BYTE, 0, after, WORLD);
  }
  finish();
}

static void triangle(void) { round_a_triangle(0); }
static void triangle_from_any_source(void) { round_a_triangle(MPI_ANY_SOURCE); }

static void held_sends_keep_their_order(void) {
  enum { n = 20 };
  begin();
  if (rank == 0) {
    watch_then_send(WORLD);
    for (int i = 0; i < n; i++) {
      int value[30000];
      MPI_Recv(value, 30000, MPI_INT, 1, after, WORLD, IGNORE);
      EXPECT_EQ(value[0], i);
    }
  } else if (rank == 1) {
    static int value[30000];
    MPI_Recv(buffer, large, MPI_BYTE, 0, go, WORLD, IGNORE);
    for (int i = 0; i < n; i++) {
      value[0] = i;
      MPI_Send(value, i % 5 == 4 ? 30000 : 10, MPI_INT, 0, after, WORLD);
      value[0] = -1;
    }
  }
  finish();
}

// The receive is from rank 0, and what comes after it is a collective: rank 0 starts its part first and must not see it end.
static void then_collective(int use_barrier) {
  MPI_Comm comm;
  int value = rank == 1 ? 5 : 0, done = 0;
  begin();
  MPI_Comm_split(WORLD, rank < 2 ? 0 : MPI_UNDEFINED, rank, &comm);
  if (rank < 2) {
    MPI_Request request;
    if (rank == 1) MPI_Recv(buffer, large, MPI_BYTE, 0, go, comm, IGNORE);
    if (use_barrier) MPI_Ibarrier(comm, &request);
    if (!use_barrier) MPI_Ibcast(&value, 1, MPI_INT, 1, comm, &request);
    if (rank == 0) {
      const double until = seconds_now() + 0.006;
      while (seconds_now() < until && !done) MPI_Test(&request, &done, IGNORE);
      EXPECT(!done, "the collective ended before the message was sent");
      fill(buffer, large, 1);
      MPI_Send(buffer, large, MPI_BYTE, 1, go, comm);
    }
    MPI_Wait(&request, IGNORE);
    if (!use_barrier) EXPECT_EQ(value, 5);
    expect_filled(buffer, large, 1);
    MPI_Comm_free(&comm);
  }
  finish();
}

static void then_ibarrier(void) { then_collective(1); }
static void then_ibcast(void) { then_collective(0); }

static void then_put_into_a_window(void) {
  int exposed = 0;
  MPI_Win window;
  begin();
  MPI_Win_create(&exposed, 4, 4, MPI_INFO_NULL, WORLD, &window);
  MPI_Win_lock_all(0, window);
  if (rank == 1) {
    const int one = 1;
    MPI_Recv(buffer, large, MPI_BYTE, 0, go, WORLD, IGNORE);
    MPI_Put(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
    MPI_Win_flush(0, window);
    expect_filled(buffer, large, 1);
  } else if (rank == 0) {
    const double until = seconds_now() + 0.006;
    int seen = 0, there;
    while (seconds_now() < until && !seen) {
      MPI_Iprobe(1, after, WORLD, &there, IGNORE);
      MPI_Fetch_and_op(NULL, &seen, MPI_INT, 0, 0, MPI_NO_OP, window);
      MPI_Win_flush(0, window);
    }
    EXPECT_EQ(seen, 0);
    fill(buffer, large, 1);
    MPI_Send(buffer, large, MPI_BYTE, 1, go, WORLD);
  }
  MPI_Barrier(WORLD);
  MPI_Win_unlock_all(window);
  if (rank == 0) EXPECT_EQ(exposed, 1);
  MPI_Win_free(&window);
  finish();
}

static void in_another_communicator(void) {
  MPI_Comm other;
  begin();
  MPI_Comm_dup(WORLD, &other);
  if (rank == 0) {
    watch_then_send(other);
    MPI_Recv(small, 8, MPI_BYTE, 1, after, other, IGNORE);
  } else if (rank == 1) {
    MPI_Recv(buffer, large, MPI_BYTE, 0, go, other, IGNORE);
    MPI_Send(small, 8, MPI_BYTE, 0, after, other);
    expect_filled(buffer, large, 1);
  }
  MPI_Comm_free(&other);
  finish();
}

// Nobody is late here but everybody waits for the one before: a chain through all ranks.
static void chain_through_all_ranks(void) {
  begin();
  for (int i = 0; i < 5; i++) {
    if (rank == 0) {
      be_late();
      fill(buffer, large, (unsigned)i);
    } else {
      MPI_Recv(buffer, large, MPI_BYTE, rank - 1, go, WORLD, IGNORE);
    }
    if (rank + 1 < size) MPI_Send(buffer, large, MPI_BYTE, rank + 1, go, WORLD);
    expect_filled(buffer, large, (unsigned)i);
  }
  finish();
}

static const Case cases[] = {CASE(then_small_send, 2),
                             CASE(then_large_send, 2),
                             CASE(then_ssend, 2),
                             CASE(then_isend, 2),
                             CASE(then_large_isend, 2),
                             CASE(then_persistent_send, 2),
                             CASE(then_sendrecv_to_itself, 2),
                             CASE(then_buffered_send, 2),
                             CASE(triangle, 3),
                             CASE(triangle_from_any_source, 3),
                             CASE(held_sends_keep_their_order, 2),
                             CASE(then_ibarrier, 2),
                             CASE(then_ibcast, 2),
                             CASE(then_put_into_a_window, 2),
                             CASE(in_another_communicator, 2),
                             CASE(chain_through_all_ranks, 2)};
SUITE(cases)
