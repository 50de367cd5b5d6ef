// MPI_PROC_NULL everywhere that a rank is allowed, and messages without a byte.
#include "suite.h"

static int value = 11;

static void expect_null_status(MPI_Status* status) { expect_status(status, MPI_PROC_NULL, MPI_ANY_TAG, MPI_INT, 0); }

static void blocking_sends_to_nobody(void) {
  char attached[1000 + MPI_BSEND_OVERHEAD];
  void* detached;
  int length;
  MPI_Buffer_attach(attached, sizeof attached);
  MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, WORLD);
  MPI_Ssend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, WORLD);
  MPI_Rsend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, WORLD);
  MPI_Bsend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, WORLD);
  MPI_Buffer_detach(&detached, &length);
  EXPECT(detached == attached, "another buffer came back");
  EXPECT_EQ(length, sizeof attached);
}

static void nonblocking_sends_to_nobody(void) {
  MPI_Request requests[3];
  MPI_Isend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, WORLD, &requests[0]);
  MPI_Issend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, WORLD, &requests[1]);
  MPI_Irsend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, WORLD, &requests[2]);
  int done = 0;
  MPI_Testall(3, requests, &done, MPI_STATUSES_IGNORE);
  EXPECT_EQ(done, 1);
}

static void receives_from_nobody(void) {
  int kept = 3;
  MPI_Status status;
  MPI_Request request;
  MPI_Recv(&kept, 1, MPI_INT, MPI_PROC_NULL, 4, WORLD, &status);
  expect_null_status(&status);
  MPI_Irecv(&kept, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, WORLD, &request);
  MPI_Wait(&request, &status);
  expect_null_status(&status);
  EXPECT_EQ(kept, 3);
}

static void probes_of_nobody(void) {
  MPI_Status status;
  int there = 0;
  MPI_Probe(MPI_PROC_NULL, 0, WORLD, &status);
  expect_null_status(&status);
  MPI_Iprobe(MPI_PROC_NULL, 0, WORLD, &there, &status);
  EXPECT_EQ(there, 1);
  expect_null_status(&status);
}

static void line_with_open_ends(void) {
  const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
  int from_left = -1, from_right = -1;
  MPI_Status status;
  MPI_Sendrecv(&rank, 1, MPI_INT, right, 0, &from_left, 1, MPI_INT, left, 0, WORLD, &status);
  expect_status(&status, left, left == MPI_PROC_NULL ? MPI_ANY_TAG : 0, MPI_INT, left != MPI_PROC_NULL);
  MPI_Sendrecv(&rank, 1, MPI_INT, left, 1, &from_right, 1, MPI_INT, right, 1, WORLD, &status);
  EXPECT_EQ(from_left, rank > 0 ? rank - 1 : -1);
  EXPECT_EQ(from_right, rank + 1 < size ? rank + 1 : -1);
  int both = rank;
  MPI_Sendrecv_replace(&both, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_PROC_NULL, 0, WORLD, &status);
  expect_null_status(&status);
  EXPECT_EQ(both, rank);
}

static void waitall_over_open_ends(void) {
  enum { bytes = 80000 };
  const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
  char *out = allocate(bytes), *in = allocate(2 * bytes);
  MPI_Request requests[4];
  MPI_Status statuses[4];
  fill(out, bytes, (unsigned)rank);
  memset(in, 0x22, 2 * bytes);
  MPI_Irecv(in, bytes, MPI_BYTE, left, 0, WORLD, &requests[0]);
  MPI_Irecv(in + bytes, bytes, MPI_BYTE, right, 0, WORLD, &requests[1]);
  MPI_Isend(out, bytes, MPI_BYTE, left, 0, WORLD, &requests[2]);
  MPI_Isend(out, bytes, MPI_BYTE, right, 0, WORLD, &requests[3]);
  MPI_Waitall(4, requests, statuses);
  if (left == MPI_PROC_NULL) expect_null_status(&statuses[0]), expect_all(in, bytes, 0x22);
  if (left != MPI_PROC_NULL) expect_filled(in, bytes, (unsigned)left);
  if (right == MPI_PROC_NULL) expect_null_status(&statuses[1]), expect_all(in + bytes, bytes, 0x22);
  if (right != MPI_PROC_NULL) expect_filled(in + bytes, bytes, (unsigned)right);
  free(in);
  free(out);
}

