// Windows as objects: attributes, names, groups, errors, many of them, and communicators of all kinds.
#include "rma.h"

static void* attribute(MPI_Win win, int key) {
  void* value = NULL;
  int found = 0;
  MPI_Win_get_attr(win, key, &value, &found);
  EXPECT_EQ(found, 1);
  return value;
}

static void attributes(void) {
  for (Kind kind = 0; kind < kinds; kind++) {
    const size_t bytes = 100 + 8 * (size_t)rank;
    Exposed shared = expose(kind, bytes, 2 + rank % 3);
    EXPECT(attribute(shared.win, MPI_WIN_BASE) == shared.base, "another base");
    EXPECT_EQ(*(MPI_Aint*)attribute(shared.win, MPI_WIN_SIZE), bytes);
    EXPECT_EQ(*(int*)attribute(shared.win, MPI_WIN_DISP_UNIT), 2 + rank % 3);
    EXPECT_EQ(*(int*)attribute(shared.win, MPI_WIN_CREATE_FLAVOR),
              kind == allocated ? MPI_WIN_FLAVOR_ALLOCATE : MPI_WIN_FLAVOR_CREATE);
    EXPECT_EQ(*(int*)attribute(shared.win, MPI_WIN_MODEL), MPI_WIN_UNIFIED);
    conceal(&shared);
  }
}

static int deleted;
static int on_delete(MPI_Win win, int key, void* value, void* extra) {
  (void)win, (void)key, (void)value, (void)extra;
  deleted++;
  return MPI_SUCCESS;
}

static void names_groups_and_keys(void) {
  for (Kind kind = 0; kind < kinds; kind++) {
    Exposed shared = expose(kind, 64, 1);
    char name[MPI_MAX_OBJECT_NAME];
    int length = 0, key = 0, compared = -1, found = 0;
    MPI_Win_set_name(shared.win, "halo");
    MPI_Win_get_name(shared.win, name, &length);
    EXPECT(strcmp(name, "halo") == 0, "named %s", name);
    MPI_Group own, world;
    MPI_Win_get_group(shared.win, &own);
    MPI_Comm_group(WORLD, &world);
    MPI_Group_compare(own, world, &compared);
    EXPECT_EQ(compared, MPI_IDENT);
    MPI_Group_free(&own);
    MPI_Group_free(&world);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &key, NULL);
    MPI_Win_set_attr(shared.win, key, &deleted);
    void* value = NULL;
    MPI_Win_get_attr(shared.win, key, &value, &found);
    EXPECT(found && value == &deleted, "another value");
    MPI_Info info;
    MPI_Win_get_info(shared.win, &info);
    MPI_Win_set_info(shared.win, info);
    MPI_Info_free(&info);
    deleted = 0;
    conceal(&shared);
    EXPECT_EQ(deleted, 1);
    MPI_Win_free_keyval(&key);
  }
}

static const char* layout_told(MPI_Win win, char* value) {
  MPI_Info info;
  int found;
  MPI_Win_get_info(win, &info);
  MPI_Info_get(info, "alloc_shared_noncontig", 20, value, &found);
  MPI_Info_free(&info);
  return found ? value : "none";
}

/// Whatever the window behind it was made with.
static void hints_are_the_programs(void) {
  char value[21];
  for (int asked = 0; asked < 3; asked++) {
    const char* const hints[] = {"none", "false", "true"};
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "same_size", "true");
    if (asked) MPI_Info_set(info, "alloc_shared_noncontig", hints[asked]);
    void* base;
    MPI_Win win;
    MPI_Win_allocate(100, 1, info, MPI_COMM_WORLD, &base, &win);
    MPI_Info_free(&info);
    EXPECT(!strcmp(layout_told(win, value), hints[asked]), "hint %s is told as %s", hints[asked], layout_told(win, value));
    MPI_Win_free(&win);
  }
}

