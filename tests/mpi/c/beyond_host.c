// What MPI demands and Open MPI 4.1.4 itself does not do; so these cases are never run on the host alone.
//  - Truncation of a message that goes by rendezvous: the host writes past the end of the buffer (cross-memory attach).
//  - A buffered send that finds no room: the host gives the error, and then MPI_Buffer_detach never returns.
//  - The empty status of a null request has no error: the host's MPI_Request_get_status leaves what lay in that field.
//  - A large persistent buffered send that is started again: the host sends the data of the first start.
#include "truncation.h"

static void truncated_large_recv(void) { truncated_by(by_recv, 500000, 300000); }
static void truncated_large_into_small(void) { truncated_by(by_recv, 500000, 10); }
static void truncated_irecv(void) { truncated_by(by_irecv, 500000, 400000); }
static void truncated_test(void) { truncated_by(by_test, 500000, 400000); }
static void truncated_mrecv(void) { truncated_by(by_mrecv, 500000, 400000); }

static void truncated_large_to_itself(void) {
  enum { sent = 500000, room = 300000, margin = 128 };
  char *out = allocate(sent), *in = allocate(room + margin);
  MPI_Request request;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  fill(out, sent, 1);
  memset(in, 0x44, room + margin);
  MPI_Isend(out, sent, MPI_BYTE, 0, 0, MPI_COMM_SELF, &request);
  MPI_Probe(0, 0, MPI_COMM_SELF, IGNORE);
  EXPECT_CLASS(MPI_Recv(in, room, MPI_BYTE, 0, 0, MPI_COMM_SELF, IGNORE), MPI_ERR_TRUNCATE);
  MPI_Wait(&request, IGNORE);
  expect_all(in + room, margin, 0x44);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  free(in), free(out);
}

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

static void status_of_a_null_request(void) {
  MPI_Status status;
  int flag = 0;
  memset(&status, 0x5a, sizeof status);
  MPI_Request_get_status(MPI_REQUEST_NULL, &flag, &status);
  EXPECT_EQ(flag, 1);
  EXPECT_EQ(status.MPI_SOURCE, MPI_ANY_SOURCE);
  EXPECT_EQ(status.MPI_TAG, MPI_ANY_TAG);
  EXPECT_EQ(status.MPI_ERROR, MPI_SUCCESS);
  MPI_Request_get_status(MPI_REQUEST_NULL, &flag, IGNORE);
}

static const Case cases[] = {CASE(truncated_large_recv, 2),     CASE(truncated_large_into_small, 2),
                             CASE(truncated_irecv, 2),          CASE(truncated_test, 2),
                             CASE(truncated_mrecv, 2),          CASE(truncated_large_to_itself, 1),
                             CASE(too_large_for_the_buffer, 1), CASE(buffered_persistent_large, 2),
                             CASE(status_of_a_null_request, 1)};
SUITE(cases)
