// What MPI demands and Open MPI 4.1.4 itself does not do; so these cases are never run on the host alone.
//  - Truncation of a message that goes by rendezvous: the host writes past the end of the buffer (cross-memory attach).
//  - A buffered send that finds no room: the host gives the error, and then MPI_Buffer_detach never returns.
//  - A large persistent buffered send that is started again: the host sends the data of the first start.
//
// A truncated receive is preceded by a probe: the message is known before the receive starts, so it cannot have been
// released, and the error must be returned.
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

static void truncated_large_recv(void) { truncated_by(by_recv, 500000, 300000); }
static void truncated_large_into_small(void) { truncated_by(by_recv, 500000, 10); }
static void truncated_irecv(void) { truncated_by(by_irecv, 500000, 400000); }
static void truncated_test(void) { truncated_by(by_test, 500000, 400000); }
static void truncated_mrecv(void) { truncated_by(by_mrecv, 500000, 400000); }

static void too_large_for_the_buffer(void) {
  enum { room = 10000 };
  char message[20000] = {0};
  int detached_bytes = 0;
  void* attached = allocate(room);
  MPI_Buffer_attach(attached, room);
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
  EXPECT_CLASS(MPI_Bsend(message, 20000, MPI_BYTE, (rank + 1) % size, 0, WORLD), MPI_ERR_BUFFER);
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Buffer_detach(&attached, &detached_bytes);
  EXPECT_EQ(detached_bytes, room);
  free(attached);
}

static void buffered_persistent_large(void) {
  enum { bytes = 300000, rounds = 4 };
  int room = rounds * (bytes + MPI_BSEND_OVERHEAD);
  char* buffer = allocate(bytes);
  if (rank == 0) {
    MPI_Request request;
    void* attached = allocate((size_t)room);
    MPI_Buffer_attach(attached, room);
    MPI_Bsend_init(buffer, bytes, MPI_BYTE, 1, 0, WORLD, &request);
    for (int i = 0; i < rounds; i++) {
      fill(buffer, bytes, (unsigned)i);
      MPI_Start(&request);
      MPI_Wait(&request, IGNORE);
    }
    MPI_Request_free(&request);
    MPI_Buffer_detach(&attached, &room);
    free(attached);
  }
  for (int i = 0; i < rounds && rank == 1; i++) {
    MPI_Recv(buffer, bytes, MPI_BYTE, 0, 0, WORLD, IGNORE);
    expect_filled(buffer, bytes, (unsigned)i);
  }
  free(buffer);
}

static const Case cases[] = {CASE(truncated_large_recv, 2),     CASE(truncated_large_into_small, 2),
                             CASE(truncated_irecv, 2),          CASE(truncated_test, 2),
                             CASE(truncated_mrecv, 2),          CASE(too_large_for_the_buffer, 1),
                             CASE(buffered_persistent_large, 2)};
SUITE(cases)
