// Calls that the host runs, given the buffer of a large receive right after it returned: they must see all of the message.
#include "suite.h"

enum { count = 200000, bytes = count * 4 };

static int *received, *other, *sent;
static MPI_Request request_of_sent;

// Every rank receives `count` integers from a late neighbour: element i is the neighbour's rank + i.
static int receive_late(void) {
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  sent = allocate(bytes);
  received = allocate(bytes);
  other = allocate(bytes);
  for (int i = 0; i < count; i++) sent[i] = rank + i, other[i] = -1;
  if (rank % 2 == 0) be_late();
  MPI_Isend(sent, count, MPI_INT, next, 1, WORLD, &request_of_sent);
  MPI_Recv(received, count, MPI_INT, previous, 1, WORLD, IGNORE);
  return previous;
}

static void finish(void) {
  MPI_Wait(&request_of_sent, IGNORE);
  free(sent);
  free(other);
  free(received);
}

static void expect_counting(const int* values, int n, long first, long step) {
  for (int i = 0; i < n; i++) {
    if (values[i] != first + step * i) {
      EXPECT(0, "element %d is %d and not %ld", i, values[i], first + step * i);
      return;
    }
  }
}

static void then_bcast(void) {
  receive_late();
  MPI_Bcast(received, count, MPI_INT, 0, WORLD);
  expect_counting(received, count, size - 1, 1);
  finish();
}

static void then_allreduce(void) {
  receive_late();
  MPI_Allreduce(received, other, count, MPI_INT, MPI_SUM, WORLD);
  expect_counting(other, count, (long)size * (size - 1) / 2, size);
  finish();
}

static void then_allreduce_in_place(void) {
  receive_late();
  MPI_Allreduce(MPI_IN_PLACE, received, count, MPI_INT, MPI_SUM, WORLD);
  expect_counting(received, count, (long)size * (size - 1) / 2, size);
  finish();
}

static void then_reduce(void) {
  receive_late();
  MPI_Reduce(received, other, count, MPI_INT, MPI_MAX, 0, WORLD);
  if (rank == 0) expect_counting(other, count, size - 1, 1);
  finish();
}

static void then_gather(void) {
  receive_late();
  int* all = allocate((size_t)size * bytes);
  MPI_Gather(received, count, MPI_INT, all, count, MPI_INT, 0, WORLD);
  for (int i = 0; i < size && rank == 0; i++) expect_counting(all + (size_t)i * count, count, (i + size - 1) % size, 1);
  free(all);
  finish();
}

static void then_scatter(void) {
  receive_late();
  const int each = count / size;
  MPI_Scatter(received, each, MPI_INT, other, each, MPI_INT, 0, WORLD);
  expect_counting(other, each, size - 1 + (long)rank * each, 1);
  finish();
}

static void then_allgatherv(void) {
  receive_late();
  int* lengths = allocate((size_t)size * sizeof(int));
  int* offsets = allocate((size_t)size * sizeof(int));
  int* all = allocate((size_t)size * bytes);
  for (int i = 0; i < size; i++) lengths[i] = count - i, offsets[i] = i * count;
  MPI_Allgatherv(received, count - rank, MPI_INT, all, lengths, offsets, MPI_INT, WORLD);
  for (int i = 0; i < size; i++) expect_counting(all + (size_t)i * count, count - i, (i + size - 1) % size, 1);
  free(all);
  free(offsets);
  free(lengths);
  finish();
}

static void then_alltoall(void) {
  receive_late();
  const int each = count / size;
  MPI_Alltoall(received, each, MPI_INT, other, each, MPI_INT, WORLD);
  for (int i = 0; i < size; i++) {
    expect_counting(other + i * each, each, (i + size - 1) % size + (long)rank * each, 1);
  }
  finish();
}

static void then_scan(void) {
  const int previous = receive_late();
  MPI_Scan(received, other, count, MPI_INT, MPI_SUM, WORLD);
  long first = 0;
  for (int i = 0; i <= rank; i++) first += (i + size - 1) % size;
  expect_counting(other, count, first, rank + 1);
  expect_counting(received, count, previous, 1);
  finish();
}

static void then_reduce_scatter_block(void) {
  receive_late();
  const int each = count / size;
  MPI_Reduce_scatter_block(received, other, each, MPI_INT, MPI_SUM, WORLD);
  expect_counting(other, each, (long)size * (size - 1) / 2 + (long)size * rank * each, size);
  finish();
}

static void then_reduce_local(void) {
  const int previous = receive_late();
  for (int i = 0; i < count; i++) other[i] = 1;
  MPI_Reduce_local(received, other, count, MPI_INT, MPI_SUM);
  expect_counting(other, count, previous + 1, 1);
  finish();
}

static void then_ibcast(void) {
  receive_late();
  MPI_Request request;
  MPI_Ibcast(received, count, MPI_INT, 0, WORLD, &request);
  MPI_Wait(&request, IGNORE);
  expect_counting(received, count, size - 1, 1);
  finish();
}

