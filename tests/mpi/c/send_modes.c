// Every mode of sending, blocking and not, over sizes on both sides of every protocol limit.
#include "suite.h"

static const int sizes[] = {0, 1, 8, 1000, 4096, 16384, 16385, 70000, 300000, 1500000};
enum { size_count = sizeof sizes / sizeof sizes[0] };

typedef void (*Sender)(const void* buffer, int bytes, int to, int tag);

static void standard(const void* b, int n, int to, int tag) { MPI_Send(b, n, MPI_BYTE, to, tag, WORLD); }
static void synchronous(const void* b, int n, int to, int tag) { MPI_Ssend(b, n, MPI_BYTE, to, tag, WORLD); }
static void ready(const void* b, int n, int to, int tag) { MPI_Rsend(b, n, MPI_BYTE, to, tag, WORLD); }
static void buffered(const void* b, int n, int to, int tag) { MPI_Bsend(b, n, MPI_BYTE, to, tag, WORLD); }

#define NONBLOCKING(name, call)                             \
  static void name(const void* b, int n, int to, int tag) { \
    MPI_Request request;                                    \
    call(b, n, MPI_BYTE, to, tag, WORLD, &request);         \
    MPI_Wait(&request, IGNORE);                             \
  }
NONBLOCKING(standard_later, MPI_Isend)
NONBLOCKING(synchronous_later, MPI_Issend)
NONBLOCKING(ready_later, MPI_Irsend)
NONBLOCKING(buffered_later, MPI_Ibsend)

// Rank 0 sends each size to every other rank, whose receives are posted before (ready mode needs that).
static void send_sizes(Sender send) {
  for (int i = 0; i < size_count; i++) {
    char* buffer = allocate((size_t)sizes[i]);
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank != 0) {
      memset(buffer, 0, (size_t)sizes[i]);
      MPI_Irecv(buffer, sizes[i], MPI_BYTE, 0, i, WORLD, &request);
    }
    MPI_Barrier(WORLD);
    if (rank == 0) {
      fill(buffer, (size_t)sizes[i], (unsigned)i);
      for (int to = 1; to < size; to++) send(buffer, sizes[i], to, i);
      memset(buffer, 0xee, (size_t)sizes[i]);  // the send is complete: the buffer is ours again
    } else {
      MPI_Status status;
      MPI_Wait(&request, &status);
      expect_status(&status, 0, i, MPI_BYTE, sizes[i]);
      expect_filled(buffer, (size_t)sizes[i], (unsigned)i);
      note_bytes(buffer, (size_t)sizes[i]);
    }
    free(buffer);
  }
}

static void with_attached_buffer(Sender send) {
  int length = 4 * MB + size * (1500000 + MPI_BSEND_OVERHEAD);
  void* attached = allocate((size_t)length);
  MPI_Buffer_attach(attached, length);
  send_sizes(send);
  MPI_Buffer_detach(&attached, &length);
  free(attached);
}

static void send_all_sizes(void) { send_sizes(standard); }
static void ssend_all_sizes(void) { send_sizes(synchronous); }
static void rsend_all_sizes(void) { send_sizes(ready); }
static void bsend_all_sizes(void) { with_attached_buffer(buffered); }
static void isend_all_sizes(void) { send_sizes(standard_later); }
static void issend_all_sizes(void) { send_sizes(synchronous_later); }
static void irsend_all_sizes(void) { send_sizes(ready_later); }
static void ibsend_all_sizes(void) { with_attached_buffer(buffered_later); }

