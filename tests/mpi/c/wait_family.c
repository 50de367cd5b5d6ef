// Wait, Test and their families; null requests, inactive ones, statuses, Request_free, Request_get_status.
#include "suite.h"

enum { n = 8 };

static int bytes_of(int i) { return i % 2 ? 150000 + i : 40 + i; }

// Rank 1 sends n messages, tag i, some eager and some not, in reverse order; rank 0 posts receives for all.
typedef struct {
  char* buffers[n];
  MPI_Request requests[n];
} Exchange;

static Exchange begin_exchange(void) {
  Exchange exchange;
  for (int i = 0; i < n; i++) {
    exchange.buffers[i] = allocate((size_t)bytes_of(i));
    exchange.requests[i] = MPI_REQUEST_NULL;
    if (rank == 0) {
      MPI_Irecv(exchange.buffers[i], bytes_of(i), MPI_BYTE, 1, i, WORLD, &exchange.requests[i]);
    }
  }
  for (int i = n - 1; i >= 0 && rank == 1; i--) {
    fill(exchange.buffers[i], (size_t)bytes_of(i), (unsigned)i);
    MPI_Isend(exchange.buffers[i], bytes_of(i), MPI_BYTE, 0, i, WORLD, &exchange.requests[i]);
  }
  return exchange;
}

static void check_one(Exchange* exchange, int i, MPI_Status* status) {
  EXPECT_EQ(status->MPI_SOURCE, 1);
  EXPECT_EQ(status->MPI_TAG, i);
  int count;
  MPI_Get_count(status, MPI_BYTE, &count);
  EXPECT_EQ(count, bytes_of(i));
  EXPECT(exchange->requests[i] == MPI_REQUEST_NULL, "completed request %d is not null", i);
  expect_filled(exchange->buffers[i], (size_t)bytes_of(i), (unsigned)i);
}

static void end_exchange(Exchange* exchange) {
  if (rank == 1) MPI_Waitall(n, exchange->requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < n; i++) free(exchange->buffers[i]);
}

static void wait_each(void) {
  Exchange exchange = begin_exchange();
  for (int i = 0; i < n && rank == 0; i++) {
    MPI_Status status;
    MPI_Wait(&exchange.requests[i], &status);
    check_one(&exchange, i, &status);
  }
  end_exchange(&exchange);
}

static void test_each(void) {
  Exchange exchange = begin_exchange();
  for (int i = 0; i < n && rank == 0; i++) {
    MPI_Status status;
    int done = 0;
    while (!done) MPI_Test(&exchange.requests[i], &done, &status);
    check_one(&exchange, i, &status);
  }
  end_exchange(&exchange);
}

static void waitall_fills_statuses(void) {
  Exchange exchange = begin_exchange();
  if (rank == 0) {
    MPI_Status statuses[n];
    MPI_Waitall(n, exchange.requests, statuses);
    for (int i = 0; i < n; i++) check_one(&exchange, i, &statuses[i]);
  }
  end_exchange(&exchange);
}

static void waitall_ignoring_statuses(void) {
  Exchange exchange = begin_exchange();
  if (rank == 0) {
    MPI_Waitall(n, exchange.requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++) expect_filled(exchange.buffers[i], (size_t)bytes_of(i), (unsigned)i);
  }
  end_exchange(&exchange);
}

static void testall_completes_all_or_none(void) {
  Exchange exchange = begin_exchange();
  if (rank == 0) {
    MPI_Status statuses[n];
    int done = 0;
    while (!done) {
      MPI_Testall(n, exchange.requests, &done, statuses);
      for (int i = 0; i < n && !done; i++) {
        EXPECT(exchange.requests[i] != MPI_REQUEST_NULL, "MPI_Testall said no but completed request %d", i);
      }
    }
    for (int i = 0; i < n; i++) check_one(&exchange, i, &statuses[i]);
  }
  end_exchange(&exchange);
}

static void waitany_gives_each_once(void) {
  Exchange exchange = begin_exchange();
  if (rank == 0) {
    int seen = 0, index;
    for (int i = 0; i < n; i++) {
      MPI_Status status;
      MPI_Waitany(n, exchange.requests, &index, &status);
      EXPECT(index >= 0 && index < n && !(seen & 1 << index), "index %d again or out of range", index);
      seen |= 1 << index;
      check_one(&exchange, index, &status);
    }
    MPI_Waitany(n, exchange.requests, &index, IGNORE);
    EXPECT_EQ(index, MPI_UNDEFINED);
  }
  end_exchange(&exchange);
}

