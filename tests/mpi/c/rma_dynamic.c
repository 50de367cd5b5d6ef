// Dynamic windows: memory that comes and goes, reached by addresses that the program passes on.
#include "rma.h"

enum { most_regions = 24 };

static MPI_Win dynamic_window(void) {
  MPI_Win win;
  MPI_Win_create_dynamic(MPI_INFO_NULL, WORLD, &win);
  return win;
}

static void* attach(MPI_Win win, size_t bytes) {
  void* memory = allocate(bytes);
  memset(memory, 0, bytes);
  EXPECT_EQ(MPI_Win_attach(win, memory, (MPI_Aint)bytes), MPI_SUCCESS);
  return memory;
}

static void detach(MPI_Win win, void* memory) {
  EXPECT_EQ(MPI_Win_detach(win, memory), MPI_SUCCESS);
  free(memory);
}

// Addresses of all ranks. Whoever has them may access.
static void tell(const void* memory, MPI_Aint* all) {
  MPI_Aint own;
  MPI_Get_address(memory, &own);
  MPI_Allgather(&own, 1, MPI_AINT, all, 1, MPI_AINT, WORLD);
}

static MPI_Aint* tell_new(const void* memory) {
  MPI_Aint* all = malloc((size_t)size * sizeof *all);
  tell(memory, all);
  return all;
}

static void attributes(void) {
  MPI_Win win = dynamic_window();
  void* value;
  int found;
  MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &value, &found);
  EXPECT(found && *(int*)value == MPI_WIN_FLAVOR_DYNAMIC, "another flavor");
  MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &found);
  EXPECT(found && value == MPI_BOTTOM, "another base");
  MPI_Win_get_attr(win, MPI_WIN_SIZE, &value, &found);
  EXPECT(found && *(MPI_Aint*)value == 0, "another size");
  MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &value, &found);
  EXPECT(found && *(int*)value == 1, "another unit");
  MPI_Win_free(&win);
}

static void put_and_get_by_fences(void) {
  enum { longs = 9001 };
  MPI_Win win = dynamic_window();
  long* memory = attach(win, longs * sizeof(long));
  MPI_Aint* at = tell_new(memory);
  long* sent = allocate(longs * sizeof(long));
  for (int i = 0; i < longs; i++) sent[i] = 1000L * rank + i;
  MPI_Win_fence(0, win);
  MPI_Put(sent, longs, MPI_LONG, right(), at[right()], longs, MPI_LONG, win);
  MPI_Win_fence(0, win);
  for (int i = 0; i < longs; i++) EXPECT_EQ(memory[i], 1000L * left() + i);
  MPI_Win_fence(0, win);
  MPI_Get(sent, longs - 1, MPI_LONG, left(), MPI_Aint_add(at[left()], sizeof(long)), longs - 1, MPI_LONG, win);
  MPI_Win_fence(0, win);
  for (int i = 1; i < longs; i++) EXPECT_EQ(sent[i - 1], 1000L * ((left() + size - 1) % size) + i);
  MPI_Barrier(WORLD);
  detach(win, memory);
  MPI_Win_free(&win);
  free(sent);
  free(at);
}

static void regions_come_and_go(void) {
  MPI_Win win = dynamic_window();
  MPI_Win_lock_all(0, win);
  for (int round = 0; round < 3; round++) {
    char* regions[most_regions];
    MPI_Aint* at[most_regions];
    for (int i = 0; i < most_regions; i++) {
      regions[i] = attach(win, 100 + 777 * (size_t)i);
      at[i] = tell_new(regions[i]);
    }
    for (int i = 0; i < most_regions; i++) {
      const char byte = (char)(i + 7 * rank + round);
      MPI_Put(&byte, 1, MPI_CHAR, right(), MPI_Aint_add(at[i][right()], 99 + 777 * i), 1, MPI_CHAR, win);
    }
    MPI_Win_flush_all(win);
    MPI_Barrier(WORLD);
    for (int i = 0; i < most_regions; i++) {
      MPI_Win_sync(win);
      EXPECT_EQ(regions[i][99 + 777 * i], (char)(i + 7 * left() + round));
      EXPECT_EQ(regions[i][98 + 777 * i], 0);
    }
    for (int i = 0; i < most_regions; i++) {
      const int one = (i * 7 + round) % most_regions;
      detach(win, regions[one]);
      free(at[one]);
    }
    MPI_Barrier(WORLD);
  }
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
}

static void shapes(void) {
  enum { rows = 50, columns = 40 };
  MPI_Win win = dynamic_window();
  int* matrix = attach(win, rows * columns * sizeof(int));
  for (int i = 0; i < rows * columns; i++) matrix[i] = rank * 10000 + i;
  MPI_Aint* at = tell_new(matrix);
  MPI_Datatype column;
  MPI_Type_vector(rows, 1, columns, MPI_INT, &column);
  MPI_Type_commit(&column);
  int got[rows];
  MPI_Win_lock(MPI_LOCK_SHARED, right(), 0, win);
  MPI_Get(got, rows, MPI_INT, right(), MPI_Aint_add(at[right()], 3 * sizeof(int)), 1, column, win);
  MPI_Win_unlock(right(), win);
  for (int i = 0; i < rows; i++) EXPECT_EQ(got[i], right() * 10000 + i * columns + 3);
  MPI_Barrier(WORLD);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, left(), 0, win);
  MPI_Put(got, rows, MPI_INT, left(), MPI_Aint_add(at[left()], 5 * sizeof(int)), 1, column, win);
  MPI_Win_unlock(left(), win);
  MPI_Barrier(WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  for (int i = 0; i < rows; i++) EXPECT_EQ(matrix[i * columns + 5], ((rank + 2) % size) * 10000 + i * columns + 3);
  MPI_Win_unlock(rank, win);
  MPI_Type_free(&column);
  detach(win, matrix);
  MPI_Win_free(&win);
  free(at);
}

