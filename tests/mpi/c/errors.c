// Truncation, invalid arguments, error handlers that return.
#include "truncation.h"

static int by_any_source(char* b, int n, MPI_Status* s) {
  return MPI_Recv(b, n, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, s);
}

static void truncated_small_recv(void) { truncated_by(by_recv, 100, 60); }
static void truncated_small_recv_without_room(void) { truncated_by(by_recv, 100, 0); }
static void truncated_irecv(void) { truncated_by(by_irecv, 3000, 2000); }
static void truncated_test(void) { truncated_by(by_test, 3000, 2999); }
static void truncated_mrecv(void) { truncated_by(by_mrecv, 3000, 1); }
static void truncated_any_source(void) { truncated_by(by_any_source, 3000, 2999); }

static void truncated_among_others_gives_err_in_status(void) {
  enum { n = 4 };
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
  if (rank == 1) {
    for (int i = 0; i < n; i++) send_bytes(1000, 0, i);
  } else if (rank == 0) {
    char buffers[n][1000];
    MPI_Request requests[n];
    MPI_Status statuses[n];
    for (int i = 0; i < n; i++) await_message(1, i);
    for (int i = 0; i < n; i++) MPI_Irecv(buffers[i], i == 2 ? 500 : 1000, MPI_BYTE, 1, i, WORLD, &requests[i]);
    EXPECT_CLASS(MPI_Waitall(n, requests, statuses), MPI_ERR_IN_STATUS);
    for (int i = 0; i < n; i++) {
      const int code = statuses[i].MPI_ERROR;
      if (i == 2) EXPECT_CLASS(code, MPI_ERR_TRUNCATE);
      if (i != 2) EXPECT(code == MPI_SUCCESS || code == MPI_ERR_PENDING, "request %d has error %d", i, code);
    }
    // What was pending completes with one more call, as the standard says.
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++) {
      if (i != 2) expect_filled(buffers[i], 1000, 1);
    }
  }
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
}

static void shorter_message_is_no_error(void) {
  if (rank == 1) {
    send_bytes(100, 0, 0);
  } else if (rank == 0) {
    char buffer[1000];
    MPI_Status status;
    memset(buffer, 0x21, sizeof buffer);
    MPI_Recv(buffer, sizeof buffer, MPI_BYTE, 1, 0, WORLD, &status);
    expect_status(&status, 1, 0, MPI_BYTE, 100);
    expect_filled(buffer, 100, 1);
    expect_all(buffer + 100, 900, 0x21);
  }
}

// --- invalid arguments ---

static void invalid_arguments_have_their_class(void) {
  int value = 0;
  MPI_Request request;
  MPI_Status status;
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
  EXPECT_CLASS(MPI_Send(&value, 1, MPI_INT, size, 0, WORLD), MPI_ERR_RANK);
  EXPECT_CLASS(MPI_Send(&value, 1, MPI_INT, -7, 0, WORLD), MPI_ERR_RANK);
  EXPECT_CLASS(MPI_Send(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, WORLD), MPI_ERR_RANK);
  EXPECT_CLASS(MPI_Send(&value, 1, MPI_INT, 0, -1, WORLD), MPI_ERR_TAG);
  EXPECT_CLASS(MPI_Send(&value, -1, MPI_INT, 0, 0, WORLD), MPI_ERR_COUNT);
  EXPECT_CLASS(MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, WORLD), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Recv(&value, 1, MPI_INT, size + 3, 0, WORLD, &status), MPI_ERR_RANK);
  EXPECT_CLASS(MPI_Recv(&value, 1, MPI_INT, 0, -5, WORLD, &status), MPI_ERR_TAG);
  EXPECT_CLASS(MPI_Recv(&value, -2, MPI_INT, 0, 0, WORLD, &status), MPI_ERR_COUNT);
  EXPECT_CLASS(MPI_Irecv(&value, 1, MPI_INT, size, 0, WORLD, &request), MPI_ERR_RANK);
  EXPECT_CLASS(MPI_Isend(&value, 1, MPI_INT, 0, -9, WORLD, &request), MPI_ERR_TAG);
  EXPECT_CLASS(MPI_Issend(&value, 1, MPI_DATATYPE_NULL, 0, 0, WORLD, &request), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Probe(size, 0, WORLD, &status), MPI_ERR_RANK);
  int there;
  EXPECT_CLASS(MPI_Iprobe(0, -6, WORLD, &there, &status), MPI_ERR_TAG);
  EXPECT_CLASS(MPI_Send_init(&value, 1, MPI_INT, size, 0, WORLD, &request), MPI_ERR_RANK);
  EXPECT_CLASS(MPI_Sendrecv(&value, 1, MPI_INT, size, 0, &value, 0, MPI_INT, 0, 0, WORLD, &status), MPI_ERR_RANK);
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
}