static void no_memory_on_some(void) {
  for (Kind kind = 0; kind < kinds; kind++) {
    Exposed shared = expose(kind, rank % 2 ? 0 : 64, 1);
    MPI_Win_fence(0, shared.win);
    const char sent = (char)(rank + 1);
    if (right() % 2 == 0) MPI_Put(&sent, 1, MPI_CHAR, right(), 3, 1, MPI_CHAR, shared.win);
    MPI_Win_fence(0, shared.win);
    if (rank % 2 == 0) EXPECT_EQ(shared.base[3], left() + 1);
    conceal(&shared);
  }
}

static void many_windows(void) {
  enum { count = 12 };
  Exposed all[count];
  for (int round = 0; round < 4; round++) {
    for (int i = 0; i < count; i++) all[i] = expose((Kind)(i % kinds), 256, 4);
    for (int i = 0; i < count; i++) MPI_Win_fence(0, all[i].win);
    for (int i = 0; i < count; i++) {
      const int sent = 100 * i + rank;
      MPI_Put(&sent, 1, MPI_INT, right(), i, 1, MPI_INT, all[i].win);
      MPI_Win_fence(0, all[i].win);
    }
    for (int i = 0; i < count; i++) EXPECT_EQ(((int*)all[i].base)[i], 100 * i + left());
    for (int i = 0; i < count; i++) conceal(&all[(i * 5) % count]);
  }
}

static void exchange_by_each_synchronisation(Exposed* shared, int rounds, MPI_Group neighbours) {
  for (int i = 0; i < rounds; i++) {
    const int sent = 10 * i + rank, added = 5;
    MPI_Win_fence(0, shared->win);
    MPI_Put(&sent, 1, MPI_INT, right(), 0, 1, MPI_INT, shared->win);
    MPI_Win_fence(0, shared->win);
    EXPECT_EQ(((int*)shared->base)[0], 10 * i + left());
    MPI_Barrier(WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right(), 0, shared->win);
    MPI_Accumulate(&added, 1, MPI_INT, right(), 1, 1, MPI_INT, MPI_SUM, shared->win);
    MPI_Win_unlock(right(), shared->win);
    MPI_Barrier(WORLD);
    EXPECT_EQ(((int*)shared->base)[1], 5 * (i + 1));
    MPI_Win_post(neighbours, 0, shared->win);
    MPI_Win_start(neighbours, 0, shared->win);
    MPI_Put(&sent, 1, MPI_INT, right(), 2, 1, MPI_INT, shared->win);
    MPI_Win_complete(shared->win);
    MPI_Win_wait(shared->win);
    EXPECT_EQ(((int*)shared->base)[2], 10 * i + left());
    MPI_Barrier(WORLD);
  }
}

// Each begins anew, whatever those before it have counted.
static void one_after_another(void) {
  MPI_Comm twin;
  MPI_Comm_dup(WORLD, &twin);
  MPI_Group all, neighbours;
  const int both[2] = {left(), right()};
  MPI_Comm_group(WORLD, &all);
  MPI_Group_incl(all, left() == right() ? 1 : 2, both, &neighbours);
  for (int i = 0; i < 12; i++) {
    Exposed shared = expose_on((Kind)(i % kinds), 64, 4, i % 3 ? WORLD : twin);
    exchange_by_each_synchronisation(&shared, 1 + i % 4, neighbours);
    conceal(&shared);
  }
  MPI_Group_free(&neighbours);
  MPI_Group_free(&all);
  MPI_Comm_free(&twin);
}

static void more_at_once_than_have_room(void) {
  enum { count = 70 };
  Exposed all[count];
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < count; i++) all[i] = expose((Kind)(i % kinds), 64, 4);
    for (int i = 0; i < count; i++) {
      const int sent = 100 * i + rank;
      MPI_Win_lock(MPI_LOCK_SHARED, right(), 0, all[i].win);
      MPI_Put(&sent, 1, MPI_INT, right(), i % 16, 1, MPI_INT, all[i].win);
      MPI_Win_unlock(right(), all[i].win);
    }
    MPI_Barrier(WORLD);
    for (int i = 0; i < count; i++) {
      MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, all[i].win);
      EXPECT_EQ(((int*)all[i].base)[i % 16], 100 * i + left());
      MPI_Win_unlock(rank, all[i].win);
    }
    for (int i = 0; i < count; i++) conceal(&all[(i * 31) % count]);
  }
}

