// Cancelling: receives that nothing matched are cancelled, receives that were matched are not.
#include "suite.h"

static void expect_cancelled(MPI_Status* status, int wanted) {
  int cancelled = -1;
  MPI_Test_cancelled(status, &cancelled);
  EXPECT_EQ(cancelled, wanted);
}

static void cancel_an_unmatched_receive(int bytes) {
  char* buffer = allocate((size_t)bytes);
  memset(buffer, 0x5a, (size_t)bytes);
  MPI_Request request;
  MPI_Status status;
  MPI_Irecv(buffer, bytes, MPI_BYTE, rank, 55, WORLD, &request);
  MPI_Cancel(&request);
  EXPECT(request != MPI_REQUEST_NULL, "MPI_Cancel freed the request");
  MPI_Wait(&request, &status);
  EXPECT(request == MPI_REQUEST_NULL, "the request is not null after MPI_Wait");
  expect_cancelled(&status, 1);
  expect_all(buffer, (size_t)bytes, 0x5a);
  free(buffer);
}

static void cancel_a_small_receive(void) { cancel_an_unmatched_receive(16); }
static void cancel_a_large_receive(void) { cancel_an_unmatched_receive(1000000); }

static void cancelled_receive_completes_in_test_and_waitall(void) {
  int values[3] = {0};
  MPI_Request requests[3];
  MPI_Status statuses[3];
  for (int i = 0; i < 3; i++) MPI_Irecv(&values[i], 1, MPI_INT, rank, i, WORLD, &requests[i]);
  MPI_Send(&rank, 1, MPI_INT, rank, 1, WORLD);
  MPI_Cancel(&requests[0]);
  MPI_Cancel(&requests[2]);
  MPI_Waitall(3, requests, statuses);
  expect_cancelled(&statuses[0], 1);
  expect_cancelled(&statuses[1], 0);
  expect_cancelled(&statuses[2], 1);
  EXPECT_EQ(values[1], rank);

  MPI_Request request;
  int done = 0;
  MPI_Irecv(values, 1, MPI_INT, rank, 3, WORLD, &request);
  MPI_Cancel(&request);
  while (!done) MPI_Test(&request, &done, statuses);
  expect_cancelled(statuses, 1);
}

static void a_matched_receive_is_not_cancelled(void) {
  int value = 0;
  MPI_Request request;
  MPI_Status status;
  MPI_Irecv(&value, 1, MPI_INT, rank, 7, WORLD, &request);
  const int seven = 7;
  MPI_Send(&seven, 1, MPI_INT, rank, 7, WORLD);
  int done = 0;
  while (!done) MPI_Request_get_status(request, &done, IGNORE);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  expect_cancelled(&status, 0);
  expect_status(&status, rank, 7, MPI_INT, 1);
  EXPECT_EQ(value, 7);
}

// The message that a cancelled receive would have taken goes to the next receive.
static void cancelled_receive_leaves_the_message_to_the_next(void) {
  int value = 0, other = -1;
  if (rank == 0) {
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(&other, 1, MPI_INT, 1, 4, WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    expect_cancelled(&status, 1);
    MPI_Send(NULL, 0, MPI_BYTE, 1, 0, WORLD);
    MPI_Recv(&value, 1, MPI_INT, 1, 4, WORLD, IGNORE);
    EXPECT_EQ(value, 44);
    EXPECT_EQ(other, -1);
  } else if (rank == 1) {
    MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, WORLD, IGNORE);
    value = 44;
    MPI_Send(&value, 1, MPI_INT, 0, 4, WORLD);
  }
}

static void cancelled_persistent_receive_can_be_started_again(void) {
  int value = 0;
  MPI_Request request;
  MPI_Status status;
  MPI_Recv_init(&value, 1, MPI_INT, rank, 9, WORLD, &request);
  for (int i = 1; i <= 3; i++) {
    MPI_Start(&request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    expect_cancelled(&status, 1);
    MPI_Start(&request);
    MPI_Send(&i, 1, MPI_INT, rank, 9, WORLD);
    MPI_Wait(&request, &status);
    expect_cancelled(&status, 0);
    EXPECT_EQ(value, i);
  }
  MPI_Request_free(&request);
}

static void cancel_one_of_several_equal_receives(void) {
  int values[3] = {-1, -1, -1};
  MPI_Request requests[3];
  MPI_Status status;
  for (int i = 0; i < 3; i++) MPI_Irecv(&values[i], 1, MPI_INT, rank, 2, WORLD, &requests[i]);
  MPI_Cancel(&requests[1]);
  MPI_Wait(&requests[1], &status);
  expect_cancelled(&status, 1);
  for (int i = 10; i < 12; i++) MPI_Send(&i, 1, MPI_INT, rank, 2, WORLD);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  EXPECT_EQ(values[0], 10);
  EXPECT_EQ(values[1], -1);
  EXPECT_EQ(values[2], 11);
}

static void cancel_and_free(void) {
  for (int i = 0; i < 100; i++) {
    int value = 0;
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_INT, rank, 1000 + i, WORLD, &request);
    MPI_Cancel(&request);
    MPI_Request_free(&request);
  }
  MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 1000, WORLD);  // no freed receive may take it
  int value = -1;
  MPI_Recv(&value, 1, MPI_INT, (rank + size - 1) % size, 1000, WORLD, IGNORE);
  EXPECT_EQ(value, (rank + size - 1) % size);
}

static void status_set_cancelled_by_hand(void) {
  MPI_Status status;
  memset(&status, 0, sizeof status);
  MPI_Status_set_cancelled(&status, 1);
  expect_cancelled(&status, 1);
  MPI_Status_set_cancelled(&status, 0);
  expect_cancelled(&status, 0);
}

static const Case cases[] = {CASE(cancel_a_small_receive, 1),
                             CASE(cancel_a_large_receive, 1),
                             CASE(cancelled_receive_completes_in_test_and_waitall, 1),
                             CASE(a_matched_receive_is_not_cancelled, 1),
                             CASE(cancelled_receive_leaves_the_message_to_the_next, 2),
                             CASE(cancelled_persistent_receive_can_be_started_again, 1),
                             CASE(cancel_one_of_several_equal_receives, 1),
                             CASE(cancel_and_free, 1),
                             CASE(status_set_cancelled_by_hand, 1)};
SUITE(cases)
