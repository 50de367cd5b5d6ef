// Mprobe, Improbe, Mrecv, Imrecv.
#include "suite.h"

static void send_pattern(int bytes, int to, int tag, unsigned seed) {
  char* buffer = allocate((size_t)bytes);
  fill(buffer, (size_t)bytes, seed);
  MPI_Send(buffer, bytes, MPI_BYTE, to, tag, WORLD);
  free(buffer);
}

static void expect_mrecv(MPI_Message* message, int bytes, int tag, unsigned seed) {
  char* buffer = allocate((size_t)bytes);
  MPI_Status status;
  MPI_Mrecv(buffer, bytes, MPI_BYTE, message, &status);
  EXPECT(*message == MPI_MESSAGE_NULL, "the message handle is not null after MPI_Mrecv");
  expect_status(&status, 1, tag, MPI_BYTE, bytes);
  expect_filled(buffer, (size_t)bytes, seed);
  free(buffer);
}

static void mprobe_and_mrecv(int bytes, int late, int source, int tag) {
  if (rank == 1) {
    if (late) be_late();
    send_pattern(bytes, 0, 8, 4);
  } else if (rank == 0) {
    MPI_Message message;
    MPI_Status status;
    MPI_Mprobe(source, tag, WORLD, &message, &status);
    expect_status(&status, 1, 8, MPI_BYTE, bytes);
    expect_mrecv(&message, bytes, 8, 4);
  }
}

static void mprobe_empty(void) { mprobe_and_mrecv(0, 0, 1, 8); }
static void mprobe_small(void) { mprobe_and_mrecv(64, 0, 1, 8); }
static void mprobe_large_late(void) { mprobe_and_mrecv(800000, 1, 1, 8); }
static void mprobe_any_source_and_tag(void) { mprobe_and_mrecv(30000, 0, MPI_ANY_SOURCE, MPI_ANY_TAG); }

static void improbe_until_there(void) {
  if (rank == 1) {
    be_late();
    send_pattern(90000, 0, 8, 4);
  } else if (rank == 0) {
    MPI_Message message;
    MPI_Status status;
    int there = 0;
    while (!there) MPI_Improbe(1, 8, WORLD, &there, &message, &status);
    expect_status(&status, 1, 8, MPI_BYTE, 90000);
    expect_mrecv(&message, 90000, 8, 4);
  }
}

static void improbe_finds_nothing(void) {
  MPI_Message message;
  int there = 1;
  if (rank == 0) {
    for (int i = 0; i < 50; i++) {
      MPI_Improbe(1, 77, WORLD, &there, &message, IGNORE);
      EXPECT_EQ(there, 0);
    }
  }
}

static void imrecv_and_wait(void) {
  enum { bytes = 350000 };
  if (rank == 1) {
    send_pattern(bytes, 0, 8, 4);
  } else if (rank == 0) {
    MPI_Message message;
    MPI_Request request;
    MPI_Status status;
    char* buffer = allocate(bytes);
    MPI_Mprobe(1, 8, WORLD, &message, IGNORE);
    MPI_Imrecv(buffer, bytes, MPI_BYTE, &message, &request);
    EXPECT(message == MPI_MESSAGE_NULL, "the message handle is not null after MPI_Imrecv");
    MPI_Wait(&request, &status);
    expect_status(&status, 1, 8, MPI_BYTE, bytes);
    expect_filled(buffer, bytes, 4);
    free(buffer);
  }
}

// A matched message is gone from matching: a receive for the same envelope gets the next one.
static void mprobe_takes_the_message_out(int bytes) {
  if (rank == 1) {
    send_pattern(bytes, 0, 8, 1);
    send_pattern(bytes, 0, 8, 2);
    return;
  }
  if (rank != 0) return;
  char* buffer = allocate((size_t)bytes);
  MPI_Message message;
  MPI_Mprobe(1, 8, WORLD, &message, IGNORE);
  MPI_Recv(buffer, bytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, IGNORE);
  expect_filled(buffer, (size_t)bytes, 2);
  expect_mrecv(&message, bytes, 8, 1);
  free(buffer);
}

static void mprobe_takes_a_small_message_out(void) { mprobe_takes_the_message_out(100); }

