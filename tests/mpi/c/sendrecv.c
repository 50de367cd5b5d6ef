// Sendrecv and Sendrecv_replace, and messages of a rank to itself.
#include "suite.h"

static void ring_of(int bytes, int rounds) {
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  char *out = allocate((size_t)bytes), *in = allocate((size_t)bytes);
  for (int i = 0; i < rounds; i++) {
    MPI_Status status;
    fill(out, (size_t)bytes, (unsigned)(rank + 10 * i));
    MPI_Sendrecv(out, bytes, MPI_BYTE, next, i, in, bytes, MPI_BYTE, previous, i, WORLD, &status);
    expect_status(&status, previous, i, MPI_BYTE, bytes);
    expect_filled(in, (size_t)bytes, (unsigned)(previous + 10 * i));
  }
  free(in);
  free(out);
}

static void ring_small(void) { ring_of(100, 20); }
static void ring_large(void) { ring_of(500000, 8); }
static void ring_empty(void) { ring_of(0, 5); }

static void replace_of(int bytes) {
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  char* buffer = allocate((size_t)bytes);
  fill(buffer, (size_t)bytes, (unsigned)rank);
  for (int i = 1; i <= size; i++) {  // all the way round
    MPI_Status status;
    MPI_Sendrecv_replace(buffer, bytes, MPI_BYTE, next, 0, previous, 0, WORLD, &status);
    expect_status(&status, previous, 0, MPI_BYTE, bytes);
    expect_filled(buffer, (size_t)bytes, (unsigned)((rank - i + size) % size));
  }
  free(buffer);
}

static void replace_small(void) { replace_of(1000); }
static void replace_large(void) { replace_of(700000); }

static void different_types_and_sizes(void) {
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  double out[1000];
  char in[9000];
  const int count = 100 + rank;
  for (int i = 0; i < count; i++) out[i] = rank + i / 8.0;
  MPI_Status status;
  MPI_Sendrecv(out, count, MPI_DOUBLE, next, rank, in, sizeof in, MPI_BYTE, previous, previous, WORLD, &status);
  expect_status(&status, previous, previous, MPI_DOUBLE, 100 + previous);
  for (int i = 0; i < 100 + previous; i++) {
    double value;
    memcpy(&value, in + 8 * i, 8);
    EXPECT(value == previous + i / 8.0, "value %d is %g", i, value);
  }
}

static void sendrecv_with_wildcards(void) {
  int in = -1;
  MPI_Status status;
  const int previous = (rank + size - 1) % size;
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 4 + rank, &in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &status);
  expect_status(&status, previous, 4 + previous, MPI_INT, 1);
  EXPECT_EQ(in, previous);
}

static void sendrecv_meets_send_and_recv(void) {
  enum { bytes = 200000 };
  char *out = allocate(bytes), *in = allocate(bytes);
  fill(out, bytes, (unsigned)rank);
  if (rank == 0) {
    MPI_Sendrecv(out, bytes, MPI_BYTE, 1, 0, in, bytes, MPI_BYTE, 1, 1, WORLD, IGNORE);
    expect_filled(in, bytes, 1);
  } else if (rank == 1) {
    MPI_Recv(in, bytes, MPI_BYTE, 0, 0, WORLD, IGNORE);
    MPI_Send(out, bytes, MPI_BYTE, 0, 1, WORLD);
    expect_filled(in, bytes, 0);
  }
  free(in);
  free(out);
}

// --- to itself ---

static void itself_by_nonblocking(int bytes, MPI_Comm comm, int self) {
  char *out = allocate((size_t)bytes), *in = allocate((size_t)bytes);
  MPI_Request requests[2];
  MPI_Status status;
  for (int order = 0; order < 2; order++) {
    memset(in, 0, (size_t)bytes);
    fill(out, (size_t)bytes, (unsigned)order);
    if (order == 0) MPI_Irecv(in, bytes, MPI_BYTE, self, 5, comm, &requests[1]);
    MPI_Isend(out, bytes, MPI_BYTE, self, 5, comm, &requests[0]);
    if (order == 1) MPI_Irecv(in, bytes, MPI_BYTE, self, 5, comm, &requests[1]);
    MPI_Wait(&requests[1], &status);
    MPI_Wait(&requests[0], IGNORE);
    expect_status(&status, self, 5, MPI_BYTE, bytes);
    expect_filled(in, (size_t)bytes, (unsigned)order);
  }
  free(in);
  free(out);
}

