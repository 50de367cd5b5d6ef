// Derived datatypes in nonblocking, persistent and partial receives; types freed while in use; MPI_BOTTOM.
#include "typed.h"

static MPI_Datatype column_of(int rows, int row_doubles) {
  MPI_Datatype type;
  MPI_Type_vector(rows, 1, row_doubles, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return type;
}

static void ghost_columns_with_a_type_freed_at_once(void) {
  enum { rows = 300, row = 40 };
  double* grid = allocate(rows * row * sizeof(double));
  for (int i = 0; i < rows * row; i++) grid[i] = rank * 1e6 + i;
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  MPI_Request requests[2];
  MPI_Datatype column = column_of(rows, row);
  MPI_Irecv(grid, 1, column, previous, 0, WORLD, &requests[0]);
  MPI_Isend(grid + row - 2, 1, column, next, 0, WORLD, &requests[1]);
  MPI_Type_free(&column);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < rows; i++) {
    EXPECT(grid[i * row] == previous * 1e6 + i * row + row - 2, "ghost %d is %g", i, grid[i * row]);
    EXPECT(grid[i * row + 1] == rank * 1e6 + i * row + 1, "neighbour of ghost %d is %g", i, grid[i * row + 1]);
  }
  note_bytes(grid, rows * row * sizeof(double));
  free(grid);
}

static void persistent_columns(void) {
  enum { rows = 200, row = 16 };
  static double grid[rows * row];
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  MPI_Request requests[2];
  MPI_Datatype column = column_of(rows, row);
  MPI_Recv_init(grid, 1, column, previous, 0, WORLD, &requests[0]);
  MPI_Send_init(grid + 5, 1, column, next, 0, WORLD, &requests[1]);
  MPI_Type_free(&column);
  for (int round = 0; round < 5; round++) {
    for (int i = 0; i < rows; i++) grid[i * row + 5] = rank * 1000 + round * 300 + i;
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < rows; i++) EXPECT(grid[i * row] == previous * 1000 + round * 300 + i, "row %d, round %d", i, round);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

// A message that ends inside an element: Get_count says undefined, Get_elements counts the basic ones.
static void message_ending_inside_an_element(void) {
  int lengths[] = {2, 1};
  MPI_Aint offsets[] = {0, 16};
  MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE}, type;
  MPI_Type_create_struct(2, lengths, offsets, types, &type);
  MPI_Type_commit(&type);
  char buffer[24 * 5];
  if (rank == 0) {
    struct {
      int numbers[2];
      double real;
    } packed[2] = {{{1, 2}, 3.0}, {{4, 5}, 6.0}};
    for (int bytes = 0; bytes <= 32; bytes += 4) {
      if (bytes % 16 == 12) continue;  // ends inside a double
      MPI_Send(packed, bytes, MPI_BYTE, 1, bytes, WORLD);
    }
  } else if (rank == 1) {
    for (int bytes = 0; bytes <= 32; bytes += 4) {
      if (bytes % 16 == 12) continue;
      MPI_Status status;
      MPI_Count long_elements;
      int count, elements;
      MPI_Recv(buffer, 5, type, 0, bytes, WORLD, &status);
      MPI_Get_count(&status, type, &count);
      MPI_Get_elements(&status, type, &elements);
      MPI_Get_elements_x(&status, type, &long_elements);
      EXPECT_EQ(count, bytes % 16 ? MPI_UNDEFINED : bytes / 16);
      EXPECT_EQ(elements, bytes / 16 * 3 + bytes % 16 / 4);
      EXPECT_EQ(long_elements, elements);
      note("%d/%d", count, elements);
    }
  }
  MPI_Type_free(&type);
}

static void short_message_into_many_elements(void) {
  enum { rows = 5000 };
  MPI_Datatype column = column_of(10, 3);
  if (rank == 0) {
    double out[200];
    for (int i = 0; i < 200; i++) out[i] = i;
    be_late();
    MPI_Send(out, 200, MPI_DOUBLE, 1, 0, WORLD);
  } else if (rank == 1) {
    double* in = allocate(rows * 30 * sizeof(double));
    memset(in, 0x3f, rows * 30 * sizeof(double));
    MPI_Status status;
    MPI_Recv(in, rows, column, 0, 0, WORLD, &status);
    expect_status(&status, 0, 0, column, 20);
    note_bytes(in, rows * 30 * sizeof(double));
    free(in);
  }
  MPI_Type_free(&column);
}

