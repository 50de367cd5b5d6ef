// Pages that a receive shares: with ordinary data, with other receives, with send buffers, with the next receive.
#include "late.h"

enum { page = 4096 };

static char* page_aligned(size_t bytes) {
  void* memory = NULL;
  if (posix_memalign(&memory, page, bytes)) MPI_Abort(WORLD, 6);
  memset(memory, 0, bytes);
  return memory;
}

static void neighbours_on_head_and_tail_pages(void) {
  char* area = page_aligned(large + 2 * page);
  char *head = area, *buffer = area + 1000, *tail = buffer + large;
  for (unsigned i = 0; i < 8; i++) {
    memset(head, (int)i, 1000);
    memset(tail, (int)i + 100, 1000);
    if (late_message(buffer, large, i)) {
      expect_all(head, 1000, (int)i);   // read while the page may be missing
      memset(tail, (int)i + 50, 1000);  // written while it may be
      if (i % 2) expect_filled(buffer, large, i);
      expect_all(tail, 1000, (int)i + 50);
      expect_filled(buffer, large, i);
      expect_all(head, 1000, (int)i);
    }
  }
  free(area);
}

// Messages 0..n-1 of rank 0 into neighbouring, unaligned pieces of one area of rank 1.
static void pieces(int n, int bytes, int check_in_reverse) {
  char* area = page_aligned((size_t)(n * bytes + page));
  char* at = area + 77;
  for (int i = 0; i < n; i++) {
    const int received = late_message(at + i * bytes, bytes, (unsigned)i);
    if (received && i % 3 == 2) expect_filled(at + (i - 1) * bytes, (size_t)bytes, (unsigned)i - 1);
  }
  for (int k = 0; k < n && rank == 1; k++) {
    const int i = check_in_reverse ? n - 1 - k : k;
    expect_filled(at + i * bytes, (size_t)bytes, (unsigned)i);
  }
  free(area);
}

static void neighbouring_receives(void) { pieces(12, 100001, 0); }
static void neighbouring_receives_checked_in_reverse(void) { pieces(12, 100001, 1); }
static void receives_that_end_short_of_a_page(void) { pieces(30, 70000 - 7, 1); }

static void same_buffer_for_the_next_receive(void) {
  char* buffer = allocate(large);
  for (unsigned i = 0; i < 10; i++) {
    if (late_message(buffer, large, i) && i % 4 == 3) expect_filled(buffer, large, i);
  }
  if (rank == 1) expect_filled(buffer, large, 9);
  free(buffer);
}

// The second message is shorter: the rest of the first must still be there.
static void overlapping_receives_in_order(void) {
  char* buffer = allocate(large);
  for (unsigned i = 0; i < 5; i++) {
    late_message(buffer, large, i);
    if (late_message(buffer + 100000, 200000, i + 10)) {
      expect_part_filled(buffer, 0, 100000, i);
      expect_filled(buffer + 100000, 200000, i + 10);
      expect_part_filled(buffer, 300000, large, i);
    }
  }
  free(buffer);
}

static void small_receive_into_a_large_one_under_way(void) {
  char* buffer = allocate(large);
  late_message(buffer, large, 1);
  if (late_message(buffer + 300000, 16, 2)) {
    expect_part_filled(buffer, 0, 300000, 1);
    expect_filled(buffer + 300000, 16, 2);
    expect_part_filled(buffer, 300016, large, 1);
  }
  free(buffer);
}

static void neighbour_as_send_buffer(void) {
  char* area = page_aligned(large + 2 * page);
  char *buffer = area + 500, *neighbour = area + 500 + large;
  for (unsigned i = 0; i < 6; i++) {
    if (rank == 1) fill(area, 500, i), fill(neighbour, 2000, i + 7);
    if (late_message(buffer, large, i + 30)) {
      MPI_Request request;
      MPI_Send(area, 500, MPI_BYTE, 0, 2, WORLD);
      MPI_Isend(neighbour, 2000, MPI_BYTE, 0, 2, WORLD, &request);
      MPI_Wait(&request, IGNORE);
      expect_filled(buffer, large, i + 30);
    } else if (rank == 0) {
      MPI_Recv(buffer, 500, MPI_BYTE, 1, 2, WORLD, IGNORE);
      expect_filled(buffer, 500, i);
      MPI_Recv(buffer, 2000, MPI_BYTE, 1, 2, WORLD, IGNORE);
      expect_filled(buffer, 2000, i + 7);
    }
  }
  free(area);
}

static void large_neighbour_as_send_buffer(void) {
  char* area = page_aligned(3 * large);
  char *buffer = area + 500, *neighbour = area + 500 + large;
  for (unsigned i = 0; i < 4; i++) {
    if (rank == 1) fill(neighbour, large, i);
    if (late_message(buffer, large, i + 30)) {
      MPI_Send(neighbour, large, MPI_BYTE, 0, 2, WORLD);
      expect_filled(buffer, large, i + 30);
    } else if (rank == 0) {
      MPI_Recv(area, large, MPI_BYTE, 1, 2, WORLD, IGNORE);
      expect_filled(area, large, i);
    }
  }
  free(area);
}

