// MPI_ANY_SOURCE and MPI_ANY_TAG, blocking and not, small and large, on time and late.
#include "suite.h"

static void everybody_sends_to_zero(int bytes, int tag_base, int source, int tag, int late) {
  char* buffer = allocate((size_t)bytes);
  if (rank == 0) {
    int seen[64] = {0};
    uint64_t sum = 0;
    for (int i = 1; i < size; i++) {
      MPI_Status status;
      const int from = source == MPI_ANY_SOURCE ? source : i;
      MPI_Recv(buffer, bytes, MPI_BYTE, from, tag == MPI_ANY_TAG ? tag : tag_base, WORLD, &status);
      const int sender = status.MPI_SOURCE;
      EXPECT(sender > 0 && sender < size && !seen[sender], "source %d again or out of range", sender);
      seen[sender] = 1;
      EXPECT_EQ(status.MPI_TAG, tag == MPI_ANY_TAG ? tag_base + sender : tag_base);
      int count;
      MPI_Get_count(&status, MPI_BYTE, &count);
      EXPECT_EQ(count, bytes);
      expect_filled(buffer, (size_t)bytes, (unsigned)sender);
      sum += digest_of(buffer, (size_t)bytes);
    }
    note("%016llx", (unsigned long long)sum);
  } else {
    fill(buffer, (size_t)bytes, (unsigned)rank);
    if (late) be_late();
    MPI_Send(buffer, bytes, MPI_BYTE, 0, tag == MPI_ANY_TAG ? tag_base + rank : tag_base, WORLD);
  }
  free(buffer);
}

static void any_source_small(void) { everybody_sends_to_zero(100, 5, MPI_ANY_SOURCE, 5, 0); }
static void any_source_large(void) { everybody_sends_to_zero(400000, 5, MPI_ANY_SOURCE, 5, 0); }
static void any_source_large_late(void) { everybody_sends_to_zero(400000, 5, MPI_ANY_SOURCE, 5, 1); }
static void any_tag_small(void) { everybody_sends_to_zero(100, 10, 0, MPI_ANY_TAG, 0); }
static void any_tag_large_late(void) { everybody_sends_to_zero(700000, 10, 0, MPI_ANY_TAG, 1); }
static void any_source_and_tag(void) { everybody_sends_to_zero(3000, 10, MPI_ANY_SOURCE, MPI_ANY_TAG, 0); }
static void any_source_and_tag_large_late(void) { everybody_sends_to_zero(900000, 10, MPI_ANY_SOURCE, MPI_ANY_TAG, 1); }

// Messages of one sender arrive in its order, whatever the receiver leaves open.
static void any_source_keeps_each_senders_order(void) {
  enum { messages = 100 };
  if (rank == 0) {
    int next[64] = {0};
    for (int i = 0; i < messages * (size - 1); i++) {
      int value[3000];
      MPI_Status status;
      MPI_Recv(value, 3000, MPI_INT, MPI_ANY_SOURCE, 1, WORLD, &status);
      EXPECT_EQ(value[0], next[status.MPI_SOURCE]);
      next[status.MPI_SOURCE]++;
    }
  } else {
    for (int i = 0; i < messages; i++) {
      int value[3000] = {i};
      MPI_Send(value, i % 7 == 3 ? 3000 : 1 + i % 5, MPI_INT, 0, 1, WORLD);  // some by rendezvous
    }
  }
}

// Posted order decides: the first posted receive that matches takes the message.
static void wildcard_posted_before_specific_takes_the_first(void) {
  int first = 0, second = 0;
  if (rank == 0) {
    MPI_Request requests[2];
    MPI_Irecv(&first, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &requests[0]);
    MPI_Irecv(&second, 1, MPI_INT, 1, 4, WORLD, &requests[1]);
    MPI_Send(NULL, 0, MPI_BYTE, 1, 0, WORLD);
    MPI_Status statuses[2];
    MPI_Waitall(2, requests, statuses);
    expect_status(&statuses[0], 1, 4, MPI_INT, 1);
    EXPECT_EQ(first, 100);
    EXPECT_EQ(second, 200);
  } else if (rank == 1) {
    MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, WORLD, IGNORE);
    first = 100, second = 200;
    MPI_Send(&first, 1, MPI_INT, 0, 4, WORLD);
    MPI_Send(&second, 1, MPI_INT, 0, 4, WORLD);
  }
}

