// Messages that come late and are longer than their receive's buffer, on communicators whose error handler returns.
//
// The receive has been waiting for a while when the message comes. Had it been released before, no call would be left that
// could return the error. Buffers have room for the whole message, as the host writes it there (beyond_host.c).
#include <dlfcn.h>

#include "late.h"

enum { room = large / 2 };

// Rank 0 is late with `large` bytes on tag 1, and with 50 on tag 2.
static void send_late(MPI_Comm comm) {
  char* sent = allocate(large);
  fill(sent, large, 1);
  be_late();
  MPI_Send(sent, large, MPI_BYTE, 1, 1, comm);
  MPI_Send(sent, 50, MPI_BYTE, 1, 2, comm);
  free(sent);
}

typedef int (*TruncatedReceive)(char* buffer, MPI_Comm comm, MPI_Status* status);

static int by_recv(char* b, MPI_Comm comm, MPI_Status* s) { return MPI_Recv(b, room, MPI_BYTE, 0, 1, comm, s); }

static int by_sendrecv(char* b, MPI_Comm comm, MPI_Status* s) {
  return MPI_Sendrecv(b, 0, MPI_BYTE, MPI_PROC_NULL, 1, b, room, MPI_BYTE, 0, 1, comm, s);
}

static int by_wait(char* b, MPI_Comm comm, MPI_Status* s) {
  MPI_Request request;
  MPI_Irecv(b, room, MPI_BYTE, 0, 1, comm, &request);
  const int code = MPI_Wait(&request, s);
  EXPECT(request == MPI_REQUEST_NULL, "the truncated request is not null");
  return code;
}

static int by_waitall(char* b, MPI_Comm comm, MPI_Status* s) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status statuses[2];
  MPI_Irecv(b, room, MPI_BYTE, 0, 1, comm, &requests[1]);
  EXPECT_CLASS(MPI_Waitall(2, requests, statuses), MPI_ERR_IN_STATUS);
  EXPECT_CLASS(statuses[0].MPI_ERROR, MPI_SUCCESS);
  *s = statuses[1];
  return statuses[1].MPI_ERROR;
}

static int by_datatype(char* b, MPI_Comm comm, MPI_Status* s) {  // with gaps, which is released over its span
  MPI_Datatype type;
  MPI_Type_vector(room / 1000, 500, 1000, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  const int code = MPI_Recv(b, 1, type, 0, 1, comm, s);
  MPI_Type_free(&type);
  return code;
}

// The next message is as if nothing had been.
static void truncated_on(MPI_Comm comm, TruncatedReceive receive) {
  if (rank == 0) send_late(comm);
  if (rank != 1) return;
  char* buffer = allocate(large);
  MPI_Status status;
  EXPECT_CLASS(receive(buffer, comm, &status), MPI_ERR_TRUNCATE);
  EXPECT_EQ(status.MPI_SOURCE, 0);
  EXPECT_EQ(status.MPI_TAG, 1);
  EXPECT_CLASS(MPI_Recv(buffer, 50, MPI_BYTE, 0, 2, comm, &status), MPI_SUCCESS);
  expect_status(&status, 0, 2, MPI_BYTE, 50);
  expect_filled(buffer, 50, 1);
  free(buffer);
}

static void every_call_returns_the_error(void) {
  static const TruncatedReceive ways[] = {by_recv, by_sendrecv, by_wait, by_waitall, by_datatype};
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) truncated_on(WORLD, ways[i]);
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
}

// The receive knows its buffer and its call from releases that went well.
static void after_messages_that_fit(void) {
  char* buffer = allocate(large);
  for (unsigned i = 0; i < 6; i++) {
    if (late_message(buffer, large, i)) expect_filled(buffer, large, i);
  }
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
  if (rank == 0) send_late(WORLD);
  if (rank == 1) {
    EXPECT_CLASS(by_recv(buffer, WORLD, IGNORE), MPI_ERR_TRUNCATE);
    MPI_Recv(buffer, 50, MPI_BYTE, 0, 2, WORLD, IGNORE);
  }
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
  for (unsigned i = 0; i < 6; i++) {
    if (late_message(buffer, large, i)) expect_filled(buffer, large, i);
  }
  free(buffer);
}

static int handled, handled_class;

static void record_error(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  handled++;
  MPI_Error_class(*code, &handled_class);
}

static void own_handler_is_inherited(void) {
  MPI_Errhandler handler;
  MPI_Comm own, copy, half;
  MPI_Comm_create_errhandler(record_error, &handler);
  MPI_Comm_dup(WORLD, &own);
  MPI_Comm_set_errhandler(own, handler);
  MPI_Errhandler_free(&handler);
  MPI_Comm_dup(own, &copy);
  MPI_Comm_split(copy, rank > 1, rank, &half);
  MPI_Comm* const all[] = {&own, &copy, &half};
  handled = 0;
  for (int i = 0; i < 3; i++) {
    if (rank < 2) truncated_on(*all[i], by_recv);
    if (rank == 1) EXPECT(handled == i + 1 && handled_class == MPI_ERR_TRUNCATE, "%d errors, class %d", handled, handled_class);
  }
  for (int i = 0; i < 3; i++) MPI_Comm_free(all[i]);
}

// An interface of MPI-1 that the host still has.
static void handler_set_by_its_old_name(void) {
  int (*set)(MPI_Comm, MPI_Errhandler) = (int (*)(MPI_Comm, MPI_Errhandler))dlsym(RTLD_DEFAULT, "MPI_Errhandler_set");
  if (!set) set = MPI_Comm_set_errhandler;
  set(WORLD, MPI_ERRORS_RETURN);
  truncated_on(WORLD, by_recv);
  set(WORLD, MPI_ERRORS_ARE_FATAL);
}

// Communicators have handlers of their own.
static void one_returns_and_the_other_does_not(void) {
  MPI_Comm own;
  char* buffer = allocate(large);
  MPI_Comm_dup(WORLD, &own);
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  for (unsigned i = 0; i < 4; i++) {
    if (late_message(buffer, large, i)) expect_filled(buffer, large, i);
    truncated_on(own, by_wait);
  }
  MPI_Comm_free(&own);
  free(buffer);
}

static const Case cases[] = {CASE(every_call_returns_the_error, 2), CASE(after_messages_that_fit, 2),
                             CASE(own_handler_is_inherited, 2), CASE(handler_set_by_its_old_name, 2),
                             CASE(one_returns_and_the_other_does_not, 2)};
SUITE(cases)
