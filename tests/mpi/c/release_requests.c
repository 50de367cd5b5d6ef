// Late messages through the other ways of receiving: nonblocking with waits, Waitall of many, matched probes, wildcards;
// and statuses whose count is not known when the receive returns.
#include "late.h"

static int by_irecv_wait(void* b, int n, MPI_Status* s) {
  MPI_Request request;
  MPI_Irecv(b, n, MPI_BYTE, 0, 1, WORLD, &request);
  return MPI_Wait(&request, s);
}
static int by_irecv_test(void* b, int n, MPI_Status* s) {
  MPI_Request request;
  int done = 0;
  MPI_Irecv(b, n, MPI_BYTE, 0, 1, WORLD, &request);
  while (!done) MPI_Test(&request, &done, s);
  return MPI_SUCCESS;
}
static int by_irecv_waitall(void* b, int n, MPI_Status* s) {
  MPI_Request request;
  MPI_Irecv(b, n, MPI_BYTE, 0, 1, WORLD, &request);
  return MPI_Waitall(1, &request, s);
}
static int by_irecv_waitany(void* b, int n, MPI_Status* s) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL};
  int index = -1;
  MPI_Irecv(b, n, MPI_BYTE, 0, 1, WORLD, &requests[1]);
  const int code = MPI_Waitany(2, requests, &index, s);
  EXPECT_EQ(index, 1);
  return code;
}
static int by_persistent(void* b, int n, MPI_Status* s) {
  MPI_Request request;
  MPI_Recv_init(b, n, MPI_BYTE, 0, 1, WORLD, &request);
  MPI_Start(&request);
  MPI_Wait(&request, s);
  return MPI_Request_free(&request);
}
static int by_mprobe(void* b, int n, MPI_Status* s) {
  MPI_Message message;
  MPI_Mprobe(0, 1, WORLD, &message, IGNORE);
  return MPI_Mrecv(b, n, MPI_BYTE, &message, s);
}
static int by_any_source(void* b, int n, MPI_Status* s) { return MPI_Recv(b, n, MPI_BYTE, MPI_ANY_SOURCE, 1, WORLD, s); }
static int by_any_tag(void* b, int n, MPI_Status* s) { return MPI_Recv(b, n, MPI_BYTE, 0, MPI_ANY_TAG, WORLD, s); }
static int by_sendrecv(void* b, int n, MPI_Status* s) {
  return MPI_Sendrecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, b, n, MPI_BYTE, 0, 1, WORLD, s);
}

// A late message of `bytes` into `room`, by `receive`; count asked for at once, at the end, or never.
static void late_message_by(Receive receive) {
  enum { room = large };
  static const int sizes[] = {large, 300000, 5000, 1, 0};
  for (unsigned i = 0; i < 15; i++) {
    const int bytes = sizes[i % 5];
    char* buffer = allocate(room);
    memset(buffer, 0x2f, room);
    if (rank == 0) {
      fill(buffer, (size_t)bytes, i);
      be_late();
      MPI_Send(buffer, bytes, MPI_BYTE, 1, 1, WORLD);
    } else if (rank == 1) {
      MPI_Status status;
      receive(buffer, room, &status);
      if (i % 3 == 0) expect_status(&status, 0, 1, MPI_BYTE, bytes);
      expect_filled(buffer, (size_t)bytes, i);
      expect_all(buffer + bytes, (size_t)(room - bytes), 0x2f);
      if (i % 3 == 1) expect_status(&status, 0, 1, MPI_BYTE, bytes);
    }
    free(buffer);
  }
}

static void shorter_than_its_buffer_by_recv(void) { late_message_by(plain_receive); }
static void shorter_than_its_buffer_by_irecv_wait(void) { late_message_by(by_irecv_wait); }
static void shorter_than_its_buffer_by_irecv_test(void) { late_message_by(by_irecv_test); }
static void shorter_than_its_buffer_by_waitall(void) { late_message_by(by_irecv_waitall); }
static void shorter_than_its_buffer_by_waitany(void) { late_message_by(by_irecv_waitany); }
static void shorter_than_its_buffer_by_persistent(void) { late_message_by(by_persistent); }
static void shorter_than_its_buffer_by_mprobe(void) { late_message_by(by_mprobe); }
static void shorter_than_its_buffer_by_any_source(void) { late_message_by(by_any_source); }
static void shorter_than_its_buffer_by_any_tag(void) { late_message_by(by_any_tag); }
static void shorter_than_its_buffer_by_sendrecv(void) { late_message_by(by_sendrecv); }

// --- statuses ---

static void count_of_a_copied_status(void) {
  char* buffer = allocate(large);
  if (rank == 0) {
    fill(buffer, 123456, 1);
    be_late();
    MPI_Send(buffer, 123456, MPI_BYTE, 1, 1, WORLD);
  } else if (rank == 1) {
    MPI_Status status, copy;
    MPI_Recv(buffer, large, MPI_BYTE, 0, 1, WORLD, &status);
    memcpy(&copy, &status, sizeof copy);
    memset(&status, 0, sizeof status);
    expect_status(&copy, 0, 1, MPI_BYTE, 123456);
  }
  free(buffer);
}

