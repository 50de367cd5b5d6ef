// Arrays of requests that are polled again and again, while requests in them are completed, freed, started and replaced by other
// calls, or by calls over other arrays that share some of them. Each rank sends to itself, so that nothing comes by itself.
#include "suite.h"

enum { max_count = 300 };

static MPI_Request requests[max_count];
static int values[max_count], indices[max_count];
static MPI_Status statuses[max_count];

static void post(int i) { MPI_Irecv(&values[i], 1, MPI_INT, rank, i, WORLD, &requests[i]); }
static void send(int i, int value) { MPI_Send(&value, 1, MPI_INT, rank, i, WORLD); }

static void post_all(int count) {
  for (int i = 0; i < count; i++) {
    values[i] = -1;
    post(i);
  }
}

static int poll_some(int count) {
  int completed = -7;
  MPI_Testsome(count, requests, &completed, indices, statuses);
  return completed;
}

static void expect_nothing(int count) {
  int flag = -1, index = -1;
  EXPECT_EQ(poll_some(count), 0);
  MPI_Testany(count, requests, &index, &flag, statuses);
  EXPECT_EQ(flag, 0);
  EXPECT_EQ(index, MPI_UNDEFINED);
  MPI_Testall(count, requests, &flag, statuses);
  EXPECT_EQ(flag, 0);
}

// Each comes once, with its own value and status, and leaves a null request.
static void take_some(int count, int offset, char* seen) {
  const int completed = poll_some(count);
  EXPECT(completed != MPI_UNDEFINED, "nothing is active");
  for (int k = 0; k < completed; k++) {
    const int i = indices[k];
    EXPECT_EQ(seen[i]++, 0);
    EXPECT_EQ(values[i], offset + i);
    EXPECT_EQ(statuses[k].MPI_TAG, i);
    EXPECT_EQ(statuses[k].MPI_SOURCE, rank);
    EXPECT(requests[i] == MPI_REQUEST_NULL, "request %d is left", i);
  }
}

static int is_drained(int count) {
  for (int i = 0; i < count; i++) {
    if (requests[i] != MPI_REQUEST_NULL) return 0;
  }
  return 1;
}

static void some_come_at_a_time(void) {
  static const int counts[] = {1, 2, 7, 8, 9, 64, 65, max_count};
  for (unsigned c = 0; c < sizeof counts / sizeof counts[0]; c++) {
    const int count = counts[c];
    for (int round = 0; round < 3; round++) {
      char seen[max_count] = {0};
      post_all(count);
      MPI_Barrier(WORLD);
      expect_nothing(count);
      for (int i = count - 1; i >= 0; i--) {
        send(i, 1000 * round + i);
        if (i % 50 == 0) take_some(count, 1000 * round, seen);
      }
      while (!is_drained(count)) take_some(count, 1000 * round, seen);
      EXPECT_EQ(poll_some(count), MPI_UNDEFINED);
    }
  }
}

// The array looks as it did: the handle of a completed receive is given out again for the next one.
static void replaced_behind_its_back(void) {
  enum { count = 20 };
  post_all(count);
  MPI_Barrier(WORLD);
  expect_nothing(count);
  for (int round = 0; round < 50; round++) {
    const int i = round * 7 % count;
    MPI_Request copy = requests[i];
    send(i, round);
    MPI_Wait(&copy, IGNORE);
    EXPECT_EQ(values[i], round);
    post(i);
    MPI_Barrier(WORLD);
    expect_nothing(count);
  }
  for (int i = 0; i < count; i++) send(i, i);
  char seen[max_count] = {0};
  while (!is_drained(count)) take_some(count, 0, seen);
}

static void cancelled_and_freed(void) {
  enum { count = 12 };
  post_all(count);
  MPI_Barrier(WORLD);
  expect_nothing(count);
  MPI_Cancel(&requests[3]);
  int completed = 0, flag = 0;
  while (completed == 0) completed = poll_some(count);
  EXPECT_EQ(completed, 1);
  EXPECT_EQ(indices[0], 3);
  MPI_Test_cancelled(&statuses[0], &flag);
  EXPECT_EQ(flag, 1);
  MPI_Request_free(&requests[5]);
  expect_nothing(count);
  for (int i = 0; i < count; i++) {
    if (i != 3) send(i, i);
  }
  char seen[max_count] = {0};
  while (!is_drained(count)) take_some(count, 0, seen);
  EXPECT_EQ(seen[5], 0);
  MPI_Barrier(WORLD);
}