static void specific_posted_before_wildcard_is_not_starved(void) {
  int specific = 0, open = 0;
  if (rank == 0) {
    MPI_Request requests[2];
    MPI_Irecv(&specific, 1, MPI_INT, 1, 4, WORLD, &requests[0]);
    MPI_Irecv(&open, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &requests[1]);
    MPI_Send(NULL, 0, MPI_BYTE, 1, 0, WORLD);
    MPI_Status statuses[2];
    MPI_Waitall(2, requests, statuses);
    expect_status(&statuses[1], 1, 3, MPI_INT, 1);
    EXPECT_EQ(specific, 40);
    EXPECT_EQ(open, 30);
  } else if (rank == 1) {
    MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, WORLD, IGNORE);
    const int three = 30, four = 40;
    MPI_Send(&three, 1, MPI_INT, 0, 3, WORLD);
    MPI_Send(&four, 1, MPI_INT, 0, 4, WORLD);
  }
}

static void any_tag_takes_unexpected_messages_in_order(void) {
  if (rank == 1) {
    for (int i = 0; i < 20; i++) MPI_Send(&i, 1, MPI_INT, 0, 50 - i, WORLD);
  }
  MPI_Barrier(WORLD);
  for (int i = 0; i < 20 && rank == 0; i++) {
    int value;
    MPI_Status status;
    MPI_Recv(&value, 1, MPI_INT, 1, MPI_ANY_TAG, WORLD, &status);
    EXPECT_EQ(value, i);
    expect_status(&status, 1, 50 - i, MPI_INT, 1);
  }
}

static void wildcards_do_not_see_other_communicators(void) {
  MPI_Comm other;
  MPI_Comm_dup(WORLD, &other);
  if (rank == 1) {
    int value = 1;
    MPI_Send(&value, 1, MPI_INT, 0, 1, other);
    value = 2;
    MPI_Send(&value, 1, MPI_INT, 0, 2, WORLD);
  } else if (rank == 0) {
    int value;
    MPI_Status status;
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &status);
    EXPECT_EQ(value, 2);
    expect_status(&status, 1, 2, MPI_INT, 1);
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, other, &status);
    EXPECT_EQ(value, 1);
  }
  MPI_Comm_free(&other);
}

// As many open receives as messages, completed by Waitany; each message once.
static void many_open_receives_and_waitany(void) {
  enum { each = 20 };
  const int total = each * (size - 1);
  if (rank == 0) {
    int* values = allocate((size_t)total * sizeof(int));
    MPI_Request* requests = allocate((size_t)total * sizeof(MPI_Request));
    long sum = 0;
    for (int i = 0; i < total; i++) {
      MPI_Irecv(&values[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &requests[i]);
    }
    for (int i = 0; i < total; i++) {
      int index;
      MPI_Status status;
      MPI_Waitany(total, requests, &index, &status);
      EXPECT_EQ(values[index], status.MPI_SOURCE * 1000 + status.MPI_TAG);
      sum += values[index];
    }
    note("%ld", sum);
    free(requests);
    free(values);
  } else {
    for (int i = 0; i < each; i++) {
      const int value = rank * 1000 + i;
      MPI_Send(&value, 1, MPI_INT, 0, i, WORLD);
    }
  }
}

static const Case cases[] = {CASE(any_source_small, 2),
                             CASE(any_source_large, 2),
                             CASE(any_source_large_late, 2),
                             CASE(any_tag_small, 2),
                             CASE(any_tag_large_late, 2),
                             CASE(any_source_and_tag, 2),
                             CASE(any_source_and_tag_large_late, 2),
                             CASE(any_source_keeps_each_senders_order, 2),
                             CASE(wildcard_posted_before_specific_takes_the_first, 2),
                             CASE(specific_posted_before_wildcard_is_not_starved, 2),
                             CASE(any_tag_takes_unexpected_messages_in_order, 2),
                             CASE(wildcards_do_not_see_other_communicators, 2),
                             CASE(many_open_receives_and_waitany, 2)};
SUITE(cases)
