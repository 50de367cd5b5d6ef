// The host must go on while a rank sits in a point-to-point call, and point-to-point while a rank sits in a host call.
#include "late.h"

// Rank 0 starts a barrier and then waits for a message that its sender sends only after that barrier.
static void ibarrier_then_receive(void) {
  MPI_Request request;
  int value = 0;
  MPI_Ibarrier(WORLD, &request);
  if (rank == 0) {
    MPI_Recv(&value, 1, MPI_INT, 1, 0, WORLD, IGNORE);
    EXPECT_EQ(value, 9);
    MPI_Wait(&request, IGNORE);
  } else {
    MPI_Wait(&request, IGNORE);
    value = 9;
    if (rank == 1) MPI_Send(&value, 1, MPI_INT, 0, 0, WORLD);
  }
}

static void iallreduce_then_large_receive(void) {
  char* buffer = allocate(large);
  int total = 0;
  MPI_Request request;
  MPI_Iallreduce(&rank, &total, 1, MPI_INT, MPI_SUM, WORLD, &request);
  if (rank == 0) {
    MPI_Recv(buffer, large, MPI_BYTE, size - 1, 0, WORLD, IGNORE);
    expect_filled(buffer, large, 4);
    MPI_Wait(&request, IGNORE);
  } else {
    MPI_Wait(&request, IGNORE);
    fill(buffer, large, 4);
    if (rank == size - 1) MPI_Send(buffer, large, MPI_BYTE, 0, 0, WORLD);
  }
  EXPECT_EQ(total, size * (size - 1) / 2);
  free(buffer);
}

static void large_iallgather_then_probe(void) {
  enum { count = 100000 };
  int* mine = allocate(count * sizeof(int));
  int* all = allocate((size_t)size * count * sizeof(int));
  for (int i = 0; i < count; i++) mine[i] = rank + i;
  MPI_Request request;
  MPI_Iallgather(mine, count, MPI_INT, all, count, MPI_INT, WORLD, &request);
  if (rank == 0) {
    MPI_Probe(1, 3, WORLD, IGNORE);
    MPI_Recv(NULL, 0, MPI_INT, 1, 3, WORLD, IGNORE);
    MPI_Wait(&request, IGNORE);
  } else {
    MPI_Wait(&request, IGNORE);
    if (rank == 1) MPI_Send(NULL, 0, MPI_INT, 0, 3, WORLD);
  }
  for (int i = 0; i < size; i++) EXPECT_EQ(all[i * count + count - 1], i + count - 1);
  free(all);
  free(mine);
}

static void ibcast_then_ssend(void) {
  int value = rank == 1 ? 6 : 0;
  MPI_Request request;
  MPI_Ibcast(&value, 1, MPI_INT, 1, WORLD, &request);
  if (rank == 1) {
    MPI_Ssend(NULL, 0, MPI_INT, 0, 4, WORLD);
    MPI_Wait(&request, IGNORE);
  } else {
    MPI_Wait(&request, IGNORE);
    EXPECT_EQ(value, 6);
    if (rank == 0) MPI_Recv(NULL, 0, MPI_INT, 1, 4, WORLD, IGNORE);
  }
}

// The target of a passive window sits in a receive meanwhile.
static void passive_target_in_receive(int bytes) {
  int* exposed;
  MPI_Win window;
  char* buffer = allocate((size_t)bytes);
  MPI_Win_allocate(100 * sizeof(int), sizeof(int), MPI_INFO_NULL, WORLD, &exposed, &window);
  memset(exposed, 0, 100 * sizeof(int));
  MPI_Barrier(WORLD);
  if (rank == 0) {
    MPI_Recv(buffer, bytes, MPI_BYTE, 1, 5, WORLD, IGNORE);
    expect_filled(buffer, (size_t)bytes, 5);
  } else if (rank == 1) {
    for (int i = 0; i < 20; i++) {
      const int one = i;
      int back = -1;
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
      MPI_Accumulate(&one, 1, MPI_INT, 0, i, 1, MPI_INT, MPI_SUM, window);
      MPI_Win_flush(0, window);
      MPI_Get(&back, 1, MPI_INT, 0, i, 1, MPI_INT, window);
      MPI_Win_unlock(0, window);
      EXPECT_EQ(back, i);
    }
    fill(buffer, (size_t)bytes, 5);
    MPI_Send(buffer, bytes, MPI_BYTE, 0, 5, WORLD);
  }
  MPI_Barrier(WORLD);
  MPI_Win_free(&window);
  free(buffer);
}

