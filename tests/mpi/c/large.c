// More than 2 GiB in one message: the count fits an int, the bytes do not.
#include "suite.h"

enum { blocks = 2100 };

static void more_than_two_gigabytes(void) {
  const size_t bytes = (size_t)blocks * MB;
  MPI_Datatype block;
  MPI_Status status;
  MPI_Type_contiguous(MB, MPI_BYTE, &block);
  MPI_Type_commit(&block);
  if (rank >= 2) return;
  uint64_t* all = allocate(bytes + 64);
  memset((char*)all + bytes, 0x55, 64);
  if (rank == 0) {
    for (size_t i = 0; i < bytes / 8; i++) all[i] = i ^ 0x5a5a;
    MPI_Send(all, blocks, block, 1, 0, WORLD);
  } else {
    MPI_Recv(all, blocks, block, 0, 0, WORLD, &status);
    MPI_Count elements = -1;
    int count = -1;
    MPI_Get_elements_x(&status, block, &elements);
    EXPECT_EQ(elements, bytes);
    MPI_Get_count(&status, block, &count);
    EXPECT_EQ(count, blocks);
    MPI_Get_count(&status, MPI_BYTE, &count);
    EXPECT_EQ(count, MPI_UNDEFINED);
    size_t wrong = 0;
    for (size_t i = 0; i < bytes / 8; i++) wrong += all[i] != (i ^ 0x5a5a);
    EXPECT_EQ(wrong, 0);
    expect_all((char*)all + bytes, 64, 0x55);
  }
  free(all);
  MPI_Type_free(&block);
}

static void more_than_two_gigabytes_to_itself(void) {
  if (size > 1) return;
  const size_t words = (size_t)blocks * MB / sizeof(uint64_t);
  MPI_Datatype block;
  MPI_Request request;
  MPI_Status status;
  MPI_Type_contiguous(MB, MPI_BYTE, &block);
  MPI_Type_commit(&block);
  uint64_t *out = allocate(words * sizeof *out), *in = allocate(words * sizeof *in);
  for (size_t i = 0; i < words; i++) out[i] = i ^ 0x5a5a;
  MPI_Isend(out, blocks, block, rank, 0, WORLD, &request);
  MPI_Recv(in, blocks, block, rank, 0, WORLD, &status);
  MPI_Wait(&request, IGNORE);
  int count = -1;
  MPI_Get_count(&status, block, &count);
  EXPECT_EQ(count, blocks);
  EXPECT_EQ(memcmp(in, out, words * sizeof *in), 0);
  free(in), free(out);
  MPI_Type_free(&block);
}

static const Case cases[] = {CASE(more_than_two_gigabytes, 2), CASE(more_than_two_gigabytes_to_itself, 1)};
SUITE(cases)