static void persistent_ones_started_in_between(void) {
  enum { count = 10 };
  int flag = -1, index = -1;
  for (int i = 0; i < count; i++) MPI_Recv_init(&values[i], 1, MPI_INT, rank, i, WORLD, &requests[i]);
  EXPECT_EQ(poll_some(count), MPI_UNDEFINED);
  MPI_Testall(count, requests, &flag, statuses);
  EXPECT_EQ(flag, 1);
  for (int round = 0; round < 30; round++) {
    const int i = round * 3 % count;
    MPI_Start(&requests[i]);
    MPI_Barrier(WORLD);
    expect_nothing(count);
    send(i, round);
    if (round % 3 == 0) {
      MPI_Wait(&requests[i], IGNORE);
    } else if (round % 3 == 1) {
      MPI_Waitany(count, requests, &index, IGNORE);
      EXPECT_EQ(index, i);
    } else {
      int completed = 0;
      while (completed == 0) completed = poll_some(count);
      EXPECT_EQ(completed, 1);
      EXPECT_EQ(indices[0], i);
    }
    EXPECT_EQ(values[i], round);
    EXPECT_EQ(poll_some(count), MPI_UNDEFINED);
    MPI_Testany(count, requests, &index, &flag, statuses);
    EXPECT_EQ(flag, 1);
    EXPECT_EQ(index, MPI_UNDEFINED);
  }
  for (int i = 0; i < count; i++) MPI_Request_free(&requests[i]);
}

// Windows of one array, at different places and of different lengths.
static void arrays_that_overlap(void) {
  enum { count = 60, width = 20 };
  char seen[max_count] = {0};
  post_all(count);
  MPI_Barrier(WORLD);
  for (int first = 0; first + width <= count; first += 10) {
    int completed = -1;
    MPI_Testsome(width, requests + first, &completed, indices, statuses);
    EXPECT_EQ(completed, 0);
  }
  for (int i = 0; i < count; i++) send(i, i);
  for (int first = 0; !is_drained(count); first = (first + 10) % (count - width + 1)) {
    int completed = -1;
    MPI_Testsome(width, requests + first, &completed, indices, statuses);
    for (int k = 0; completed != MPI_UNDEFINED && k < completed; k++) {
      const int i = first + indices[k];
      EXPECT_EQ(seen[i]++, 0);
      EXPECT_EQ(values[i], i);
    }
  }
}

// A copy of the array on the stack, another one each time.
static void moved_to_another_place(void) {
  enum { count = 9 };
  post_all(count);
  MPI_Barrier(WORLD);
  for (int round = 0; round < 40; round++) {
    MPI_Request* moved = allocate(sizeof requests);
    memcpy(moved, requests, sizeof requests);
    int completed = -1;
    MPI_Testsome(count - round % 3, moved, &completed, indices, statuses);
    EXPECT_EQ(completed, 0);
    free(moved);
  }
  for (int i = 0; i < count; i++) send(i, i);
  int index = -1;
  for (int left = count; left > 0; left--) {
    MPI_Waitany(count, requests, &index, statuses);
    EXPECT_EQ(values[index], index);
    EXPECT_EQ(statuses[0].MPI_TAG, index);
  }
  MPI_Waitany(count, requests, &index, statuses);
  EXPECT_EQ(index, MPI_UNDEFINED);
}

// Of which the host carries the collective calls.
static MPI_Comm host_communicator(void) {
  MPI_Comm comm;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "sluice_collectives", "off");
  MPI_Comm_dup(WORLD, &comm);
  MPI_Comm_set_info(comm, info);
  MPI_Info_free(&info);
  return comm;
}

typedef enum { test_any, test_some, test_all, wait_any, wait_some, wait_all, ways } Way;