static void sendrecv_replace_of_columns(void) {
  enum { rows = 900, row = 9 };
  static double grid[rows * row];
  MPI_Datatype column = column_of(rows, row);
  for (int i = 0; i < rows * row; i++) grid[i] = rank * 1e6 + i;
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  MPI_Sendrecv_replace(grid + 4, 1, column, next, 0, previous, 0, WORLD, IGNORE);
  for (int i = 0; i < rows * row; i++) {
    EXPECT(grid[i] == (i % row == 4 ? previous : rank) * 1e6 + i, "element %d is %g", i, grid[i]);
  }
  MPI_Type_free(&column);
}

// --- MPI_BOTTOM ---

static int static_part[100];

static MPI_Datatype absolute_type(const void* first, int first_bytes, const void* second, int second_bytes) {
  int lengths[] = {first_bytes, second_bytes};
  MPI_Aint addresses[2];
  MPI_Datatype type;
  MPI_Get_address(first, &addresses[0]);
  MPI_Get_address(second, &addresses[1]);
  MPI_Type_create_hindexed(2, lengths, addresses, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  return type;
}

static void bottom_of_static_and_heap(int heap_bytes, int late) {
  if (rank >= 2) return;
  char* heap = allocate((size_t)heap_bytes);
  MPI_Datatype type = absolute_type(static_part, sizeof static_part, heap, heap_bytes);
  if (rank == 0) {
    fill(static_part, sizeof static_part, 1);
    fill(heap, (size_t)heap_bytes, 2);
    if (late) be_late();
    MPI_Send(MPI_BOTTOM, 1, type, 1, 0, WORLD);
  } else {
    MPI_Status status;
    memset(static_part, 0, sizeof static_part);
    MPI_Recv(MPI_BOTTOM, 1, type, 0, 0, WORLD, &status);
    expect_filled(static_part, sizeof static_part, 1);
    expect_filled(heap, (size_t)heap_bytes, 2);
    expect_status(&status, 0, 0, type, 1);
  }
  MPI_Type_free(&type);
  free(heap);
}

static void bottom_small(void) { bottom_of_static_and_heap(100, 0); }
static void bottom_large(void) { bottom_of_static_and_heap(600000, 0); }
static void bottom_large_late(void) { bottom_of_static_and_heap(600000, 1); }

static void bottom_in_sendrecv_and_nonblocking(void) {
  int out[2] = {rank, rank * 2}, in[2] = {-1, -1};
  MPI_Datatype out_type = absolute_type(&out[0], 4, &out[1], 4), in_type = absolute_type(&in[1], 4, &in[0], 4);
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  MPI_Sendrecv(MPI_BOTTOM, 1, out_type, next, 0, MPI_BOTTOM, 1, in_type, previous, 0, WORLD, IGNORE);
  EXPECT_EQ(in[1], previous);
  EXPECT_EQ(in[0], previous * 2);
  MPI_Request requests[2];
  MPI_Irecv(MPI_BOTTOM, 1, in_type, next, 1, WORLD, &requests[0]);
  MPI_Isend(MPI_BOTTOM, 1, out_type, previous, 1, WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  EXPECT_EQ(in[1], next);
  EXPECT_EQ(in[0], next * 2);
  MPI_Type_free(&out_type);
  MPI_Type_free(&in_type);
}

static const Case cases[] = {CASE(ghost_columns_with_a_type_freed_at_once, 1),
                             CASE(persistent_columns, 1),
                             CASE(message_ending_inside_an_element, 2),
                             CASE(short_message_into_many_elements, 2),
                             CASE(sendrecv_replace_of_columns, 1),
                             CASE(bottom_small, 2),
                             CASE(bottom_large, 2),
                             CASE(bottom_large_late, 2),
                             CASE(bottom_in_sendrecv_and_nonblocking, 1)};
SUITE(cases)