// A synchronous send must not complete while no receive matches: the receiver posts one only after the go-ahead.
static void issend_stays_incomplete(int bytes) {
  char* buffer = allocate((size_t)bytes);
  if (rank == 0) {
    MPI_Request request;
    int done = 0;
    fill(buffer, (size_t)bytes, 5);
    MPI_Issend(buffer, bytes, MPI_BYTE, 1, 1, WORLD, &request);
    for (int i = 0; i < 200 && !done; i++) MPI_Test(&request, &done, IGNORE);
    EXPECT(!done, "a synchronous send completed before its receive was posted");
    MPI_Send(NULL, 0, MPI_BYTE, 1, 2, WORLD);
    MPI_Wait(&request, IGNORE);
  } else if (rank == 1) {
    MPI_Recv(NULL, 0, MPI_BYTE, 0, 2, WORLD, IGNORE);
    MPI_Recv(buffer, bytes, MPI_BYTE, 0, 1, WORLD, IGNORE);
    expect_filled(buffer, (size_t)bytes, 5);
  }
  free(buffer);
}

static void issend_small_waits_for_its_match(void) { issend_stays_incomplete(8); }
static void issend_large_waits_for_its_match(void) { issend_stays_incomplete(MB); }
static void issend_empty_waits_for_its_match(void) { issend_stays_incomplete(0); }

static void ssend_returns_after_match(void) {
  char byte = 7;
  if (rank == 0) {
    MPI_Ssend(&byte, 1, MPI_BYTE, 1, 0, WORLD);
    MPI_Recv(&byte, 1, MPI_BYTE, 1, 9, WORLD, IGNORE);
    EXPECT_EQ(byte, 8);
  } else if (rank == 1) {
    be_late();
    MPI_Recv(&byte, 1, MPI_BYTE, 0, 0, WORLD, IGNORE);
    EXPECT_EQ(byte, 7);
    byte = 8;
    MPI_Send(&byte, 1, MPI_BYTE, 0, 9, WORLD);
  }
}

static void every_rank_to_every_rank(void) {
  enum { bytes = 50000 };
  char* out = allocate((size_t)size * bytes);
  char* in = allocate((size_t)size * bytes);
  MPI_Request* requests = allocate((size_t)size * 2 * sizeof(MPI_Request));
  for (int i = 0; i < size; i++) MPI_Irecv(in + (size_t)i * bytes, bytes, MPI_BYTE, i, 3, WORLD, &requests[i]);
  for (int i = 0; i < size; i++) {
    fill(out + (size_t)i * bytes, bytes, (unsigned)(rank * 100 + i));
    MPI_Isend(out + (size_t)i * bytes, bytes, MPI_BYTE, i, 3, WORLD, &requests[size + i]);
  }
  MPI_Waitall(2 * size, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < size; i++) expect_filled(in + (size_t)i * bytes, bytes, (unsigned)(i * 100 + rank));
  note_bytes(in, (size_t)size * bytes);
  free(requests);
  free(in);
  free(out);
}

static void blocking_ping_pong(void) {
  for (int bytes = 1; bytes <= 2 * MB && rank < 2; bytes *= 8) {
    char* buffer = allocate((size_t)bytes);
    for (int round = 0; round < 4; round++) {
      if ((round + rank) % 2 == 0) {
        fill(buffer, (size_t)bytes, (unsigned)round);
        MPI_Send(buffer, bytes, MPI_BYTE, 1 - rank, round, WORLD);
      } else {
        MPI_Recv(buffer, bytes, MPI_BYTE, 1 - rank, round, WORLD, IGNORE);
        expect_filled(buffer, (size_t)bytes, (unsigned)round);
      }
    }
    note_bytes(buffer, (size_t)bytes);
    free(buffer);
  }
}

static const Case cases[] = {CASE(send_all_sizes, 1),
                             CASE(ssend_all_sizes, 1),
                             CASE(rsend_all_sizes, 1),
                             CASE(bsend_all_sizes, 1),
                             CASE(isend_all_sizes, 1),
                             CASE(issend_all_sizes, 1),
                             CASE(irsend_all_sizes, 1),
                             CASE(ibsend_all_sizes, 1),
                             CASE(issend_small_waits_for_its_match, 2),
                             CASE(issend_large_waits_for_its_match, 2),
                             CASE(issend_empty_waits_for_its_match, 2),
                             CASE(ssend_returns_after_match, 2),
                             CASE(every_rank_to_every_rank, 1),
                             CASE(blocking_ping_pong, 2)};
SUITE(cases)