static void then_iallreduce(void) {
  receive_late();
  MPI_Request request;
  MPI_Iallreduce(received, other, count, MPI_INT, MPI_SUM, WORLD, &request);
  MPI_Wait(&request, IGNORE);
  expect_counting(other, count, (long)size * (size - 1) / 2, size);
  finish();
}

static void then_neighbor_allgather(void) {
  receive_late();
  MPI_Comm ring;
  int periodic = 1;
  int* both = allocate(2 * bytes);
  MPI_Cart_create(WORLD, 1, &size, &periodic, 0, &ring);
  MPI_Neighbor_allgather(received, count, MPI_INT, both, count, MPI_INT, ring);
  expect_counting(both, count, (rank + 2 * size - 2) % size, 1);
  expect_counting(both + count, count, rank, 1);
  MPI_Comm_free(&ring);
  free(both);
  finish();
}

static void then_put_and_get(void) {
  const int previous = receive_late();
  int* exposed = allocate(bytes);
  MPI_Win window;
  MPI_Win_create(exposed, bytes, 4, MPI_INFO_NULL, WORLD, &window);
  MPI_Win_fence(0, window);
  MPI_Put(received, count, MPI_INT, (rank + 1) % size, 0, count, MPI_INT, window);
  MPI_Win_fence(0, window);
  expect_counting(exposed, count, (previous + size - 1) % size, 1);
  MPI_Get(other, count, MPI_INT, (rank + 1) % size, 0, count, MPI_INT, window);
  MPI_Win_fence(0, window);
  expect_counting(other, count, previous, 1);
  MPI_Win_free(&window);
  free(exposed);
  finish();
}

// The window's memory itself receives a message, then another rank reads it.
static void into_a_window_then_get(void) {
  receive_late();
  MPI_Win window;
  MPI_Win_create(received, bytes, 4, MPI_INFO_NULL, WORLD, &window);
  MPI_Win_fence(0, window);
  MPI_Get(other, count, MPI_INT, (rank + 1) % size, 0, count, MPI_INT, window);
  MPI_Win_fence(0, window);
  expect_counting(other, count, rank, 1);
  MPI_Win_free(&window);
  finish();
}

static void then_accumulate(void) {
  const int previous = receive_late();
  int* exposed = calloc(count, 4);
  MPI_Win window;
  MPI_Win_create(exposed, bytes, 4, MPI_INFO_NULL, WORLD, &window);
  MPI_Win_fence(0, window);
  MPI_Accumulate(received, count, MPI_INT, (rank + 1) % size, 0, count, MPI_INT, MPI_SUM, window);
  MPI_Win_fence(0, window);
  expect_counting(exposed, count, (previous + size - 1) % size, 1);
  MPI_Win_free(&window);
  free(exposed);
  finish();
}

static void then_file_write_and_read(void) {
  receive_late();
  char name[] = "/tmp/mpi-suite-XXXXXX";
  MPI_File file;
  if (rank == 0) close(mkstemp(name));
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, WORLD);
  MPI_File_open(WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_File_write_at(file, (MPI_Offset)rank * bytes, received, count, MPI_INT, IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(WORLD);
  MPI_File_read_at_all(file, (MPI_Offset)((rank + 1) % size) * bytes, other, count, MPI_INT, IGNORE);
  expect_counting(other, count, rank, 1);
  MPI_File_close(&file);
  if (rank == 0) unlink(name);
  finish();
}

static void then_pack_and_unpack(void) {
  const int previous = receive_late();
  int position = 0;
  MPI_Aint external_position = 0;
  MPI_Pack(received, count, MPI_INT, other, bytes, &position, WORLD);
  expect_counting(other, count, previous, 1);
  position = 0;
  memset(received, 0, bytes);
  MPI_Unpack(other, bytes, &position, received, count, MPI_INT, WORLD);
  expect_counting(received, count, previous, 1);
  MPI_Pack_external("external32", received, count, MPI_INT, other, bytes, &external_position);
  EXPECT_EQ(external_position, bytes);
  note_bytes(other, bytes);
  finish();
}

static void straight_into_unpack(void) {
  const int previous = receive_late();
  int position = 0;
  MPI_Unpack(received, bytes, &position, other, count, MPI_INT, WORLD);
  expect_counting(other, count, previous, 1);
  finish();
}

static const Case cases[] = {CASE(then_bcast, 2),
                             CASE(then_allreduce, 2),
                             CASE(then_allreduce_in_place, 2),
                             CASE(then_reduce, 2),
                             CASE(then_gather, 2),
                             CASE(then_scatter, 2),
                             CASE(then_allgatherv, 2),
                             CASE(then_alltoall, 2),
                             CASE(then_scan, 2),
                             CASE(then_reduce_scatter_block, 2),
                             CASE(then_reduce_local, 2),
                             CASE(then_ibcast, 2),
                             CASE(then_iallreduce, 2),
                             CASE(then_neighbor_allgather, 2),
                             CASE(then_put_and_get, 2),
                             CASE(into_a_window_then_get, 2),
                             CASE(then_accumulate, 2),
                             CASE(then_file_write_and_read, 2),
                             CASE(then_pack_and_unpack, 2),
                             CASE(straight_into_unpack, 2)};
SUITE(cases)
