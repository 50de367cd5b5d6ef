// Late senders to datatypes with gaps: the receive is released over its whole span, and what lies in the gaps stays as it is.
#include "late.h"

enum { blocks = 3000, block = 64, times = 6 };

// What a type says of itself: each byte of `span` is either received, in the order of `position`, or a gap.
static void check(const char* area, size_t span, const size_t* position, const char* message, int in_reverse) {
  for (size_t k = 0; k < span; k++) {
    const size_t i = in_reverse ? span - 1 - k : k;
    const char expected = position[i] == (size_t)-1 ? (char)0x33 : message[position[i]];
    if (area[i] != expected) {
      EXPECT(0, "byte %zu of the span is %d instead of %d", i, area[i], expected);
      return;
    }
  }
}

// The packed position of every byte of the span, found by unpacking numbers.
static size_t* positions(MPI_Datatype type, int count, char* origin, size_t before, size_t span) {
  int bytes = 0;
  MPI_Pack_size(count, type, WORLD, &bytes);
  size_t* position = (size_t*)allocate(span * sizeof *position);
  for (size_t i = 0; i < span; i++) position[i] = (size_t)-1;
  char* packed = allocate((size_t)bytes);
  for (int digit = 0; digit < 4; digit++) {
    for (int i = 0; i < bytes; i++) packed[i] = (char)(((i >> (digit * 7)) & 0x7f) + 1);
    memset(origin - before, 0, span);
    int at = 0;
    MPI_Unpack(packed, bytes, &at, origin, count, type, WORLD);
    for (size_t i = 0; i < span; i++) {
      if (origin[(ptrdiff_t)i - (ptrdiff_t)before] == 0) continue;
      if (digit == 0) position[i] = 0;
      position[i] |= (size_t)((unsigned char)origin[(ptrdiff_t)i - (ptrdiff_t)before] - 1) << (digit * 7);
    }
  }
  free(packed);
  return position;
}

// Receives `count` elements of `type` again and again into one buffer, so that it is an alias block in the end.
static void receive_late(MPI_Datatype type, int count) {
  MPI_Aint lower = 0, true_extent = 0, ignored = 0, extent = 0;
  int bytes = 0;
  MPI_Type_commit(&type);
  MPI_Type_get_true_extent(type, &lower, &true_extent);
  MPI_Type_get_extent(type, &ignored, &extent);
  MPI_Type_size(type, &bytes);
  bytes *= count;
  const MPI_Aint others = extent * (count - 1);
  const size_t before = (size_t)(-(lower + (others < 0 ? others : 0)) > 0 ? -(lower + (others < 0 ? others : 0)) : 0);
  const MPI_Aint end = lower + true_extent + (others > 0 ? others : 0);
  const size_t span = before + (size_t)(end > 0 ? end : 0);
  char* message = allocate((size_t)bytes);
  char* area = allocate(span);
  char* origin = area + before;
  size_t* position = rank == 1 ? positions(type, count, origin, before, span) : NULL;
  for (unsigned i = 0; i < times; i++) {
    fill(message, (size_t)bytes, i);
    if (rank == 0) {
      be_late();
      MPI_Send(message, bytes, MPI_BYTE, 1, 1, WORLD);
    } else if (rank == 1) {
      MPI_Status status;
      int elements = 0;
      memset(area, 0x33, span);
      MPI_Recv(origin, count, type, 0, 1, WORLD, &status);
      if (i % 3 == 1) area[span / 2] = area[span / 2];  // a write into the middle, be it a gap or not
      check(area, span, position, message, i % 2 == 1);
      MPI_Get_count(&status, MPI_BYTE, &elements);
      EXPECT(elements == bytes, "count %d instead of %d", elements, bytes);
    }
  }
  free(position);
  free(area);
  free(message);
  MPI_Type_free(&type);
}

static void vector(void) {
  MPI_Datatype type;
  MPI_Type_vector(blocks, block, 2 * block, MPI_BYTE, &type);
  receive_late(type, 1);
}

static void vector_with_wide_gaps(void) {
  MPI_Datatype type;
  MPI_Type_vector(blocks, block, 40 * block, MPI_BYTE, &type);
  receive_late(type, 1);
}

static void structs(void) {
  MPI_Datatype type, element;
  const int lengths[] = {3, 1, 5};
  const MPI_Aint offsets[] = {0, 32, 40};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT, MPI_CHAR};
  MPI_Type_create_struct(3, lengths, offsets, types, &element);
  MPI_Type_create_resized(element, 0, 48, &type);
  MPI_Type_free(&element);
  receive_late(type, 5000);
}

static void subarray(void) {
  MPI_Datatype type;
  const int sizes[] = {40, 60, 50}, part[] = {30, 41, 33}, start[] = {3, 7, 11};
  MPI_Type_create_subarray(3, sizes, part, start, MPI_ORDER_C, MPI_DOUBLE, &type);
  receive_late(type, 1);
}

static void blocks_in_descending_order(void) {
  MPI_Datatype type;
  int* at = malloc(blocks * sizeof *at);
  for (int i = 0; i < blocks; i++) at[i] = (blocks - 1 - i) * 2 * block;
  MPI_Type_create_indexed_block(blocks, block, at, MPI_BYTE, &type);
  free(at);
  receive_late(type, 1);
}

static void blocks_in_mixed_order(void) {
  MPI_Datatype type;
  int* at = malloc(blocks * sizeof *at);
  for (int i = 0; i < blocks; i++) at[i] = (i * 7 % blocks) * 3 * block;
  MPI_Type_create_indexed_block(blocks, block, at, MPI_BYTE, &type);
  free(at);
  receive_late(type, 1);
}

// Columns of one matrix: sent from, received into, and computed with at the same time.
static void columns_of_one_matrix(void) {
  enum { rows = 400, columns = 64 };
  MPI_Datatype column;
  MPI_Type_vector(rows, 16, columns, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  double* matrix = (double*)allocate(rows * columns * sizeof(double));
  for (int i = 0; i < times && rank < 2; i++) {
    for (int k = 0; k < rows * columns; k++) matrix[k] = rank * 1e6 + i * 1e5 + k;
    if (rank == 0) be_late();
    if (rank == 0) {
      MPI_Send(matrix + 16, 1, column, 1, 3, WORLD);
      MPI_Recv(matrix + 48, 1, column, 1, 4, WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(matrix + 32, 1, column, 0, 3, WORLD, MPI_STATUS_IGNORE);
      matrix[5] += 1;  // in a gap
      MPI_Send(matrix, 1, column, 0, 4, WORLD);
    }
    for (int k = 0; k < rows * columns; k++) {
      const int group = k % columns / 16;
      double expected = rank * 1e6 + i * 1e5 + k;
      if (rank == 0 && group == 3) expected = 1e6 + i * 1e5 + k - 48 + (k == 48 + 5);
      if (rank == 1 && group == 2) expected = i * 1e5 + k - 16;
      if (rank == 1 && k == 5) expected += 1;
      EXPECT(matrix[k] == expected, "element %d is %f instead of %f", k, matrix[k], expected);
    }
  }
  free(matrix);
  MPI_Type_free(&column);
}

static const Case cases[] = {
    CASE(vector, 2),
    CASE(vector_with_wide_gaps, 2),
    CASE(structs, 2),
    CASE(subarray, 2),
    CASE(blocks_in_descending_order, 2),
    CASE(blocks_in_mixed_order, 2),
    CASE(columns_of_one_matrix, 2),
};

SUITE(cases)
