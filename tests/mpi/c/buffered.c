// Buffered mode: attaching, running out, detaching, copying aside.
#include "suite.h"

static void* attach(int bytes) {
  void* buffer = allocate((size_t)bytes);
  MPI_Buffer_attach(buffer, bytes);
  return buffer;
}

static void detach(void* wanted, int wanted_bytes) {
  void* buffer = NULL;
  int bytes = -1;
  MPI_Buffer_detach(&buffer, &bytes);
  EXPECT(buffer == wanted, "MPI_Buffer_detach gives %p and not %p", buffer, wanted);
  EXPECT_EQ(bytes, wanted_bytes);
  free(buffer);
}

static void attach_and_detach_give_back_the_buffer(void) {
  for (int i = 1; i < 5; i++) detach(attach(i * 10000), i * 10000);
}

static void bsend_completes_without_a_receive(void) {
  enum { bytes = 800000, room = bytes + MPI_BSEND_OVERHEAD };
  char* message = allocate(bytes);
  if (rank == 0) {
    void* attached = attach(room);
    fill(message, bytes, 1);
    MPI_Bsend(message, bytes, MPI_BYTE, 1, 0, WORLD);
    memset(message, 0, bytes);
    MPI_Send(NULL, 0, MPI_BYTE, 1, 1, WORLD);
    detach(attached, room);
  } else if (rank == 1) {
    MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, WORLD, IGNORE);
    MPI_Recv(message, bytes, MPI_BYTE, 0, 0, WORLD, IGNORE);
    expect_filled(message, bytes, 1);
  }
  free(message);
}

static void ibsend_copies_aside(void) {
  enum { n = 10, bytes = 30000, room = n * (bytes + MPI_BSEND_OVERHEAD) };
  char* message = allocate(bytes);
  if (rank == 0) {
    MPI_Request requests[n];
    void* attached = attach(room);
    for (int i = 0; i < n; i++) {
      fill(message, bytes, (unsigned)i);
      MPI_Ibsend(message, bytes, MPI_BYTE, 1, 0, WORLD, &requests[i]);
      MPI_Wait(&requests[i], IGNORE);
    }
    MPI_Send(NULL, 0, MPI_BYTE, 1, 1, WORLD);
    detach(attached, room);
  } else if (rank == 1) {
    MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, WORLD, IGNORE);
    for (int i = 0; i < n; i++) {
      MPI_Recv(message, bytes, MPI_BYTE, 0, 0, WORLD, IGNORE);
      expect_filled(message, bytes, (unsigned)i);
    }
  }
  free(message);
}

static void second_attach_is_an_error(void) {
  enum { room = 5000 };
  char other[5000];
  void* attached = attach(room);
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
  EXPECT(MPI_Buffer_attach(other, sizeof other) != MPI_SUCCESS, "a second buffer was attached");
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
  detach(attached, room);
}

// The room of messages that have arrived can be used again.
static void room_is_used_again(void) {
  enum { bytes = 40000, room = 2 * (bytes + MPI_BSEND_OVERHEAD) };
  char* message = allocate(bytes);
  if (rank == 0) {
    void* attached = attach(room);
    for (int i = 0; i < 30; i++) {
      fill(message, bytes, (unsigned)i);
      MPI_Bsend(message, bytes, MPI_BYTE, 1, 0, WORLD);
      MPI_Recv(NULL, 0, MPI_BYTE, 1, 1, WORLD, IGNORE);
    }
    detach(attached, room);
  } else if (rank == 1) {
    for (int i = 0; i < 30; i++) {
      MPI_Recv(message, bytes, MPI_BYTE, 0, 0, WORLD, IGNORE);
      expect_filled(message, bytes, (unsigned)i);
      MPI_Send(NULL, 0, MPI_BYTE, 0, 1, WORLD);
    }
  }
  free(message);
}

// Detaching waits until everything has left: the buffer is overwritten at once.
static void detach_waits_for_delivery(void) {
  enum { bytes = 600000, room = bytes + MPI_BSEND_OVERHEAD };
  char* message = allocate(bytes);
  if (rank == 0) {
    char* attached = attach(room);
    int length;
    fill(message, bytes, 3);
    MPI_Bsend(message, bytes, MPI_BYTE, 1, 0, WORLD);
    MPI_Buffer_detach(&attached, &length);
    memset(attached, 0, (size_t)length);
    free(attached);
  } else if (rank == 1) {
    be_late();
    MPI_Recv(message, bytes, MPI_BYTE, 0, 0, WORLD, IGNORE);
    expect_filled(message, bytes, 3);
  }
  free(message);
}

static void bsend_to_itself(void) {
  enum { bytes = 100000, room = bytes + MPI_BSEND_OVERHEAD };
  char* message = allocate(bytes);
  void* attached = attach(room);
  fill(message, bytes, 4);
  MPI_Bsend(message, bytes, MPI_BYTE, rank, 0, WORLD);
  memset(message, 0, bytes);
  MPI_Recv(message, bytes, MPI_BYTE, rank, 0, WORLD, IGNORE);
  expect_filled(message, bytes, 4);
  detach(attached, room);
  free(message);
}

static void bsend_of_a_vector(void) {
  enum { rows = 3000, room = rows * 8 + MPI_BSEND_OVERHEAD };
  double* matrix = allocate(rows * 3 * sizeof(double));
  MPI_Datatype column;
  MPI_Type_vector(rows, 1, 3, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  for (int i = 0; i < rows * 3; i++) matrix[i] = rank * 1e5 + i;
  void* attached = attach(room);
  MPI_Bsend(matrix + 1, 1, column, (rank + 1) % size, 0, WORLD);
  const int previous = (rank + size - 1) % size;
  MPI_Recv(matrix, 1, column, previous, 0, WORLD, IGNORE);
  for (int i = 0; i < rows; i++) EXPECT(matrix[3 * i] == previous * 1e5 + 3 * i + 1, "row %d is %g", i, matrix[3 * i]);
  detach(attached, room);
  MPI_Type_free(&column);
  free(matrix);
}

static void everybody_bsends_then_receives(void) {
  enum { bytes = 20000 };
  const int room = size * (bytes + MPI_BSEND_OVERHEAD);
  char* message = allocate(bytes);
  void* attached = attach(room);
  for (int to = 0; to < size; to++) {
    fill(message, bytes, (unsigned)(rank * 10 + to));
    MPI_Bsend(message, bytes, MPI_BYTE, to, 0, WORLD);
  }
  for (int from = 0; from < size; from++) {
    MPI_Recv(message, bytes, MPI_BYTE, from, 0, WORLD, IGNORE);
    expect_filled(message, bytes, (unsigned)(from * 10 + rank));
  }
  detach(attached, room);
  free(message);
}

static const Case cases[] = {CASE(attach_and_detach_give_back_the_buffer, 1),
                             CASE(bsend_completes_without_a_receive, 2),
                             CASE(ibsend_copies_aside, 2),
                             CASE(second_attach_is_an_error, 1),
                             CASE(room_is_used_again, 2),
                             CASE(detach_waits_for_delivery, 2),
                             CASE(bsend_to_itself, 1),
                             CASE(bsend_of_a_vector, 1),
                             CASE(everybody_bsends_then_receives, 1)};
SUITE(cases)