static void testany_gives_each_once(void) {
  Exchange exchange = begin_exchange();
  if (rank == 0) {
    for (int left = n; left > 0;) {
      MPI_Status status;
      int index = -9, done = 0;
      MPI_Testany(n, exchange.requests, &index, &done, &status);
      if (!done) {
        EXPECT_EQ(index, MPI_UNDEFINED);
        continue;
      }
      check_one(&exchange, index, &status);
      left--;
    }
  }
  end_exchange(&exchange);
}

static void collect_some(int (*some)(int, MPI_Request*, int*, int*, MPI_Status*)) {
  Exchange exchange = begin_exchange();
  if (rank == 0) {
    MPI_Status statuses[n];
    int indices[n], count, left = n;
    while (left > 0) {
      some(n, exchange.requests, &count, indices, statuses);
      for (int i = 0; i < count; i++) check_one(&exchange, indices[i], &statuses[i]);
      left -= count;
    }
    EXPECT_EQ(left, 0);
    some(n, exchange.requests, &count, indices, statuses);
    EXPECT_EQ(count, MPI_UNDEFINED);
  }
  end_exchange(&exchange);
}

static void waitsome_gives_each_once(void) { collect_some(MPI_Waitsome); }
static void testsome_gives_each_once(void) { collect_some(MPI_Testsome); }

static void null_requests_give_empty_statuses(void) {
  MPI_Request null = MPI_REQUEST_NULL, nulls[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status status, statuses[3];
  int flag = 0, index = 0, count = 0, indices[3];
  MPI_Wait(&null, &status);
  expect_empty(&status);
  MPI_Test(&null, &flag, &status);
  EXPECT_EQ(flag, 1);
  expect_empty(&status);
  MPI_Waitall(3, nulls, statuses);
  for (int i = 0; i < 3; i++) expect_empty(&statuses[i]);
  flag = 0;
  MPI_Testall(3, nulls, &flag, statuses);
  EXPECT_EQ(flag, 1);
  MPI_Waitany(3, nulls, &index, &status);
  EXPECT_EQ(index, MPI_UNDEFINED);
  expect_empty(&status);
  MPI_Testany(3, nulls, &index, &flag, &status);
  EXPECT_EQ(index, MPI_UNDEFINED);
  EXPECT_EQ(flag, 1);
  MPI_Waitsome(3, nulls, &count, indices, statuses);
  EXPECT_EQ(count, MPI_UNDEFINED);
  MPI_Testsome(3, nulls, &count, indices, statuses);
  EXPECT_EQ(count, MPI_UNDEFINED);
}

static void empty_arrays(void) {
  int flag = 0, index = 0, count = 0;
  MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
  MPI_Testall(0, NULL, &flag, MPI_STATUSES_IGNORE);
  EXPECT_EQ(flag, 1);
  MPI_Waitany(0, NULL, &index, IGNORE);
  EXPECT_EQ(index, MPI_UNDEFINED);
  MPI_Testany(0, NULL, &index, &flag, IGNORE);
  EXPECT_EQ(index, MPI_UNDEFINED);
  MPI_Waitsome(0, NULL, &count, NULL, MPI_STATUSES_IGNORE);
  EXPECT_EQ(count, MPI_UNDEFINED);
}

static void null_requests_between_others(void) {
  Exchange exchange = begin_exchange();
  if (rank == 0) {
    MPI_Request spread[2 * n];
    MPI_Status statuses[2 * n];
    for (int i = 0; i < n; i++) {
      spread[2 * i] = MPI_REQUEST_NULL;
      spread[2 * i + 1] = exchange.requests[i];
      exchange.requests[i] = MPI_REQUEST_NULL;
    }
    MPI_Waitall(2 * n, spread, statuses);
    for (int i = 0; i < n; i++) {
      expect_empty(&statuses[2 * i]);
      check_one(&exchange, i, &statuses[2 * i + 1]);
    }
  }
  end_exchange(&exchange);
}

static void get_status_does_not_free(void) {
  Exchange exchange = begin_exchange();
  for (int i = 0; i < n && rank == 0; i++) {
    MPI_Status status;
    int done = 0;
    while (!done) MPI_Request_get_status(exchange.requests[i], &done, &status);
    expect_status(&status, 1, i, MPI_BYTE, bytes_of(i));
    EXPECT(exchange.requests[i] != MPI_REQUEST_NULL, "MPI_Request_get_status freed request %d", i);
    expect_filled(exchange.buffers[i], (size_t)bytes_of(i), (unsigned)i);
    MPI_Wait(&exchange.requests[i], &status);
    check_one(&exchange, i, &status);
  }
  end_exchange(&exchange);
}

static void test_says_no_before_the_message_was_sent(void) {
  int value = 0, done = 0;
  if (rank == 0) {
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_INT, 1, 0, WORLD, &request);
    for (int i = 0; i < 100; i++) {
      MPI_Test(&request, &done, IGNORE);
      EXPECT_EQ(done, 0);
      MPI_Request_get_status(request, &done, IGNORE);
      EXPECT_EQ(done, 0);
    }
    MPI_Send(&value, 1, MPI_INT, 1, 0, WORLD);
    MPI_Wait(&request, IGNORE);
    EXPECT_EQ(value, 1);
  } else if (rank == 1) {
    MPI_Recv(&value, 1, MPI_INT, 0, 0, WORLD, IGNORE);
    value = 1;
    MPI_Send(&value, 1, MPI_INT, 0, 0, WORLD);
  }
}