static void passive_target_in_small_receive(void) { passive_target_in_receive(8); }
static void passive_target_in_large_receive(void) { passive_target_in_receive(large); }

static void created_window_target_in_receive(void) {
  int exposed[50] = {0};
  MPI_Win window;
  MPI_Win_create(exposed, sizeof exposed, sizeof(int), MPI_INFO_NULL, WORLD, &window);
  if (rank == 0) {
    MPI_Recv(NULL, 0, MPI_INT, 1, 5, WORLD, IGNORE);
  } else if (rank == 1) {
    const int seven = 7;
    int old = -1;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Fetch_and_op(&seven, &old, MPI_INT, 0, 3, MPI_SUM, window);
    MPI_Win_unlock(0, window);
    EXPECT_EQ(old, 0);
    MPI_Send(NULL, 0, MPI_INT, 0, 5, WORLD);
  }
  MPI_Barrier(WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
  if (rank == 0) EXPECT_EQ(exposed[3], 7);
  MPI_Win_unlock(rank, window);
  MPI_Win_free(&window);
}

// --- the other way round: point-to-point goes on while the rank is in the host ---

static void rendezvous_with_a_rank_in_a_barrier(void) {
  char* buffer = allocate(4 * MB);
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank == 0) {
    fill(buffer, 4 * MB, 6);
    MPI_Isend(buffer, 4 * MB, MPI_BYTE, 1, 0, WORLD, &request);
  } else if (rank == 1) {
    MPI_Recv(buffer, 4 * MB, MPI_BYTE, 0, 0, WORLD, IGNORE);  // rank 0 is in the barrier meanwhile
    expect_filled(buffer, 4 * MB, 6);
  }
  MPI_Barrier(WORLD);
  MPI_Wait(&request, IGNORE);
  free(buffer);
}

static void receive_completes_while_its_rank_is_in_a_barrier(void) {
  char* buffer = allocate(4 * MB);
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank == 1) MPI_Irecv(buffer, 4 * MB, MPI_BYTE, 0, 0, WORLD, &request);
  if (rank == 0) {
    fill(buffer, 4 * MB, 7);
    be_late();
    MPI_Ssend(buffer, 4 * MB, MPI_BYTE, 1, 0, WORLD);
  }
  MPI_Barrier(WORLD);
  MPI_Wait(&request, IGNORE);
  if (rank == 1) expect_filled(buffer, 4 * MB, 7);
  free(buffer);
}

static void rendezvous_with_a_rank_that_computes(void) {
  char* buffer = allocate(MB);
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank == 0) {
    fill(buffer, MB, 8);
    MPI_Isend(buffer, MB, MPI_BYTE, 1, 0, WORLD, &request);
    const double until = seconds_now() + 0.02;
    while (seconds_now() < until) continue;
    MPI_Wait(&request, IGNORE);
  } else if (rank == 1) {
    MPI_Recv(buffer, MB, MPI_BYTE, 0, 0, WORLD, IGNORE);
    expect_filled(buffer, MB, 8);
  }
  free(buffer);
}

static void duplicating_while_a_message_is_under_way(void) {
  char* buffer = allocate(MB);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm copy;
  if (rank == 0) fill(buffer, MB, 9), MPI_Isend(buffer, MB, MPI_BYTE, 1, 0, WORLD, &request);
  if (rank == 1) be_late(), MPI_Irecv(buffer, MB, MPI_BYTE, 0, 0, WORLD, &request);
  MPI_Comm_dup(WORLD, &copy);
  MPI_Wait(&request, IGNORE);
  if (rank == 1) expect_filled(buffer, MB, 9);
  MPI_Comm_free(&copy);
  free(buffer);
}

static const Case cases[] = {CASE(ibarrier_then_receive, 2),
                             CASE(iallreduce_then_large_receive, 2),
                             CASE(large_iallgather_then_probe, 2),
                             CASE(ibcast_then_ssend, 2),
                             CASE(passive_target_in_small_receive, 2),
                             CASE(passive_target_in_large_receive, 2),
                             CASE(created_window_target_in_receive, 2),
                             CASE(rendezvous_with_a_rank_in_a_barrier, 2),
                             CASE(receive_completes_while_its_rank_is_in_a_barrier, 2),
                             CASE(rendezvous_with_a_rank_that_computes, 2),
                             CASE(duplicating_while_a_message_is_under_way, 2)};
SUITE(cases)