// What was just received is sent on at once, by every mode.
static void forward_at_once(int (*send)(const void*, int, MPI_Datatype, int, int, MPI_Comm)) {
  char* buffer = allocate(large);
  for (unsigned i = 0; i < 4; i++) {
    if (rank == 0) {
      fill(buffer, large, i);
      be_late();
      MPI_Send(buffer, large, MPI_BYTE, 1, 5, WORLD);
      MPI_Recv(buffer, large, MPI_BYTE, size - 1, 5, WORLD, IGNORE);
      expect_filled(buffer, large, i);
    } else {
      MPI_Recv(buffer, large, MPI_BYTE, rank - 1, 5, WORLD, IGNORE);
      send(buffer, large, MPI_BYTE, (rank + 1) % size, 5, WORLD);
      if (i % 2) expect_filled(buffer, large, i);
    }
  }
  free(buffer);
}

static int by_isend(const void* b, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  MPI_Request request;
  MPI_Isend(b, n, type, to, tag, comm, &request);
  return MPI_Wait(&request, IGNORE);
}

static int by_vector(const void* b, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  MPI_Datatype halves;
  MPI_Type_vector(2, n / 2, n / 2, type, &halves);
  MPI_Type_commit(&halves);
  MPI_Send(b, 1, halves, to, tag, comm);
  return MPI_Type_free(&halves);
}

static void forwarded_by_send(void) { forward_at_once(MPI_Send); }
static void forwarded_by_ssend(void) { forward_at_once(MPI_Ssend); }
static void forwarded_by_isend(void) { forward_at_once(by_isend); }
static void forwarded_as_a_derived_type(void) { forward_at_once(by_vector); }

static void forwarded_by_bsend(void) {
  int room = 8 * (large + MPI_BSEND_OVERHEAD);
  void* attached = allocate((size_t)room);
  MPI_Buffer_attach(attached, room);
  forward_at_once(MPI_Bsend);
  MPI_Buffer_detach(&attached, &room);
  free(attached);
}

static void forwarded_in_small_pieces(void) {
  enum { piece = 1000 };
  char* buffer = allocate(large);
  if (late_message(buffer, large, 3)) {
    for (int at = 0; at < large; at += piece) MPI_Send(buffer + at, piece, MPI_BYTE, 0, 6, WORLD);
  } else if (rank == 0) {
    for (int at = 0; at < large; at += piece) MPI_Recv(buffer + at, piece, MPI_BYTE, 1, 6, WORLD, IGNORE);
    expect_filled(buffer, large, 3);
  }
  free(buffer);
}

static void replaced_by_sendrecv_at_once(void) {
  char* buffer = allocate(large);
  if (late_message(buffer, large, 3)) {
    MPI_Sendrecv_replace(buffer, large, MPI_BYTE, 0, 6, 0, 6, WORLD, IGNORE);
    expect_filled(buffer, large, 4);
  } else if (rank == 0) {
    fill(buffer, large, 4);
    MPI_Sendrecv_replace(buffer, large, MPI_BYTE, 1, 6, 1, 6, WORLD, IGNORE);
    expect_filled(buffer, large, 3);
  }
  free(buffer);
}

static void columns_of_one_matrix(void) {  // derived types whose spans cover each other
  enum { rows = 1000, columns = 8 };
  static double matrix[rows][columns];
  MPI_Datatype column;
  MPI_Type_vector(rows, 1, columns, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  for (int c = 0; c < columns && rank < 2; c++) {
    for (int r = 0; r < rows && rank == 0; r++) matrix[r][c] = r * 10 + c;
    if (rank == 0) be_late();
    if (rank == 0) MPI_Send(&matrix[0][c], 1, column, 1, 0, WORLD);
    if (rank == 1) MPI_Recv(&matrix[0][c], 1, column, 0, 0, WORLD, IGNORE);
  }
  for (int i = 0; i < rows * columns && rank == 1; i++) {
    EXPECT(matrix[i / columns][i % columns] == i / columns * 10 + i % columns, "element %d", i);
  }
  MPI_Type_free(&column);
}

static const Case cases[] = {CASE(neighbours_on_head_and_tail_pages, 2),
                             CASE(neighbouring_receives, 2),
                             CASE(neighbouring_receives_checked_in_reverse, 2),
                             CASE(receives_that_end_short_of_a_page, 2),
                             CASE(same_buffer_for_the_next_receive, 2),
                             CASE(overlapping_receives_in_order, 2),
                             CASE(small_receive_into_a_large_one_under_way, 2),
                             CASE(neighbour_as_send_buffer, 2),
                             CASE(large_neighbour_as_send_buffer, 2),
                             CASE(forwarded_by_send, 2),
                             CASE(forwarded_by_ssend, 2),
                             CASE(forwarded_by_isend, 2),
                             CASE(forwarded_as_a_derived_type, 2),
                             CASE(forwarded_by_bsend, 2),
                             CASE(forwarded_in_small_pieces, 2),
                             CASE(replaced_by_sendrecv_at_once, 2),
                             CASE(columns_of_one_matrix, 2)};
SUITE(cases)