static void uncommitted_type_is_refused(void) {
  int value = 0;
  MPI_Datatype type;
  MPI_Type_contiguous(1, MPI_INT, &type);
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
  EXPECT_CLASS(MPI_Send(&value, 1, type, MPI_PROC_NULL, 0, WORLD), MPI_ERR_TYPE);
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Type_free(&type);
}

static int handled, handled_class;
static MPI_Comm handled_comm;

static void record_error(MPI_Comm* comm, int* code, ...) {
  handled++;
  handled_comm = *comm;
  MPI_Error_class(*code, &handled_class);
}

static void own_handler_is_called_with_its_communicator(void) {
  MPI_Errhandler handler;
  MPI_Comm own, child;
  int value = 0;
  MPI_Comm_create_errhandler(record_error, &handler);
  MPI_Comm_dup(WORLD, &own);
  MPI_Comm_set_errhandler(own, handler);
  MPI_Comm_dup(own, &child);  // inherits the handler
  handled = 0;
  EXPECT_CLASS(MPI_Send(&value, 1, MPI_INT, size, 0, own), MPI_ERR_RANK);
  EXPECT(handled == 1 && handled_comm == own && handled_class == MPI_ERR_RANK, "handler: %d calls, class %d", handled,
         handled_class);
  MPI_Send(&value, 1, MPI_INT, 0, -1, child);
  EXPECT(handled == 2 && handled_comm == child && handled_class == MPI_ERR_TAG, "handler: %d calls, class %d", handled,
         handled_class);
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&child);
  MPI_Comm_free(&own);
}

static void own_handler_is_called_for_truncation(void) {
  MPI_Errhandler handler;
  MPI_Comm own;
  MPI_Comm_create_errhandler(record_error, &handler);
  MPI_Comm_dup(WORLD, &own);
  MPI_Comm_set_errhandler(own, handler);
  MPI_Errhandler_free(&handler);
  handled = 0;
  if (rank == 0) {
    char buffer[10];
    MPI_Probe(1, 0, own, IGNORE);
    EXPECT_CLASS(MPI_Recv(buffer, 10, MPI_BYTE, 1, 0, own, IGNORE), MPI_ERR_TRUNCATE);
    EXPECT(handled == 1 && handled_class == MPI_ERR_TRUNCATE, "handler: %d calls, class %d", handled, handled_class);
  } else if (rank == 1) {
    char buffer[3000] = {0};
    MPI_Send(buffer, 3000, MPI_BYTE, 0, 0, own);
  }
  MPI_Comm_free(&own);
}

static void handler_called_by_hand(void) {
  MPI_Errhandler handler, got;
  MPI_Comm_create_errhandler(record_error, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  MPI_Comm_get_errhandler(MPI_COMM_SELF, &got);
  EXPECT(got == handler, "MPI_Comm_get_errhandler gives another handler");
  handled = 0;
  MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_OTHER);
  EXPECT_EQ(handled, 1);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&got);
  MPI_Errhandler_free(&handler);
}

static void traffic_goes_on_after_errors(void) {
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
  for (int i = 0; i < 50; i++) {
    int out = i * size + rank, in = -1;
    MPI_Send(&out, 1, MPI_INT, size + 1, 0, WORLD);
    MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, i, &in, 1, MPI_INT, (rank + size - 1) % size, i, WORLD, IGNORE);
    EXPECT_EQ(in, i * size + (rank + size - 1) % size);
  }
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
}

static const Case cases[] = {CASE(truncated_small_recv, 2),
                             CASE(truncated_small_recv_without_room, 2),
                             CASE(truncated_irecv, 2),
                             CASE(truncated_test, 2),
                             CASE(truncated_mrecv, 2),
                             CASE(truncated_any_source, 2),
                             CASE(truncated_among_others_gives_err_in_status, 2),
                             CASE(shorter_message_is_no_error, 2),
                             CASE(invalid_arguments_have_their_class, 1),
                             CASE(uncommitted_type_is_refused, 1),
                             CASE(own_handler_is_called_with_its_communicator, 1),
                             CASE(own_handler_is_called_for_truncation, 2),
                             CASE(handler_called_by_hand, 1),
                             CASE(traffic_goes_on_after_errors, 1)};
SUITE(cases)