// --- nothing in the message ---

static void empty_messages_in_every_mode(void) {
  MPI_Request request;
  MPI_Status status;
  if (rank == 0) {
    MPI_Send(NULL, 0, MPI_INT, 1, 0, WORLD);
    MPI_Ssend(NULL, 0, MPI_DOUBLE, 1, 1, WORLD);
    MPI_Isend(NULL, 0, MPI_BYTE, 1, 2, WORLD, &request);
    MPI_Wait(&request, IGNORE);
    MPI_Issend(NULL, 0, MPI_BYTE, 1, 3, WORLD, &request);
    MPI_Wait(&request, IGNORE);
  } else if (rank == 1) {
    for (int tag = 0; tag < 4; tag++) {
      MPI_Recv(NULL, 0, MPI_BYTE, 0, tag, WORLD, &status);
      expect_status(&status, 0, tag, MPI_INT, 0);
    }
  }
}

static void empty_message_into_a_large_buffer_changes_nothing(void) {
  enum { bytes = 500000 };
  if (rank == 0) {
    be_late();
    MPI_Send(NULL, 0, MPI_BYTE, 1, 0, WORLD);
  } else if (rank == 1) {
    char* buffer = allocate(bytes);
    memset(buffer, 0x77, bytes);
    MPI_Status status;
    MPI_Recv(buffer, bytes, MPI_BYTE, 0, 0, WORLD, &status);
    expect_all(buffer, bytes, 0x77);
    expect_status(&status, 0, 0, MPI_BYTE, 0);
    free(buffer);
  }
}

static void type_of_no_size(void) {
  MPI_Datatype nothing;
  MPI_Type_contiguous(0, MPI_INT, &nothing);
  MPI_Type_commit(&nothing);
  int kept = 5, count = -1;
  MPI_Status status;
  MPI_Sendrecv(&kept, 10, nothing, (rank + 1) % size, 0, &kept, 10, nothing, (rank + size - 1) % size, 0, WORLD, &status);
  MPI_Get_count(&status, MPI_BYTE, &count);
  EXPECT_EQ(count, 0);
  MPI_Get_count(&status, nothing, &count);
  note("%d", count);  // MPI-3.1 says 0
  EXPECT_EQ(kept, 5);
  MPI_Type_free(&nothing);
}

static void empty_messages_keep_their_order(void) {
  for (int i = 0; i < 100 && rank < 2; i++) {
    int received = -1;
    MPI_Status status;
    if (rank == 0) {
      MPI_Send(&i, i % 2, MPI_INT, 1, 0, WORLD);
    } else {
      MPI_Recv(&received, 1, MPI_INT, 0, 0, WORLD, &status);
      expect_status(&status, 0, 0, MPI_INT, i % 2);
      EXPECT_EQ(received, i % 2 ? i : -1);
    }
  }
}

static const Case cases[] = {CASE(blocking_sends_to_nobody, 1),
                             CASE(nonblocking_sends_to_nobody, 1),
                             CASE(receives_from_nobody, 1),
                             CASE(probes_of_nobody, 1),
                             CASE(line_with_open_ends, 1),
                             CASE(waitall_over_open_ends, 1),
                             CASE(empty_messages_in_every_mode, 2),
                             CASE(empty_message_into_a_large_buffer_changes_nothing, 2),
                             CASE(type_of_no_size, 1),
                             CASE(empty_messages_keep_their_order, 2)};
SUITE(cases)
