// Persistent requests: every *_init call, restarting, inactive requests, freeing.
#include "suite.h"

enum { bytes_small = 500, bytes_large = 300000, rounds = 5 };

typedef int (*SendInit)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

// Rank 0 sends to rank 1 `rounds` times over one persistent pair; the receive is started first (ready mode).
static void persistent_pair(SendInit init, int bytes) {
  if (rank >= 2) {
    for (int i = 0; i < rounds; i++) MPI_Barrier(WORLD);
    return;
  }
  char* buffer = allocate((size_t)bytes);
  MPI_Request request;
  if (rank == 0) {
    init(buffer, bytes, MPI_BYTE, 1, 3, WORLD, &request);
  } else {
    MPI_Recv_init(buffer, bytes, MPI_BYTE, 0, 3, WORLD, &request);
  }
  for (int i = 0; i < rounds; i++) {
    MPI_Status status;
    if (rank == 1) MPI_Start(&request);
    MPI_Barrier(WORLD);
    if (rank == 0) {
      fill(buffer, (size_t)bytes, (unsigned)i);
      MPI_Start(&request);
    }
    MPI_Wait(&request, &status);
    EXPECT(request != MPI_REQUEST_NULL, "a persistent request became null by MPI_Wait");
    if (rank == 1) {
      expect_status(&status, 0, 3, MPI_BYTE, bytes);
      expect_filled(buffer, (size_t)bytes, (unsigned)i);
    }
  }
  MPI_Request_free(&request);
  EXPECT(request == MPI_REQUEST_NULL, "the request is not null after MPI_Request_free");
  free(buffer);
}

static void send_init_small(void) { persistent_pair(MPI_Send_init, bytes_small); }
static void send_init_large(void) { persistent_pair(MPI_Send_init, bytes_large); }
static void ssend_init_small(void) { persistent_pair(MPI_Ssend_init, bytes_small); }
static void ssend_init_large(void) { persistent_pair(MPI_Ssend_init, bytes_large); }
static void rsend_init_small(void) { persistent_pair(MPI_Rsend_init, bytes_small); }
static void rsend_init_large(void) { persistent_pair(MPI_Rsend_init, bytes_large); }

// Small messages only: Open MPI 4.1.4 sends stale data when a large persistent buffered send is started again.
static void bsend_init(void) {
  int length = rounds * (bytes_small + MPI_BSEND_OVERHEAD);
  void* attached = allocate((size_t)length);
  MPI_Buffer_attach(attached, length);
  persistent_pair(MPI_Bsend_init, bytes_small);
  MPI_Buffer_detach(&attached, &length);
  free(attached);
}

