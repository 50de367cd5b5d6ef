// Sends one element of a datatype from rank 0 to rank 1, in which every byte is checked: those of the type map carry the
// packed stream, the gaps keep what they were.
#pragma once

#include "suite.h"

// The packed stream of `count` elements at `origin`, by MPI_Pack (which the host does alone).
UNUSED_OK static int packed_stream(const void* origin, int count, MPI_Datatype type, char** stream) {
  int length, position = 0;
  MPI_Pack_size(count, type, MPI_COMM_SELF, &length);
  *stream = allocate((size_t)length);
  MPI_Pack(origin, count, type, *stream, length, &position, MPI_COMM_SELF);
  return position;
}

typedef struct {
  MPI_Aint first, span;  // true lower bound of `count` elements and the bytes they stretch over
} Stretch;

UNUSED_OK static Stretch stretch_of(MPI_Datatype type, int count) {
  MPI_Aint lower, extent, true_lower, true_extent;
  MPI_Type_get_extent(type, &lower, &extent);
  MPI_Type_get_true_extent(type, &true_lower, &true_extent);
  const MPI_Aint shift = extent * (count - 1);
  const MPI_Aint first = true_lower + (shift < 0 ? shift : 0);
  const Stretch stretch = {first, true_extent + (shift < 0 ? -shift : shift)};
  return stretch;
}

// `late` milliseconds before the send; both ends keep guard bytes around the buffer.
UNUSED_OK static void exchange_typed(MPI_Datatype from_type, int from_count, MPI_Datatype to_type, int to_count, int late) {
  enum { margin = 64 };
  if (rank >= 2) return;
  const Stretch from = stretch_of(from_type, from_count), to = stretch_of(to_type, to_count);
  char* source = allocate((size_t)from.span);
  fill(source, (size_t)from.span, 12);
  if (rank == 0) {
    if (late) be_late();
    MPI_Send(source - from.first, from_count, from_type, 1, 0, WORLD);
    free(source);
    return;
  }
  char* target = allocate((size_t)to.span + 2 * margin);
  char* wanted = allocate((size_t)to.span + 2 * margin);
  memset(target, 0x3c, (size_t)to.span + 2 * margin);
  memset(wanted, 0x3c, (size_t)to.span + 2 * margin);
  MPI_Status status;
  MPI_Recv(target + margin - to.first, to_count, to_type, 0, 0, WORLD, &status);
  char* stream;
  const int length = packed_stream(source - from.first, from_count, from_type, &stream);
  int position = 0, elements = -1;
  MPI_Unpack(stream, length, &position, wanted + margin - to.first, to_count, to_type, MPI_COMM_SELF);
  EXPECT(memcmp(target, wanted, (size_t)to.span + 2 * margin) == 0, "the received bytes differ from MPI_Unpack's");
  MPI_Get_elements(&status, to_type, &elements);
  expect_status(&status, 0, 0, to_type, to_count);
  note("%d", elements);
  note_bytes(target, (size_t)to.span + 2 * margin);
  free(stream);
  free(wanted);
  free(target);
  free(source);
}

// The type at both ends; contiguous at one end; and the other.
UNUSED_OK static void exchange_in_every_way(MPI_Datatype type, int count) {
  int bytes;
  MPI_Type_commit(&type);
  MPI_Type_size(type, &bytes);
  exchange_typed(type, count, type, count, 0);
  exchange_typed(type, count, MPI_BYTE, count * bytes, 0);
  exchange_typed(MPI_BYTE, count * bytes, type, count, 0);
  exchange_typed(type, count, type, count, 1);
  MPI_Type_free(&type);
}
