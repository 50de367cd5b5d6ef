// Receives of a message that is longer than their buffer.
//
// A truncated receive is preceded by a probe: the message is known before the receive starts, so it cannot have been
// released, and the error must be returned as the host returns it.
#pragma once

#include "suite.h"

static void send_bytes(int bytes, int to, int tag) {
  char* buffer = allocate((size_t)bytes);
  fill(buffer, (size_t)bytes, 1);
  MPI_Send(buffer, bytes, MPI_BYTE, to, tag, WORLD);
  free(buffer);
}

static void await_message(int from, int tag) { MPI_Probe(from, tag, WORLD, IGNORE); }

typedef int (*TruncatedReceive)(char* buffer, int bytes, MPI_Status* status);

static int by_recv(char* b, int n, MPI_Status* s) { return MPI_Recv(b, n, MPI_BYTE, 1, 0, WORLD, s); }
static int by_irecv(char* b, int n, MPI_Status* s) {
  MPI_Request request;
  MPI_Irecv(b, n, MPI_BYTE, 1, 0, WORLD, &request);
  const int code = MPI_Wait(&request, s);
  EXPECT(request == MPI_REQUEST_NULL, "the truncated request is not null");
  return code;
}
static int by_test(char* b, int n, MPI_Status* s) {
  MPI_Request request;
  int done = 0, code = MPI_SUCCESS;
  MPI_Irecv(b, n, MPI_BYTE, 1, 0, WORLD, &request);
  while (!done && code == MPI_SUCCESS) code = MPI_Test(&request, &done, s);
  return code;
}
static int by_mrecv(char* b, int n, MPI_Status* s) {
  MPI_Message message;
  MPI_Mprobe(1, 0, WORLD, &message, IGNORE);
  return MPI_Mrecv(b, n, MPI_BYTE, &message, s);
}

// The message is truncated, the bytes beyond the buffer stay, and the next message is as if nothing had been.
static void truncated_by(TruncatedReceive receive, int sent, int room) {
  enum { margin = 128 };
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
  if (rank == 1) {
    send_bytes(sent, 0, 0);
    send_bytes(50, 0, 3);
  } else if (rank == 0) {
    char* buffer = allocate((size_t)(room + margin));
    memset(buffer, 0x44, (size_t)(room + margin));
    MPI_Status status;
    await_message(1, 0);
    EXPECT_CLASS(receive(buffer, room, &status), MPI_ERR_TRUNCATE);
    expect_all(buffer + room, margin, 0x44);
    EXPECT_CLASS(MPI_Recv(buffer, 50, MPI_BYTE, 1, 3, WORLD, &status), MPI_SUCCESS);
    expect_status(&status, 1, 3, MPI_BYTE, 50);
    expect_filled(buffer, 50, 1);
    free(buffer);
  }
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
}