// Of parts of the world, in another order, and freed before the window is used. Part by part: the host (4.1) names a window's
// file by the communicator's number, which parts that share no rank have in common.
static void on_other_communicators(void) {
  for (Kind kind = 0; kind < (Kind)first_kinds(); kind++) {
    const int own = size < 4 ? 0 : rank % 2;  // a rank alone is the host's
    MPI_Comm part;
    MPI_Comm_split(WORLD, own, -rank, &part);
    int self, members;
    MPI_Comm_rank(part, &self);
    MPI_Comm_size(part, &members);
    Exposed shared;
    for (int turn = 0; turn < 2; turn++) {
      if (turn == own) shared = expose_on(kind, 64, 4, part);
      MPI_Barrier(WORLD);
    }
    MPI_Comm_free(&part);
    MPI_Win_fence(0, shared.win);
    const int sent = 10 * self;
    MPI_Put(&sent, 1, MPI_INT, (self + 1) % members, 1, 1, MPI_INT, shared.win);
    MPI_Win_fence(0, shared.win);
    EXPECT_EQ(((int*)shared.base)[1], 10 * ((self + members - 1) % members));
    conceal(&shared);
  }
}

// What MPI lets a library find.
static void errors_return(void) {
  for (Kind kind = 0; kind < (Kind)first_kinds(); kind++) {
    Exposed shared = expose(kind, 64, 4);
    MPI_Win_set_errhandler(shared.win, MPI_ERRORS_RETURN);
    int word = 0;
    MPI_Barrier(WORLD);
    EXPECT_CLASS(MPI_Win_unlock(right(), shared.win), MPI_ERR_RMA_SYNC);
    EXPECT_CLASS(MPI_Win_complete(shared.win), MPI_ERR_RMA_SYNC);
    EXPECT_CLASS(MPI_Win_wait(shared.win), MPI_ERR_RMA_SYNC);
    EXPECT_CLASS(MPI_Put(&word, 1, MPI_INT, right(), 0, 1, MPI_INT, shared.win), MPI_ERR_RMA_SYNC);
    MPI_Barrier(WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, right(), 0, shared.win);
    EXPECT_CLASS(MPI_Put(&word, 1, MPI_INT, size, 0, 1, MPI_INT, shared.win), MPI_ERR_RANK);
    EXPECT_CLASS(MPI_Put(&word, -1, MPI_INT, right(), 0, 1, MPI_INT, shared.win), MPI_ERR_COUNT);
    EXPECT_CLASS(MPI_Put(&word, 1, MPI_DATATYPE_NULL, right(), 0, 1, MPI_INT, shared.win), MPI_ERR_TYPE);
    if (kind == allocated) {  // of memory that a program brings not every component of the host's knows the end
      EXPECT_CLASS(MPI_Put(&word, 1, MPI_INT, right(), 16, 1, MPI_INT, shared.win), MPI_ERR_RMA_RANGE);
      EXPECT_CLASS(MPI_Get(&word, 1, MPI_INT, right(), -1, 1, MPI_INT, shared.win), MPI_ERR_RMA_RANGE);
    }
    EXPECT_EQ(MPI_Put(&word, 1, MPI_INT, right(), 15, 1, MPI_INT, shared.win), MPI_SUCCESS);
    MPI_Win_unlock(right(), shared.win);
    EXPECT_CLASS(MPI_Win_lock(-1, right(), 0, shared.win), MPI_ERR_LOCKTYPE);
    EXPECT_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, size, 0, shared.win), MPI_ERR_RANK);
    conceal(&shared);
  }
}

static const Case cases[] = {
    CASE(attributes, 1),        CASE(names_groups_and_keys, 1),       CASE(no_memory_on_some, 1),
    CASE(many_windows, 1),      CASE(on_other_communicators, 1),      CASE(errors_return, 1),
    CASE(one_after_another, 1), CASE(more_at_once_than_have_room, 1), CASE(hints_are_the_programs, 1),
};
SUITE(cases)
