// Every constructor of datatypes: small and large, at both ends or at one, with gaps that must stay as they are.
#include "typed.h"

static void vector_small(void) {
  MPI_Datatype type;
  MPI_Type_vector(10, 3, 7, MPI_INT, &type);
  exchange_in_every_way(type, 1);
}

static void vector_large(void) {
  MPI_Datatype type;
  MPI_Type_vector(2000, 50, 70, MPI_DOUBLE, &type);
  exchange_in_every_way(type, 1);
}

static void vector_of_negative_stride(void) {
  MPI_Datatype type;
  MPI_Type_vector(100, 2, -5, MPI_INT, &type);
  exchange_in_every_way(type, 3);
}

static void hvector_with_odd_stride(void) {
  MPI_Datatype type;
  MPI_Type_create_hvector(300, 5, 41, MPI_SHORT, &type);
  exchange_in_every_way(type, 4);
}

static void indexed_with_gaps(void) {
  int lengths[40], offsets[40];
  for (int i = 0; i < 40; i++) lengths[i] = i % 5, offsets[i] = i * i;
  MPI_Datatype type;
  MPI_Type_indexed(40, lengths, offsets, MPI_INT, &type);
  exchange_in_every_way(type, 2);
}

static void indexed_out_of_order(void) {
  int lengths[] = {3, 1, 4, 2}, offsets[] = {20, 5, 10, 0};
  MPI_Datatype type;
  MPI_Type_indexed(4, lengths, offsets, MPI_DOUBLE, &type);
  exchange_in_every_way(type, 50);
}

static void hindexed_unaligned(void) {
  int lengths[] = {100, 1, 2000};
  MPI_Aint offsets[] = {1, 301, 777};
  MPI_Datatype type;
  MPI_Type_create_hindexed(3, lengths, offsets, MPI_CHAR, &type);
  exchange_in_every_way(type, 30);
}

static void indexed_block(void) {
  int offsets[300];
  for (int i = 0; i < 300; i++) offsets[i] = 20 * i + i % 3;
  MPI_Datatype type;
  MPI_Type_create_indexed_block(300, 12, offsets, MPI_DOUBLE, &type);
  exchange_in_every_way(type, 1);
}

static void hindexed_block(void) {
  MPI_Aint offsets[] = {0, 999, 4001};
  MPI_Datatype type;
  MPI_Type_create_hindexed_block(3, 77, offsets, MPI_CHAR, &type);
  exchange_in_every_way(type, 10);
}

typedef struct {
  char letter;
  double number[3];
  short small;
  int whole[2];
} Record;

static MPI_Datatype record_type(void) {
  int lengths[] = {1, 3, 1, 2};
  MPI_Aint offsets[] = {offsetof(Record, letter), offsetof(Record, number), offsetof(Record, small), offsetof(Record, whole)};
  MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT, MPI_INT}, plain, resized;
  MPI_Type_create_struct(4, lengths, offsets, types, &plain);
  MPI_Type_create_resized(plain, 0, sizeof(Record), &resized);
  MPI_Type_free(&plain);
  return resized;
}

static void record_small(void) { exchange_in_every_way(record_type(), 3); }
static void record_large(void) { exchange_in_every_way(record_type(), 9000); }

static void subarray_of_two_dimensions(void) {
  int whole[] = {60, 80}, part[] = {30, 40}, start[] = {7, 11};
  MPI_Datatype type;
  MPI_Type_create_subarray(2, whole, part, start, MPI_ORDER_C, MPI_DOUBLE, &type);
  exchange_in_every_way(type, 1);
}

static void subarray_of_three_dimensions(void) {
  int whole[] = {20, 30, 40}, part[] = {18, 28, 5}, start[] = {1, 1, 35};
  MPI_Datatype type;
  MPI_Type_create_subarray(3, whole, part, start, MPI_ORDER_FORTRAN, MPI_DOUBLE, &type);
  exchange_in_every_way(type, 1);
}

static void darray_block_cyclic(void) {
  int whole[] = {37, 53}, distribution[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK};
  int arguments[] = {3, MPI_DISTRIBUTE_DFLT_DARG}, processes[] = {2, 2};
  MPI_Datatype type;
  MPI_Type_create_darray(4, 1, 2, whole, distribution, arguments, processes, MPI_ORDER_C, MPI_INT, &type);
  exchange_in_every_way(type, 1);
}

static void contiguous_of_vectors(void) {
  MPI_Datatype inner, type;
  MPI_Type_vector(4, 2, 3, MPI_INT, &inner);
  MPI_Type_contiguous(500, inner, &type);
  MPI_Type_free(&inner);
  exchange_in_every_way(type, 2);
}

static void vector_of_records(void) {
  MPI_Datatype record = record_type(), type;
  MPI_Type_vector(100, 2, 5, record, &type);
  MPI_Type_free(&record);
  exchange_in_every_way(type, 2);
}

static void resized_smaller_than_its_data(void) {  // elements interleave
  MPI_Datatype column, type;
  MPI_Type_vector(100, 1, 100, MPI_DOUBLE, &column);
  MPI_Type_create_resized(column, 0, sizeof(double), &type);
  MPI_Type_free(&column);
  exchange_in_every_way(type, 100);  // a transpose
}