static void mprobe_takes_a_large_message_out(void) {
  enum { bytes = 200000 };
  if (rank == 1) {  // both sends must be under way at once
    char* buffers = allocate(2 * bytes);
    MPI_Request requests[2];
    for (int i = 0; i < 2; i++) {
      fill(buffers + i * bytes, bytes, (unsigned)i + 1);
      MPI_Isend(buffers + i * bytes, bytes, MPI_BYTE, 0, 8, WORLD, &requests[i]);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    free(buffers);
  } else {
    mprobe_takes_the_message_out(bytes);
  }
}

static void several_messages_received_in_reverse(void) {
  enum { messages = 6 };
  if (rank == 1) {
    for (int i = 0; i < messages; i++) send_pattern(1000 + i, 0, 8, (unsigned)i);
  } else if (rank == 0) {
    MPI_Message message[messages];
    for (int i = 0; i < messages; i++) MPI_Mprobe(1, 8, WORLD, &message[i], IGNORE);
    for (int i = messages - 1; i >= 0; i--) expect_mrecv(&message[i], 1000 + i, 8, (unsigned)i);
  }
}

static void mprobe_of_a_synchronous_send_does_not_complete_it_too_early(void) {
  char buffer[32];
  if (rank == 1) {
    fill(buffer, 32, 4);
    MPI_Ssend(buffer, 32, MPI_BYTE, 0, 8, WORLD);
  } else if (rank == 0) {
    MPI_Message message;
    MPI_Mprobe(1, 8, WORLD, &message, IGNORE);
    expect_mrecv(&message, 32, 8, 4);
  }
}

static void mprobe_of_proc_null(void) {
  MPI_Message message;
  MPI_Status status;
  MPI_Request request;
  int there = 0;
  char byte = 1;
  MPI_Mprobe(MPI_PROC_NULL, 1, WORLD, &message, &status);
  expect_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, MPI_BYTE, 0);
  EXPECT(message == MPI_MESSAGE_NO_PROC, "the message is not MPI_MESSAGE_NO_PROC");
  MPI_Mrecv(&byte, 1, MPI_BYTE, &message, &status);
  EXPECT(message == MPI_MESSAGE_NULL, "the message is not MPI_MESSAGE_NULL");
  expect_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, MPI_BYTE, 0);
  MPI_Improbe(MPI_PROC_NULL, 1, WORLD, &there, &message, &status);
  EXPECT_EQ(there, 1);
  MPI_Imrecv(&byte, 1, MPI_BYTE, &message, &request);
  MPI_Wait(&request, &status);
  expect_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, MPI_BYTE, 0);
  EXPECT_EQ(byte, 1);
}

static void mrecv_into_a_vector(void) {
  if (rank == 1) {
    send_pattern(40 * 16, 0, 8, 4);
  } else if (rank == 0) {
    MPI_Datatype spread;
    MPI_Type_vector(40, 16, 32, MPI_BYTE, &spread);
    MPI_Type_commit(&spread);
    char buffer[40 * 32], wanted[40 * 16];
    memset(buffer, 0x11, sizeof buffer);
    fill(wanted, sizeof wanted, 4);
    MPI_Message message;
    MPI_Mprobe(1, 8, WORLD, &message, IGNORE);
    MPI_Mrecv(buffer, 1, spread, &message, IGNORE);
    for (int i = 0; i < 40; i++) {
      EXPECT(memcmp(buffer + i * 32, wanted + i * 16, 16) == 0, "block %d differs", i);
      if (i < 39) expect_all(buffer + i * 32 + 16, 16, 0x11);
    }
    MPI_Type_free(&spread);
  }
}

static const Case cases[] = {CASE(mprobe_empty, 2),
                             CASE(mprobe_small, 2),
                             CASE(mprobe_large_late, 2),
                             CASE(mprobe_any_source_and_tag, 2),
                             CASE(improbe_until_there, 2),
                             CASE(improbe_finds_nothing, 2),
                             CASE(imrecv_and_wait, 2),
                             CASE(mprobe_takes_a_small_message_out, 2),
                             CASE(mprobe_takes_a_large_message_out, 2),
                             CASE(several_messages_received_in_reverse, 2),
                             CASE(mprobe_of_a_synchronous_send_does_not_complete_it_too_early, 2),
                             CASE(mprobe_of_proc_null, 1),
                             CASE(mrecv_into_a_vector, 2)};
SUITE(cases)