static void itself_small(void) { itself_by_nonblocking(64, WORLD, rank); }
static void itself_large(void) { itself_by_nonblocking(900000, WORLD, rank); }
static void itself_in_comm_self(void) {
  itself_by_nonblocking(64, MPI_COMM_SELF, 0);
  itself_by_nonblocking(900000, MPI_COMM_SELF, 0);
}

static void itself_by_sendrecv(void) {
  enum { bytes = 300000 };
  char *out = allocate(bytes), *in = allocate(bytes);
  fill(out, bytes, 8);
  MPI_Sendrecv(out, bytes, MPI_BYTE, rank, 0, in, bytes, MPI_BYTE, rank, 0, WORLD, IGNORE);
  expect_filled(in, bytes, 8);
  MPI_Sendrecv_replace(in, bytes, MPI_BYTE, 0, 0, 0, 0, MPI_COMM_SELF, IGNORE);
  expect_filled(in, bytes, 8);
  free(in);
  free(out);
}

static void itself_synchronous(void) {
  int out = 3, in = 0, done = 1;
  MPI_Request request;
  MPI_Issend(&out, 1, MPI_INT, rank, 0, WORLD, &request);
  MPI_Test(&request, &done, IGNORE);
  EXPECT_EQ(done, 0);
  MPI_Recv(&in, 1, MPI_INT, rank, 0, WORLD, IGNORE);
  MPI_Wait(&request, IGNORE);
  EXPECT_EQ(in, 3);
}

static void itself_probed(void) {
  char out[2000], in[2000];
  MPI_Request request;
  MPI_Status status;
  MPI_Message message;
  fill(out, sizeof out, 6);
  MPI_Isend(out, sizeof out, MPI_BYTE, rank, 2, WORLD, &request);
  MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &status);
  expect_status(&status, rank, 2, MPI_BYTE, sizeof out);
  MPI_Mprobe(rank, 2, WORLD, &message, IGNORE);
  MPI_Mrecv(in, sizeof in, MPI_BYTE, &message, IGNORE);
  MPI_Wait(&request, IGNORE);
  expect_filled(in, sizeof in, 6);
}

static void itself_persistent(void) {
  int out = 0, in = -1;
  MPI_Request requests[2];
  MPI_Send_init(&out, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[0]);
  MPI_Recv_init(&in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[1]);
  for (int i = 0; i < 20; i++) {
    out = i;
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    EXPECT_EQ(in, i);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

static void itself_and_others_by_wildcard(void) {
  int sum = 0;
  MPI_Request* requests = allocate((size_t)size * sizeof(MPI_Request));
  for (int to = 0; to < size; to++) MPI_Isend(&rank, 1, MPI_INT, to, 0, WORLD, &requests[to]);
  for (int i = 0; i < size; i++) {
    int value;
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, WORLD, IGNORE);
    sum += value;
  }
  MPI_Waitall(size, requests, MPI_STATUSES_IGNORE);
  EXPECT_EQ(sum, size * (size - 1) / 2);
  free(requests);
}

static const Case cases[] = {CASE(ring_small, 1),
                             CASE(ring_large, 1),
                             CASE(ring_empty, 1),
                             CASE(replace_small, 1),
                             CASE(replace_large, 1),
                             CASE(different_types_and_sizes, 1),
                             CASE(sendrecv_with_wildcards, 1),
                             CASE(sendrecv_meets_send_and_recv, 2),
                             CASE(itself_small, 1),
                             CASE(itself_large, 1),
                             CASE(itself_in_comm_self, 1),
                             CASE(itself_by_sendrecv, 1),
                             CASE(itself_synchronous, 1),
                             CASE(itself_probed, 1),
                             CASE(itself_persistent, 1),
                             CASE(itself_and_others_by_wildcard, 1)};
SUITE(cases)