static void resized_with_lower_bound(void) {
  MPI_Datatype type;
  MPI_Type_create_resized(MPI_INT, -12, 40, &type);
  exchange_in_every_way(type, 2000);
}

static void struct_with_negative_offset(void) {
  int lengths[] = {2, 3};
  MPI_Aint offsets[] = {-64, 32};
  MPI_Datatype types[] = {MPI_INT, MPI_CHAR}, type;
  MPI_Type_create_struct(2, lengths, offsets, types, &type);
  exchange_in_every_way(type, 500);
}

static void duplicate_of_a_type(void) {
  MPI_Datatype vector, type;
  MPI_Type_vector(64, 1, 2, MPI_LONG, &vector);
  MPI_Type_dup(vector, &type);
  MPI_Type_free(&vector);
  exchange_in_every_way(type, 20);
}

static void pair_types(void) {
  exchange_typed(MPI_DOUBLE_INT, 1000, MPI_DOUBLE_INT, 1000, 0);
  exchange_typed(MPI_SHORT_INT, 1000, MPI_SHORT_INT, 1000, 0);
  exchange_typed(MPI_2INT, 50000, MPI_2INT, 50000, 1);
  exchange_typed(MPI_LONG_DOUBLE_INT, 3000, MPI_LONG_DOUBLE_INT, 3000, 1);
}

static void every_predefined_type(void) {
  const MPI_Datatype types[] = {MPI_CHAR,
                                MPI_SHORT,
                                MPI_INT,
                                MPI_LONG,
                                MPI_LONG_LONG,
                                MPI_SIGNED_CHAR,
                                MPI_UNSIGNED_CHAR,
                                MPI_UNSIGNED,
                                MPI_UNSIGNED_SHORT,
                                MPI_UNSIGNED_LONG,
                                MPI_FLOAT,
                                MPI_DOUBLE,
                                MPI_LONG_DOUBLE,
                                MPI_WCHAR,
                                MPI_C_BOOL,
                                MPI_INT8_T,
                                MPI_INT16_T,
                                MPI_INT32_T,
                                MPI_INT64_T,
                                MPI_UINT8_T,
                                MPI_UINT64_T,
                                MPI_C_FLOAT_COMPLEX,
                                MPI_C_DOUBLE_COMPLEX,
                                MPI_AINT,
                                MPI_OFFSET,
                                MPI_COUNT,
                                MPI_BYTE};
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    exchange_typed(types[i], 13, types[i], 13, 0);
    exchange_typed(types[i], 30000, types[i], 30000, i % 4 == 0);
  }
}

static void packed_at_one_end(void) {
  if (rank >= 2) return;
  int numbers[500], position = 0;
  double reals[300];
  char packed[10000];
  if (rank == 0) {
    for (int i = 0; i < 500; i++) numbers[i] = i;
    for (int i = 0; i < 300; i++) reals[i] = i / 7.0;
    MPI_Pack(numbers, 500, MPI_INT, packed, sizeof packed, &position, WORLD);
    MPI_Pack(reals, 300, MPI_DOUBLE, packed, sizeof packed, &position, WORLD);
    MPI_Send(packed, position, MPI_PACKED, 1, 0, WORLD);
  } else {
    MPI_Status status;
    MPI_Recv(packed, sizeof packed, MPI_PACKED, 0, 0, WORLD, &status);
    expect_status(&status, 0, 0, MPI_PACKED, 500 * 4 + 300 * 8);
    MPI_Unpack(packed, sizeof packed, &position, numbers, 500, MPI_INT, WORLD);
    MPI_Unpack(packed, sizeof packed, &position, reals, 300, MPI_DOUBLE, WORLD);
    for (int i = 0; i < 500; i++) EXPECT_EQ(numbers[i], i);
    for (int i = 0; i < 300; i++) EXPECT(reals[i] == i / 7.0, "real %d differs", i);
  }
}

static const Case cases[] = {CASE(vector_small, 2),
                             CASE(vector_large, 2),
                             CASE(vector_of_negative_stride, 2),
                             CASE(hvector_with_odd_stride, 2),
                             CASE(indexed_with_gaps, 2),
                             CASE(indexed_out_of_order, 2),
                             CASE(hindexed_unaligned, 2),
                             CASE(indexed_block, 2),
                             CASE(hindexed_block, 2),
                             CASE(record_small, 2),
                             CASE(record_large, 2),
                             CASE(subarray_of_two_dimensions, 2),
                             CASE(subarray_of_three_dimensions, 2),
                             CASE(darray_block_cyclic, 2),
                             CASE(contiguous_of_vectors, 2),
                             CASE(vector_of_records, 2),
                             CASE(resized_smaller_than_its_data, 2),
                             CASE(resized_with_lower_bound, 2),
                             CASE(struct_with_negative_offset, 2),
                             CASE(duplicate_of_a_type, 2),
                             CASE(pair_types, 2),
                             CASE(every_predefined_type, 2),
                             CASE(packed_at_one_end, 2)};
SUITE(cases)