// The only request of an array. What the call says: complete 1, open 0, nothing active -1.
static int ask(Way way, MPI_Request* request, MPI_Status* status) {
  int flag = 1, index = -7, completed = -7, place = -7;
  if (way == test_any) MPI_Testany(1, request, &index, &flag, status);
  if (way == wait_any) MPI_Waitany(1, request, &index, status);
  if (way == test_some) MPI_Testsome(1, request, &completed, &place, status);
  if (way == wait_some) MPI_Waitsome(1, request, &completed, &place, status);
  if (way == test_all) MPI_Testall(1, request, &flag, status);
  if (way == wait_all) MPI_Waitall(1, request, status);
  if (way == test_some || way == wait_some) {
    if (completed == 1) EXPECT_EQ(place, 0);
    return completed == MPI_UNDEFINED ? -1 : completed;
  }
  if (way == test_all || way == wait_all) return flag;
  if (!flag) EXPECT_EQ(index, MPI_UNDEFINED);
  if (flag && index != MPI_UNDEFINED) EXPECT_EQ(index, 0);
  return flag && index == MPI_UNDEFINED ? -1 : flag;
}

static int says_of_nothing(Way way) { return way == test_all || way == wait_all ? 1 : -1; }
static int waits(Way way) { return way >= wait_any; }

static void arrays_of_one(void) {
  MPI_Comm comm = host_communicator();
  for (Way way = 0; way < ways; way++) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status = {.MPI_TAG = 5};
    EXPECT_EQ(ask(way, &request, &status), says_of_nothing(way));
    if (way != test_some && way != wait_some) EXPECT_EQ(status.MPI_TAG, MPI_ANY_TAG);

    MPI_Recv_init(values, 1, MPI_INT, rank, 3, WORLD, &request);
    status.MPI_TAG = 5;
    EXPECT_EQ(ask(way, &request, &status), says_of_nothing(way));
    if (way != test_some && way != wait_some) EXPECT_EQ(status.MPI_TAG, MPI_ANY_TAG);
    MPI_Start(&request);
    if (!waits(way)) EXPECT_EQ(ask(way, &request, &status), 0);
    send(3, 40 + (int)way);
    while (ask(way, &request, &status) != 1) EXPECT(!waits(way), "the call has returned too early");
    EXPECT_EQ(values[0], 40 + (int)way);
    EXPECT_EQ(status.MPI_TAG, 3);
    EXPECT(request != MPI_REQUEST_NULL, "the persistent request is gone");
    EXPECT_EQ(ask(way, &request, &status), says_of_nothing(way));
    MPI_Request_free(&request);

    MPI_Irecv(values, 1, MPI_INT, MPI_PROC_NULL, 3, WORLD, &request);
    EXPECT_EQ(ask(way, &request, &status), 1);
    EXPECT_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
    EXPECT(request == MPI_REQUEST_NULL, "the request is left");

    MPI_Ibarrier(comm, &request);
    while (ask(way, &request, &status) != 1) EXPECT(!waits(way), "the call has returned too early");
    EXPECT(request == MPI_REQUEST_NULL, "the request is left");
    MPI_Barrier(WORLD);
  }
  MPI_Comm_free(&comm);
}

static void beside_requests_of_the_host(void) {
  enum { count = 70, one = 17, other = 66 };
  char seen[max_count] = {0};
  MPI_Comm comm = host_communicator();
  for (int i = 0; i < count; i++) {
    if (i != one && i != other) post(i);
  }
  MPI_Ibarrier(comm, &requests[one]);
  MPI_Ibarrier(comm, &requests[other]);
  for (int i = 0; i < count; i++) {
    if (i != one && i != other) send(i, i);
  }
  while (!is_drained(count)) {
    const int completed = poll_some(count);
    for (int k = 0; k < completed; k++) {
      EXPECT_EQ(seen[indices[k]]++, 0);
      if (indices[k] != one && indices[k] != other) EXPECT_EQ(values[indices[k]], indices[k]);
    }
  }
  MPI_Barrier(WORLD);
  MPI_Comm_free(&comm);
}

static const Case cases[] = {CASE(some_come_at_a_time, 1),         CASE(replaced_behind_its_back, 1),
                             CASE(cancelled_and_freed, 1),         CASE(persistent_ones_started_in_between, 1),
                             CASE(arrays_that_overlap, 1),         CASE(moved_to_another_place, 1),
                             CASE(beside_requests_of_the_host, 1), CASE(arrays_of_one, 1)};
SUITE(cases)