enum { PATIENCE_SECONDS = 20 };

static void freed_requests_finish_in_the_background(void) {
  static char buffer[200000];
  MPI_Request request;
  if (rank == 0) {
    fill(buffer, sizeof buffer, 2);
    MPI_Isend(buffer, sizeof buffer, MPI_BYTE, 1, 0, WORLD, &request);
    MPI_Request_free(&request);
    EXPECT(request == MPI_REQUEST_NULL, "the request is not null after MPI_Request_free");
    MPI_Recv(NULL, 0, MPI_BYTE, 1, 1, WORLD, IGNORE);
  } else if (rank == 1) {
    MPI_Irecv(buffer, sizeof buffer, MPI_BYTE, 0, 0, WORLD, &request);
    MPI_Request_free(&request);
    // Nothing tells that a freed receive is complete, so look. Not at single bytes: they may be anything until then. And not by
    // memcmp, which reads what differs twice, and finds it equal if it has come meanwhile.
    for (const double began = MPI_Wtime();
         first_difference(buffer, 0, sizeof buffer, 2) < sizeof buffer && MPI_Wtime() - began < PATIENCE_SECONDS;) {
      int there;
      MPI_Iprobe(MPI_ANY_SOURCE, 99, WORLD, &there, IGNORE);
    }
    expect_filled(buffer, sizeof buffer, 2);
    MPI_Send(NULL, 0, MPI_BYTE, 0, 1, WORLD);
  }
}

static void completed_send_has_a_request_that_can_be_waited_for(void) {
  if (rank >= 2) return;
  MPI_Request request;
  MPI_Status status;
  int value = rank, flag;
  MPI_Isend(&value, 1, MPI_INT, 1 - rank, 0, WORLD, &request);
  int other;
  MPI_Recv(&other, 1, MPI_INT, 1 - rank, 0, WORLD, IGNORE);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &flag);
  EXPECT_EQ(flag, 0);
  EXPECT_EQ(other, 1 - rank);
}

static const Case cases[] = {CASE(wait_each, 2),
                             CASE(test_each, 2),
                             CASE(waitall_fills_statuses, 2),
                             CASE(waitall_ignoring_statuses, 2),
                             CASE(testall_completes_all_or_none, 2),
                             CASE(waitany_gives_each_once, 2),
                             CASE(testany_gives_each_once, 2),
                             CASE(waitsome_gives_each_once, 2),
                             CASE(testsome_gives_each_once, 2),
                             CASE(null_requests_give_empty_statuses, 1),
                             CASE(empty_arrays, 1),
                             CASE(null_requests_between_others, 2),
                             CASE(get_status_does_not_free, 2),
                             CASE(test_says_no_before_the_message_was_sent, 2),
                             CASE(freed_requests_finish_in_the_background, 2),
                             CASE(completed_send_has_a_request_that_can_be_waited_for, 2)};
SUITE(cases)
