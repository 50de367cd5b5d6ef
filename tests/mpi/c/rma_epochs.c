// Synchronisation of windows: fences, post and start, locks; who waits for whom, and who does not.
#include <sched.h>

#include "rma.h"

static void put_word(int value, int to, int place, MPI_Win win) { MPI_Put(&value, 1, MPI_INT, to, place, 1, MPI_INT, win); }

// Nobody leaves a fence before the last one has come.
static void fence_waits(void) {
  double* came = allocate((size_t)size * sizeof *came);
  for (Kind kind = 0; kind < kinds; kind++) {
    Exposed shared = expose(kind, 64, 4);
    for (int late = 0; late < size; late++) {
      if (rank == late) be_late();
      const double own = seconds_now();
      MPI_Win_fence(0, shared.win);
      const double left_at = seconds_now();
      MPI_Allgather(&own, 1, MPI_DOUBLE, came, 1, MPI_DOUBLE, WORLD);
      if (kind != allocated) continue;  // a fence without accesses before it need not wait
      for (int from = 0; from < size; from++) EXPECT(came[from] <= left_at, "rank %d came after rank %d had left", from, rank);
    }
    conceal(&shared);
  }
  free(came);
}

static void many_fences(void) {
  for (Kind kind = 0; kind < kinds; kind++) {
    Exposed shared = expose(kind, 64, 4);
    volatile int* words = (volatile int*)shared.base;
    MPI_Win_fence(MPI_MODE_NOPRECEDE, shared.win);
    for (int i = 1; i <= 300; i++) {
      put_word(1000 * rank + i, right(), i % 2, shared.win);
      MPI_Win_fence(i == 300 ? MPI_MODE_NOSUCCEED : 0, shared.win);
      EXPECT_EQ(words[i % 2], 1000 * left() + i);
    }
    conceal(&shared);
  }
}

// Each exposes to its left neighbour, and accesses the right one.
static void post_and_start(void) {
  MPI_Group world, origins, targets;
  MPI_Comm_group(WORLD, &world);
  const int before = left(), after = right();
  MPI_Group_incl(world, 1, &before, &origins);
  MPI_Group_incl(world, 1, &after, &targets);
  for (Kind kind = 0; kind < kinds; kind++) {
    Exposed shared = expose(kind, 64, 4);
    for (int i = 1; i <= 200; i++) {
      if (i % 50 == rank) be_late();
      MPI_Win_post(origins, 0, shared.win);
      MPI_Win_start(targets, 0, shared.win);
      put_word(1000 * rank + i, after, 3, shared.win);
      MPI_Win_complete(shared.win);
      if (i % 2) {
        MPI_Win_wait(shared.win);
      } else {
        int over = 0;
        while (!over) MPI_Win_test(shared.win, &over);
      }
      EXPECT_EQ(((volatile int*)shared.base)[3], 1000 * before + i);
    }
    conceal(&shared);
  }
  MPI_Group_free(&origins);
  MPI_Group_free(&targets);
  MPI_Group_free(&world);
}

// One target, all others are origins, then the other way about; and groups of nobody.
static void one_and_all_others(void) {
  MPI_Group world, others, one, nobody;
  MPI_Comm_group(WORLD, &world);
  for (Kind kind = 0; kind < kinds; kind++) {
    Exposed shared = expose(kind, (size_t)size * 4, 4);
    volatile int* words = (volatile int*)shared.base;
    for (int centre = 0; centre < size; centre++) {
      MPI_Group_excl(world, 1, &centre, &others);
      MPI_Group_incl(world, 1, &centre, &one);
      if (rank == centre) {
        MPI_Win_post(others, 0, shared.win);
        MPI_Win_wait(shared.win);
        for (int from = 0; from < size; from++) {
          if (from != centre) EXPECT_EQ(words[from], 77 + from + centre);
        }
        MPI_Win_start(others, 0, shared.win);
        for (int to = 0; to < size; to++) {
          if (to != centre) put_word(500 + to, to, rank, shared.win);
        }
        MPI_Win_complete(shared.win);
      } else {
        MPI_Win_start(one, 0, shared.win);
        put_word(77 + rank + centre, centre, rank, shared.win);
        MPI_Win_complete(shared.win);
        MPI_Win_post(one, 0, shared.win);
        MPI_Win_wait(shared.win);
        EXPECT_EQ(words[centre], 500 + rank);
      }
      MPI_Group_free(&others);
      MPI_Group_free(&one);
    }
    MPI_Group_excl(world, 0, NULL, &others);
    MPI_Group_incl(world, 0, NULL, &nobody);
    MPI_Win_post(nobody, 0, shared.win);
    MPI_Win_start(nobody, 0, shared.win);
    MPI_Win_complete(shared.win);
    MPI_Win_wait(shared.win);
    MPI_Group_free(&others);
    conceal(&shared);
  }
  MPI_Group_free(&world);
}