static void counts_asked_for_long_afterwards(void) {
  enum { n = 12 };
  MPI_Status statuses[n];
  char* buffer = allocate(large);
  for (int i = 0; i < n && rank < 2; i++) {
    if (rank == 0) be_late();
    if (rank == 0) MPI_Send(buffer, 50000 + i, MPI_BYTE, 1, 1, WORLD);
    if (rank == 1) MPI_Recv(buffer, large, MPI_BYTE, 0, 1, WORLD, &statuses[i]);
  }
  for (int i = n - 1; i >= 0 && rank == 1; i--) expect_status(&statuses[i], 0, 1, MPI_BYTE, 50000 + i);
  for (int i = 0; i < n && rank == 1; i++) expect_status(&statuses[i], 0, 1, MPI_BYTE, 50000 + i);  // and again
  free(buffer);
}

static void elements_and_conversions_of_a_status(void) {
  double* buffer = allocate(large);
  if (rank == 0) {
    memset(buffer, 0, large);
    be_late();
    MPI_Send(buffer, 20000, MPI_DOUBLE, 1, 1, WORLD);
  } else if (rank == 1) {
    MPI_Status status, back;
    MPI_Fint fortran[sizeof(MPI_Status) / sizeof(MPI_Fint)];
    MPI_Count elements;
    int few;
    MPI_Recv(buffer, large / 8, MPI_DOUBLE, 0, 1, WORLD, &status);
    MPI_Status_c2f(&status, fortran);
    MPI_Status_f2c(fortran, &back);
    MPI_Get_elements(&back, MPI_DOUBLE, &few);
    EXPECT_EQ(few, 20000);
    MPI_Get_elements_x(&status, MPI_DOUBLE, &elements);
    EXPECT_EQ(elements, 20000);
    expect_status(&back, 0, 1, MPI_DOUBLE, 20000);
  }
  free(buffer);
}

static void thousands_of_unread_statuses(void) {
  char* buffer = allocate(100000);
  MPI_Status status;
  for (int i = 0; i < 2000 && rank < 2; i++) {
    if (rank == 0) MPI_Send(buffer, 70000 + i, MPI_BYTE, 1, 1, WORLD);
    if (rank == 1) MPI_Recv(buffer, 100000, MPI_BYTE, 0, 1, WORLD, &status);
  }
  if (rank == 1) expect_status(&status, 0, 1, MPI_BYTE, 71999);
  free(buffer);
}

// --- many at once ---

static void waitall_of_many_late_messages(void) {
  enum { n = 16, bytes = 90000 };
  char* area = allocate(n * bytes);
  MPI_Request requests[n];
  for (unsigned round = 0; round < 3 && rank < 2; round++) {
    if (rank == 0) be_late();
    for (int i = 0; i < n; i++) {
      char* at = area + i * bytes;
      if (rank == 0) fill(at, bytes, round * 20 + (unsigned)i);
      if (rank == 0) MPI_Isend(at, bytes - i, MPI_BYTE, 1, i, WORLD, &requests[i]);
      if (rank == 1) MPI_Irecv(at, bytes, MPI_BYTE, 0, i, WORLD, &requests[i]);
    }
    MPI_Status statuses[n];
    MPI_Waitall(n, requests, statuses);
    for (int i = n - 1; i >= 0 && rank == 1; i--) {
      expect_filled(area + i * bytes, (size_t)(bytes - i), round * 20 + (unsigned)i);
      expect_status(&statuses[i], 0, i, MPI_BYTE, bytes - i);
    }
  }
  free(area);
}

static void everybody_late_for_one(void) {
  char* area = allocate((size_t)size * large);
  MPI_Request* requests = allocate((size_t)size * sizeof(MPI_Request));
  for (unsigned round = 0; round < 4; round++) {
    if (rank == 0) {
      for (int i = 1; i < size; i++) MPI_Irecv(area + (size_t)i * large, large, MPI_BYTE, i, 0, WORLD, &requests[i]);
      MPI_Waitall(size - 1, requests + 1, MPI_STATUSES_IGNORE);
      for (int i = 1; i < size; i++) expect_filled(area + (size_t)i * large, large, round + (unsigned)i * 10);
    } else {
      fill(area, large, round + (unsigned)rank * 10);
      pause_ms(rank);
      MPI_Send(area, large, MPI_BYTE, 0, 0, WORLD);
    }
  }
  free(requests);
  free(area);
}

static const Case cases[] = {CASE(shorter_than_its_buffer_by_recv, 2),
                             CASE(shorter_than_its_buffer_by_irecv_wait, 2),
                             CASE(shorter_than_its_buffer_by_irecv_test, 2),
                             CASE(shorter_than_its_buffer_by_waitall, 2),
                             CASE(shorter_than_its_buffer_by_waitany, 2),
                             CASE(shorter_than_its_buffer_by_persistent, 2),
                             CASE(shorter_than_its_buffer_by_mprobe, 2),
                             CASE(shorter_than_its_buffer_by_any_source, 2),
                             CASE(shorter_than_its_buffer_by_any_tag, 2),
                             CASE(shorter_than_its_buffer_by_sendrecv, 2),
                             CASE(count_of_a_copied_status, 2),
                             CASE(counts_asked_for_long_afterwards, 2),
                             CASE(elements_and_conversions_of_a_status, 2),
                             CASE(thousands_of_unread_statuses, 2),
                             CASE(waitall_of_many_late_messages, 2),
                             CASE(everybody_late_for_one, 2)};
SUITE(cases)