static void startall_of_a_ring(void) {
  MPI_Request requests[2];
  int out = 0, in = -1;
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  MPI_Send_init(&out, 1, MPI_INT, next, 0, WORLD, &requests[0]);
  MPI_Recv_init(&in, 1, MPI_INT, previous, 0, WORLD, &requests[1]);
  for (int i = 0; i < 50; i++) {
    out = rank * 100 + i;
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    EXPECT_EQ(in, previous * 100 + i);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

static void inactive_requests_are_complete_and_empty(void) {
  MPI_Request requests[2];
  MPI_Status status, statuses[2];
  int byte = 0, flag = 0, index = -1;
  MPI_Send_init(&byte, 1, MPI_INT, 0, 0, WORLD, &requests[0]);
  MPI_Recv_init(&byte, 1, MPI_INT, 0, 0, WORLD, &requests[1]);
  MPI_Wait(&requests[0], &status);
  expect_empty(&status);
  MPI_Test(&requests[1], &flag, &status);
  EXPECT_EQ(flag, 1);
  expect_empty(&status);
  MPI_Waitall(2, requests, statuses);
  expect_empty(&statuses[0]);
  MPI_Waitany(2, requests, &index, &status);
  EXPECT_EQ(index, MPI_UNDEFINED);
  expect_empty(&status);
  MPI_Testany(2, requests, &index, &flag, &status);
  EXPECT_EQ(flag, 1);
  EXPECT_EQ(index, MPI_UNDEFINED);
  int count = -1, indices[2];
  MPI_Waitsome(2, requests, &count, indices, statuses);
  EXPECT_EQ(count, MPI_UNDEFINED);
  flag = 0;
  MPI_Request_get_status(requests[0], &flag, &status);
  EXPECT_EQ(flag, 1);
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

static void freeing_an_active_persistent_send_still_sends(void) {
  static char buffer[100000];
  if (rank == 0) {
    MPI_Request request;
    fill(buffer, sizeof buffer, 6);
    MPI_Send_init(buffer, sizeof buffer, MPI_BYTE, 1, 0, WORLD, &request);
    MPI_Start(&request);
    MPI_Request_free(&request);
    MPI_Recv(NULL, 0, MPI_BYTE, 1, 1, WORLD, IGNORE);
  } else if (rank == 1) {
    be_late();
    MPI_Recv(buffer, sizeof buffer, MPI_BYTE, 0, 0, WORLD, IGNORE);
    expect_filled(buffer, sizeof buffer, 6);
    MPI_Send(NULL, 0, MPI_BYTE, 0, 1, WORLD);
  }
}

static void persistent_receive_from_any_source(void) {
  if (rank == 0) {
    MPI_Request request;
    int value, seen = 0;
    MPI_Recv_init(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &request);
    for (int i = 1; i < size; i++) {
      MPI_Status status;
      MPI_Start(&request);
      MPI_Wait(&request, &status);
      EXPECT_EQ(value, status.MPI_SOURCE * 10);
      EXPECT_EQ(status.MPI_TAG, status.MPI_SOURCE);
      seen += value;
    }
    note("%d", seen);
    MPI_Request_free(&request);
  } else {
    const int value = rank * 10;
    MPI_Send(&value, 1, MPI_INT, 0, rank, WORLD);
  }
}

// The requests keep what they need of it.
static void persistent_in_a_freed_communicator(void) {
  MPI_Comm own, next;
  MPI_Comm_dup(WORLD, &own);
  MPI_Request requests[2];
  static char sent[bytes_large], got[bytes_large];
  MPI_Recv_init(got, bytes_large, MPI_BYTE, (rank + size - 1) % size, 3, own, &requests[0]);
  MPI_Send_init(sent, bytes_large, MPI_BYTE, (rank + 1) % size, 3, own, &requests[1]);
  MPI_Comm_free(&own);
  MPI_Comm_dup(WORLD, &next);
  for (unsigned round = 0; round < 4; round++) {
    fill(sent, sizeof sent, (unsigned)rank + round);
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    expect_filled(got, sizeof got, (unsigned)((rank + size - 1) % size) + round);
    MPI_Barrier(next);
  }
  for (int i = 0; i < 2; i++) MPI_Request_free(&requests[i]);
  MPI_Comm_free(&next);
}

static void persistent_to_and_from_proc_null(void) {
  MPI_Request requests[2];
  MPI_Status statuses[2];
  int value = 4;
  MPI_Send_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, WORLD, &requests[0]);
  MPI_Recv_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, WORLD, &requests[1]);
  for (int i = 0; i < 3; i++) {
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, statuses);
    expect_status(&statuses[1], MPI_PROC_NULL, MPI_ANY_TAG, MPI_INT, 0);
  }
  EXPECT_EQ(value, 4);
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

static void persistent_late_sender_reusing_one_buffer(void) {
  enum { times = 12, bytes = 1000000 };
  if (rank >= 2) return;
  char* buffer = allocate(bytes);
  MPI_Request request;
  if (rank == 0) MPI_Send_init(buffer, bytes, MPI_BYTE, 1, 0, WORLD, &request);
  if (rank == 1) MPI_Recv_init(buffer, bytes, MPI_BYTE, 0, 0, WORLD, &request);
  for (int i = 0; i < times; i++) {
    if (rank == 0) {
      be_late();
      fill(buffer, bytes, (unsigned)i);
    }
    MPI_Start(&request);
    MPI_Wait(&request, IGNORE);
    if (rank == 1 && i % 3 != 2) expect_filled(buffer, bytes, (unsigned)i);  // every third is overwritten unread
  }
  MPI_Request_free(&request);
  free(buffer);
}

static void persistent_requests_complete_in_waitany_and_testsome(void) {
  enum { n = 6 };
  MPI_Request requests[n];
  int values[n], left = n;
  if (rank == 0) {
    for (int i = 0; i < n; i++) {
      MPI_Recv_init(&values[i], 1, MPI_INT, 1, i, WORLD, &requests[i]);
      MPI_Start(&requests[i]);
    }
    int index;
    MPI_Waitany(n, requests, &index, IGNORE);
    left--;
    while (left > 0) {
      int count, indices[n];
      MPI_Testsome(n, requests, &count, indices, MPI_STATUSES_IGNORE);
      EXPECT(count != MPI_UNDEFINED, "active requests are left, and MPI_Testsome says there are none");
      left -= count;
    }
    MPI_Waitany(n, requests, &index, IGNORE);
    EXPECT_EQ(index, MPI_UNDEFINED);
    for (int i = 0; i < n; i++) {
      EXPECT_EQ(values[i], i * i);
      MPI_Request_free(&requests[i]);
    }
  } else if (rank == 1) {
    for (int i = n - 1; i >= 0; i--) {
      const int value = i * i;
      MPI_Send(&value, 1, MPI_INT, 0, i, WORLD);
    }
  }
}

static const Case cases[] = {CASE(send_init_small, 2),
                             CASE(send_init_large, 2),
                             CASE(ssend_init_small, 2),
                             CASE(ssend_init_large, 2),
                             CASE(rsend_init_small, 2),
                             CASE(rsend_init_large, 2),
                             CASE(bsend_init, 2),
                             CASE(startall_of_a_ring, 1),
                             CASE(inactive_requests_are_complete_and_empty, 1),
                             CASE(freeing_an_active_persistent_send_still_sends, 2),
                             CASE(persistent_receive_from_any_source, 2),
                             CASE(persistent_to_and_from_proc_null, 1),
                             CASE(persistent_in_a_freed_communicator, 2),
                             CASE(persistent_late_sender_reusing_one_buffer, 2),
                             CASE(persistent_requests_complete_in_waitany_and_testsome, 2)};
SUITE(cases)