// Numbers that are read, and written back, one at a time.
static void exclusive_locks_exclude(void) {
  enum { each = 100 };
  for (Kind kind = 0; kind < kinds; kind++) {
    Exposed shared = expose(kind, 64, 4);
    for (int i = 0; i < each; i++) {
      const int target = i % size;
      int count = -1;
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, shared.win);
      MPI_Get(&count, 1, MPI_INT, target, 2, 1, MPI_INT, shared.win);
      MPI_Win_flush(target, shared.win);
      put_word(count + 1, target, 2, shared.win);
      MPI_Win_unlock(target, shared.win);
    }
    MPI_Barrier(WORLD);
    int own = 0, sum = 0;
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, shared.win);
    own = ((volatile int*)shared.base)[2];
    MPI_Win_unlock(rank, shared.win);
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, WORLD);
    EXPECT_EQ(sum, each * size);
    conceal(&shared);
  }
}

// Those who only look come all the time, and the one who changes gets its turn.
static void a_writer_among_readers(void) {
  for (Kind kind = 0; kind < (Kind)first_kinds(); kind++) {
    Exposed shared = expose(kind, 64, 4);
    if (rank == size - 1) {
      pause_ms(5);
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, shared.win);
      put_word(9, 0, 0, shared.win);
      MPI_Win_unlock(0, shared.win);
    } else {
      int seen = 0;
      while (seen != 9) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, shared.win);
        MPI_Get(&seen, 1, MPI_INT, 0, 0, 1, MPI_INT, shared.win);
        MPI_Win_unlock(0, shared.win);
      }
    }
    conceal(&shared);
  }
}

// A reader waits for another one to come beside it, while a writer waits for both.
static void readers_beside_a_waiting_writer(void) {
  for (Kind kind = 0; kind < kinds; kind++) {
    Exposed shared = expose(kind, 64, 4);
    int word = 0;
    if (rank == 0) {
      MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, shared.win);
      MPI_Send(&word, 1, MPI_INT, 1, 1, WORLD);
      MPI_Send(&word, 1, MPI_INT, 2, 1, WORLD);
      MPI_Recv(&word, 1, MPI_INT, 2, 2, WORLD, MPI_STATUS_IGNORE);
      MPI_Win_unlock(0, shared.win);
    } else if (rank == 1) {
      MPI_Recv(&word, 1, MPI_INT, 0, 1, WORLD, MPI_STATUS_IGNORE);
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, shared.win);
      put_word(1, 0, 0, shared.win);
      MPI_Win_unlock(0, shared.win);
    } else if (rank == 2) {
      MPI_Recv(&word, 1, MPI_INT, 0, 1, WORLD, MPI_STATUS_IGNORE);
      pause_ms(10);
      MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, shared.win);
      MPI_Get(&word, 1, MPI_INT, 0, 0, 1, MPI_INT, shared.win);
      MPI_Win_unlock(0, shared.win);
      MPI_Send(&word, 1, MPI_INT, 0, 2, WORLD);
    }
    conceal(&shared);
  }
}