static void counters(void) {
  enum { times = 200 };
  MPI_Win win = dynamic_window();
  long* counters = attach(win, 3 * sizeof(long));
  MPI_Aint* at = tell_new(counters);
  const long one = 1;
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < times; i++) {
    long before;
    MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, at[0], MPI_SUM, win);
    MPI_Accumulate(&one, 1, MPI_LONG, i % size, MPI_Aint_add(at[i % size], sizeof(long)), 1, MPI_LONG, MPI_SUM, win);
    long swapped = -1;
    do {
      long seen = swapped < 0 ? 0 : swapped;
      const long next = seen + 1;
      MPI_Compare_and_swap(&next, &seen, &swapped, MPI_LONG, 0, MPI_Aint_add(at[0], 2 * sizeof(long)), win);
      MPI_Win_flush(0, win);
      if (swapped == seen) break;
    } while (1);
  }
  MPI_Win_unlock_all(win);
  MPI_Barrier(WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  int turns = 0;
  for (int i = 0; i < times; i++) turns += i % size == rank;
  EXPECT_EQ(counters[1], (long)turns * size);
  if (rank == 0) EXPECT_EQ(counters[0], (long)times * size);
  if (rank == 0) EXPECT_EQ(counters[2], (long)times * size);
  MPI_Win_unlock(rank, win);
  detach(win, counters);
  MPI_Win_free(&win);
  free(at);
}

// A list over all ranks, as in MPI-3.1, example 11.22: each element lies where it was made.
typedef struct {
  long value;
  MPI_Aint next;
  int next_rank;
} Element;

static void list_over_ranks(void) {
  MPI_Win win = dynamic_window();
  Element* own = attach(win, sizeof *own);
  own->value = 100 + rank;
  own->next = 0;
  own->next_rank = -1;
  MPI_Aint* at = tell_new(own);
  MPI_Win_lock_all(0, win);
  if (rank > 0) {  // behind the one before
    Element link = {0, at[rank], rank};
    MPI_Put(&link.next, (int)(sizeof link - offsetof(Element, next)), MPI_BYTE, rank - 1,
            MPI_Aint_add(at[rank - 1], offsetof(Element, next)), (int)(sizeof link - offsetof(Element, next)), MPI_BYTE, win);
    MPI_Win_flush(rank - 1, win);
  }
  MPI_Barrier(WORLD);
  long sum = 0;
  int seen = 0;
  MPI_Aint place = at[0];
  for (int where = 0; where >= 0; seen++) {
    Element element;
    MPI_Get(&element, sizeof element, MPI_BYTE, where, place, sizeof element, MPI_BYTE, win);
    MPI_Win_flush(where, win);
    sum += element.value;
    where = element.next_rank;
    place = element.next;
  }
  EXPECT_EQ(seen, size);
  EXPECT_EQ(sum, 100L * size + (long)size * (size - 1) / 2);
  MPI_Win_unlock_all(win);
  MPI_Barrier(WORLD);
  detach(win, own);
  MPI_Win_free(&win);
  free(at);
}

static void what_is_not_there(void) {
  MPI_Win win = dynamic_window();
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  int* memory = attach(win, 64);
  MPI_Aint* at = tell_new(memory);
  int word = 5;
  MPI_Win_lock_all(0, win);
  EXPECT_CLASS(MPI_Put(&word, 1, MPI_INT, right(), 4096, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
  EXPECT_CLASS(MPI_Get(&word, 1, MPI_INT, right(), 4096, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
  EXPECT_CLASS(MPI_Accumulate(&word, 1, MPI_INT, right(), 4096, 1, MPI_INT, MPI_SUM, win), MPI_ERR_RMA_RANGE);
  EXPECT_CLASS(MPI_Put(&word, 1, MPI_INT, rank, MPI_Aint_add(at[rank], 64), 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
  EXPECT_CLASS(MPI_Put(&word, 1, MPI_INT, rank, MPI_Aint_add(at[rank], -4), 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
  EXPECT_EQ(MPI_Put(&word, 1, MPI_INT, rank, MPI_Aint_add(at[rank], 60), 1, MPI_INT, win), MPI_SUCCESS);
  MPI_Win_flush(rank, win);
  EXPECT_EQ(memory[15], 5);
  MPI_Win_unlock_all(win);
  MPI_Barrier(WORLD);
  detach(win, memory);
  MPI_Win_free(&win);
  free(at);
}

static const Case cases[] = {
    CASE(attributes, 1), CASE(put_and_get_by_fences, 1), CASE(regions_come_and_go, 1), CASE(shapes, 2),
    CASE(counters, 1),   CASE(list_over_ranks, 1),       CASE(what_is_not_there, 2),
};
SUITE(cases)
