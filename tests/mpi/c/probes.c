// Probe and Iprobe: what they tell, and that they take nothing.
#include "suite.h"

static void send_pattern(int bytes, int to, int tag, unsigned seed) {
  char* buffer = allocate((size_t)bytes);
  fill(buffer, (size_t)bytes, seed);
  MPI_Send(buffer, bytes, MPI_BYTE, to, tag, WORLD);
  free(buffer);
}

static void receive_pattern(int bytes, int from, int tag, unsigned seed) {
  char* buffer = allocate((size_t)bytes);
  MPI_Status status;
  MPI_Recv(buffer, bytes, MPI_BYTE, from, tag, WORLD, &status);
  expect_status(&status, from, tag, MPI_BYTE, bytes);
  expect_filled(buffer, (size_t)bytes, seed);
  free(buffer);
}

static void probe_then_receive(int bytes, int late) {
  if (rank == 1) {
    if (late) be_late();
    send_pattern(bytes, 0, 6, 3);
  } else if (rank == 0) {
    MPI_Status status;
    MPI_Probe(1, 6, WORLD, &status);
    expect_status(&status, 1, 6, MPI_BYTE, bytes);
    MPI_Probe(1, 6, WORLD, &status);  // still there
    expect_status(&status, 1, 6, MPI_BYTE, bytes);
    receive_pattern(bytes, 1, 6, 3);
  }
}

static void probe_empty(void) { probe_then_receive(0, 0); }
static void probe_small(void) { probe_then_receive(100, 0); }
static void probe_small_late(void) { probe_then_receive(100, 1); }
static void probe_large(void) { probe_then_receive(600000, 0); }
static void probe_large_late(void) { probe_then_receive(600000, 1); }

static void iprobe_until_there(void) {
  if (rank == 1) {
    be_late();
    send_pattern(250000, 0, 7, 1);
  } else if (rank == 0) {
    int there = 0;
    MPI_Status status;
    while (!there) MPI_Iprobe(1, 7, WORLD, &there, &status);
    expect_status(&status, 1, 7, MPI_BYTE, 250000);
    receive_pattern(250000, 1, 7, 1);
  }
}

static void iprobe_finds_nothing_when_nothing_matches(void) {
  int there = 1;
  if (rank == 1) send_pattern(8, 0, 1, 2);
  MPI_Barrier(WORLD);
  if (rank == 0) {
    for (int i = 0; i < 100; i++) {
      MPI_Iprobe(1, 2, WORLD, &there, IGNORE);
      EXPECT_EQ(there, 0);
      MPI_Iprobe(0, MPI_ANY_TAG, WORLD, &there, IGNORE);
      EXPECT_EQ(there, 0);
    }
    receive_pattern(8, 1, 1, 2);
  }
}

static void probe_any_source_and_any_tag(void) {
  if (rank != 0) {
    send_pattern(1000 * rank, 0, 20 + rank, (unsigned)rank);
    return;
  }
  long sum = 0;
  for (int i = 1; i < size; i++) {
    MPI_Status status;
    int count;
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    EXPECT_EQ(count, 1000 * status.MPI_SOURCE);
    EXPECT_EQ(status.MPI_TAG, 20 + status.MPI_SOURCE);
    char* buffer = allocate((size_t)count);
    MPI_Recv(buffer, count, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, WORLD, IGNORE);
    expect_filled(buffer, (size_t)count, (unsigned)status.MPI_SOURCE);
    sum += count;
    free(buffer);
  }
  note("%ld", sum);
}

// A probe tells of the message that the same receive would get: the first that matches.
static void probe_tells_of_the_first_match(void) {
  if (rank == 1) {
    send_pattern(10, 0, 1, 1);
    send_pattern(20, 0, 2, 2);
    send_pattern(30, 0, 1, 3);
  } else if (rank == 0) {
    MPI_Status status;
    MPI_Probe(1, 2, WORLD, &status);
    expect_status(&status, 1, 2, MPI_BYTE, 20);
    MPI_Probe(1, MPI_ANY_TAG, WORLD, &status);
    expect_status(&status, 1, 1, MPI_BYTE, 10);
    receive_pattern(10, 1, 1, 1);
    MPI_Probe(MPI_ANY_SOURCE, 1, WORLD, &status);
    expect_status(&status, 1, 1, MPI_BYTE, 30);
    receive_pattern(30, 1, 1, 3);
    receive_pattern(20, 1, 2, 2);
  }
}

static void posted_receive_hides_message_from_probe(void) {
  int value = 0, there = 1;
  if (rank == 0) {
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_INT, 1, 3, WORLD, &request);
    MPI_Barrier(WORLD);
    MPI_Barrier(WORLD);
    MPI_Iprobe(1, 3, WORLD, &there, IGNORE);
    EXPECT_EQ(there, 0);
    MPI_Wait(&request, IGNORE);
    EXPECT_EQ(value, 5);
  } else {
    MPI_Barrier(WORLD);
    value = 5;
    if (rank == 1) MPI_Send(&value, 1, MPI_INT, 0, 3, WORLD);
    MPI_Barrier(WORLD);
  }
}

static void count_of_a_probe_in_other_types(void) {
  if (rank == 1) {
    send_pattern(48, 0, 0, 1);
  } else if (rank == 0) {
    MPI_Status status;
    int count;
    MPI_Probe(1, 0, WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    EXPECT_EQ(count, 12);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    EXPECT_EQ(count, 6);
    MPI_Datatype five;
    MPI_Type_contiguous(5, MPI_INT, &five);
    MPI_Type_commit(&five);
    MPI_Get_count(&status, five, &count);
    EXPECT_EQ(count, MPI_UNDEFINED);
    MPI_Get_elements(&status, five, &count);
    EXPECT_EQ(count, 12);
    MPI_Type_free(&five);
    receive_pattern(48, 1, 0, 1);
  }
}

static void probe_sees_a_synchronous_send(void) {
  char buffer[64];
  if (rank == 1) {
    fill(buffer, 64, 9);
    MPI_Ssend(buffer, 64, MPI_BYTE, 0, 0, WORLD);
  } else if (rank == 0) {
    MPI_Status status;
    MPI_Probe(MPI_ANY_SOURCE, 0, WORLD, &status);
    expect_status(&status, 1, 0, MPI_BYTE, 64);
    receive_pattern(64, 1, 0, 9);
  }
}

static void probe_ignoring_its_status(void) {
  if (rank == 1) {
    send_pattern(64, 0, 0, 9);
  } else if (rank == 0) {
    int there = 0;
    MPI_Probe(1, 0, WORLD, MPI_STATUS_IGNORE);
    MPI_Iprobe(1, 0, WORLD, &there, MPI_STATUS_IGNORE);
    EXPECT_EQ(there, 1);
    receive_pattern(64, 1, 0, 9);
  }
}

static const Case cases[] = {CASE(probe_empty, 2),
                             CASE(probe_small, 2),
                             CASE(probe_small_late, 2),
                             CASE(probe_large, 2),
                             CASE(probe_large_late, 2),
                             CASE(iprobe_until_there, 2),
                             CASE(iprobe_finds_nothing_when_nothing_matches, 2),
                             CASE(probe_any_source_and_any_tag, 2),
                             CASE(probe_tells_of_the_first_match, 2),
                             CASE(posted_receive_hides_message_from_probe, 2),
                             CASE(count_of_a_probe_in_other_types, 2),
                             CASE(probe_sees_a_synchronous_send, 2),
                             CASE(probe_ignoring_its_status, 2)};
SUITE(cases)