// The target computes until it sees what was put there, and makes no call of MPI.
static void target_computes(void) {
  for (Kind kind = 0; kind < (Kind)first_kinds(); kind++) {
    Exposed shared = expose(kind, 64, 4);
    volatile int* words = (volatile int*)shared.base;
    if (rank == 0) {
      const double until = seconds_now() + 10;
      int last = 0;
      while (last < 100 * (size - 1) && seconds_now() < until) last = words[1];
      EXPECT_EQ(last, 100 * (size - 1));
    } else {
      const int one = 1;
      for (int i = 0; i < 100; i++) {
        MPI_Win_lock(i % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, shared.win);
        MPI_Accumulate(&one, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_SUM, shared.win);
        MPI_Win_unlock(0, shared.win);
      }
    }
    conceal(&shared);
  }
}

// Locks of several targets at once, of all, and of none that anybody conflicts with.
static void several_locks(void) {
  for (Kind kind = 0; kind < kinds; kind++) {
    Exposed shared = expose(kind, (size_t)size * 4, 4);
    volatile int* words = (volatile int*)shared.base;
    for (int to = 0; to < size; to++) MPI_Win_lock(MPI_LOCK_SHARED, to, 0, shared.win);
    for (int to = 0; to < size; to++) put_word(rank + 1, to, rank, shared.win);
    for (int to = size - 1; to >= 0; to--) MPI_Win_unlock(to, shared.win);
    MPI_Barrier(WORLD);
    MPI_Win_lock_all(0, shared.win);
    for (int from = 0; from < size; from++) EXPECT_EQ(words[from], from + 1);
    MPI_Barrier(WORLD);
    put_word(rank + 10, right(), rank, shared.win);
    MPI_Win_flush_all(shared.win);
    MPI_Win_flush_local(right(), shared.win);
    MPI_Win_flush_local_all(shared.win);
    MPI_Barrier(WORLD);
    MPI_Win_sync(shared.win);
    EXPECT_EQ(words[left()], left() + 10);
    MPI_Win_unlock_all(shared.win);
    MPI_Barrier(WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right(), MPI_MODE_NOCHECK, shared.win);
    put_word(rank + 20, right(), rank, shared.win);
    MPI_Win_unlock(right(), shared.win);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, shared.win);
    MPI_Barrier(WORLD);
    EXPECT_EQ(words[left()], left() + 20);
    MPI_Win_unlock_all(shared.win);
    conceal(&shared);
  }
}

// A word that passes from one to the next, which looks for it without any call but MPI_Win_sync.
static void relay(void) {
  for (Kind kind = 0; kind < kinds; kind++) {
    Exposed shared = expose(kind, 64, 4);
    volatile int* words = (volatile int*)shared.base;
    MPI_Win_lock_all(0, shared.win);
    const double until = seconds_now() + 20;
    for (int lap = 1; lap <= 20; lap++) {
      if (rank != 0 || lap > 1) {
        const int wanted = rank == 0 ? lap - 1 : lap;
        while (words[0] != wanted && seconds_now() < until) {
          MPI_Win_sync(shared.win);
          sched_yield();
        }
        EXPECT_EQ(words[0], wanted);
      }
      const int passed = lap;
      MPI_Accumulate(&passed, 1, MPI_INT, right(), 0, 1, MPI_INT, MPI_REPLACE, shared.win);
      MPI_Win_flush(right(), shared.win);
    }
    MPI_Win_unlock_all(shared.win);
    conceal(&shared);
  }
}

static const Case cases[] = {
    CASE(fence_waits, 1),
    CASE(many_fences, 1),
    CASE(post_and_start, 1),
    CASE(one_and_all_others, 2),
    CASE(exclusive_locks_exclude, 1),
    CASE(a_writer_among_readers, 2),
    CASE(readers_beside_a_waiting_writer, 3),
    CASE(target_computes, 2),
    CASE(several_locks, 1),
    CASE(relay, 2),
};
SUITE(cases)
