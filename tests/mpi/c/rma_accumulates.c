// MPI_Accumulate and its kin: every operation and type, atomicity, and what they give back.
#include "rma.h"

enum { elements = 40, most_bytes = 32 * elements };

static void set_values(MPI_Datatype type, void* values, int seed) {
  for (int i = 0; i < elements; i++) {
    const int value = (i * 7 + seed * 3) % 11 + 1;
    if (type == MPI_INT)
      ((int*)values)[i] = value;
    else if (type == MPI_LONG)
      ((long*)values)[i] = -value;
    else if (type == MPI_SHORT)
      ((short*)values)[i] = (short)value;
    else if (type == MPI_SIGNED_CHAR)
      ((signed char*)values)[i] = (signed char)(value % 3);
    else if (type == MPI_UINT64_T)
      ((uint64_t*)values)[i] = (uint64_t)value << 40;
    else if (type == MPI_FLOAT)
      ((float*)values)[i] = (float)value / 2;
    else if (type == MPI_DOUBLE)
      ((double*)values)[i] = value * 1.25;
    else if (type == MPI_LONG_DOUBLE)
      ((long double*)values)[i] = value * 1.25L;
    else if (type == MPI_C_DOUBLE_COMPLEX) {
      ((double*)values)[2 * i] = value;
      ((double*)values)[2 * i + 1] = seed;
    } else if (type == MPI_2INT) {
      ((int*)values)[2 * i] = value;
      ((int*)values)[2 * i + 1] = seed + i;
    } else if (type == MPI_DOUBLE_INT) {
      struct {
        double value;
        int index;
      }* pairs = values;
      pairs[i].value = value;
      pairs[i].index = seed + i;
    } else if (type == MPI_SHORT_INT) {
      struct {
        short value;
        int index;
      }* pairs = values;
      pairs[i].value = (short)value;
      pairs[i].index = seed + i;
    }
  }
}

static int is_integer(MPI_Datatype type) {
  return type == MPI_INT || type == MPI_LONG || type == MPI_SHORT || type == MPI_SIGNED_CHAR || type == MPI_UINT64_T;
}
static int is_pair(MPI_Datatype type) { return type == MPI_2INT || type == MPI_DOUBLE_INT || type == MPI_SHORT_INT; }

static int is_padded(MPI_Datatype type) { return type == MPI_DOUBLE_INT || type == MPI_SHORT_INT; }

static int goes_with(MPI_Op op, MPI_Datatype type) {
  if (is_pair(type)) return op == MPI_MINLOC || op == MPI_MAXLOC || op == MPI_REPLACE || op == MPI_NO_OP;
  if (op == MPI_MINLOC || op == MPI_MAXLOC) return 0;
  if (type == MPI_C_DOUBLE_COMPLEX) return op == MPI_SUM || op == MPI_PROD || op == MPI_REPLACE || op == MPI_NO_OP;
  if (op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR || op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR)
    return is_integer(type);
  return 1;
}

// The program's own accumulate.
static void expected_of(const void* origin, void* target, MPI_Datatype type, MPI_Op op) {
  MPI_Aint lower, extent;
  MPI_Type_get_extent(type, &lower, &extent);
  if (op == MPI_REPLACE)
    memcpy(target, origin, (size_t)extent * elements);
  else if (op != MPI_NO_OP)
    MPI_Reduce_local(origin, target, elements, type, op);
}

// Elements, without what pads a pair.
static void expect_elements(const void* got, const void* wanted, MPI_Datatype type, const char* what, int op) {
  char one[most_bytes], other[most_bytes];
  int size_one = 0, size_other = 0;
  MPI_Pack(got, elements, type, one, most_bytes, &size_one, WORLD);
  MPI_Pack(wanted, elements, type, other, most_bytes, &size_other, WORLD);
  int differs = -1;
  for (int i = 0; i < size_one && differs < 0; i++) {
    const int pads = type == MPI_LONG_DOUBLE && i % 16 >= 10;
    if (one[i] != other[i] && !pads) differs = i;
  }
  EXPECT(differs < 0, "%s: operation %d: packed byte %d is %d and not %d", what, op, differs, one[differs], other[differs]);
}

static void every_operation_and_type(void) {
  const MPI_Op ops[] = {MPI_SUM,  MPI_PROD, MPI_MAX,  MPI_MIN,    MPI_BAND,   MPI_BOR,     MPI_BXOR,
                        MPI_LAND, MPI_LOR,  MPI_LXOR, MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP};
  const MPI_Datatype types[] = {MPI_INT,        MPI_LONG,     MPI_SHORT,       MPI_SIGNED_CHAR,      MPI_UINT64_T,
                                MPI_FLOAT,      MPI_DOUBLE,   MPI_LONG_DOUBLE, MPI_C_DOUBLE_COMPLEX, MPI_2INT,
                                MPI_DOUBLE_INT, MPI_SHORT_INT};
  _Alignas(16) char origin[most_bytes], wanted[most_bytes], before[most_bytes], result[most_bytes], theirs[most_bytes];
  for (Kind kind = 0; kind < kinds; kind++) {
    Exposed shared = expose(kind, most_bytes, 1);
    for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
      for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        const MPI_Op op = ops[o];
        const MPI_Datatype type = types[t];
        if (!goes_with(op, type) || (is_padded(type) && (int)kind >= first_kinds())) continue;
        memset(origin, 0, sizeof origin);
        memset(before, 0, sizeof before);
        memset(theirs, 0, sizeof theirs);
        set_values(type, theirs, left());
        set_values(type, before, left() + 50);  // what the right neighbour has
        set_values(type, origin, rank);
        set_values(type, shared.base, left() + 50);
        MPI_Win_fence(0, shared.win);
        if (op != MPI_NO_OP) {  // which only gets
          MPI_Accumulate(origin, elements, type, right(), 0, elements, type, op, shared.win);
        }
        MPI_Win_fence(0, shared.win);
        memcpy(wanted, before, sizeof wanted);
        expected_of(theirs, wanted, type, op);
        expect_elements(shared.base, wanted, type, "accumulate", (int)o);
        MPI_Barrier(WORLD);
        set_values(type, shared.base, left() + 50);
        memset(result, 0, sizeof result);
        MPI_Win_fence(0, shared.win);
        MPI_Get_accumulate(origin, op == MPI_NO_OP ? 0 : elements, type, result, elements, type, right(), 0, elements, type, op,
                           shared.win);
        MPI_Win_fence(0, shared.win);
        expect_elements(shared.base, wanted, type, "get_accumulate", (int)o);
        set_values(type, before, rank + 50);
        expect_elements(result, before, type, "what was there", (int)o);
        MPI_Barrier(WORLD);
      }
    }
    conceal(&shared);
  }
}

// Each number is given to one only.
static void tickets(void) {
  enum { each = 500 };
  char* taken = allocate((size_t)(each * size));
  for (Kind kind = 0; kind < kinds; kind++) {
    Exposed shared = expose(kind, 64, 8);
    memset(taken, 0, (size_t)(each * size));
    MPI_Win_lock_all(0, shared.win);
    const int64_t one = 1;
    int64_t last = -1;
    for (int i = 0; i < each; i++) {
      int64_t got = -1;
      MPI_Fetch_and_op(&one, &got, MPI_INT64_T, 0, 1, MPI_SUM, shared.win);
      MPI_Win_flush(0, shared.win);
      EXPECT(got > last && got < each * size, "%lld after %lld", (long long)got, (long long)last);
      if (got >= 0 && got < each * size) taken[got]++;
      last = got;
    }
    MPI_Win_unlock_all(shared.win);
    MPI_Allreduce(MPI_IN_PLACE, taken, each * size, MPI_CHAR, MPI_SUM, WORLD);
    expect_all(taken, (size_t)(each * size), 1);
    conceal(&shared);
  }
  free(taken);
}

// One element, many, and with gaps, by all at once: no addition gets lost.
static void sums_by_all_at_once(void) {
  enum { doubles = 5000, rounds = 20 };
  double* ones = allocate(doubles * sizeof(double));
  for (int i = 0; i < doubles; i++) ones[i] = 1;
  MPI_Datatype apart;
  MPI_Type_vector(doubles / 2, 1, 2, MPI_DOUBLE, &apart);
  MPI_Type_commit(&apart);
  for (Kind kind = 0; kind < kinds; kind++) {
    Exposed shared = expose(kind, doubles * sizeof(double), sizeof(double));
    MPI_Win_fence(0, shared.win);
    for (int round = 0; round < rounds; round++) {
      for (int to = 0; to < size; to++) {
        MPI_Accumulate(ones, doubles, MPI_DOUBLE, to, 0, doubles, MPI_DOUBLE, MPI_SUM, shared.win);
        MPI_Accumulate(ones, 1, MPI_DOUBLE, to, 7, 1, MPI_DOUBLE, MPI_SUM, shared.win);
        MPI_Accumulate(ones, doubles / 2, MPI_DOUBLE, to, 0, 1, apart, MPI_SUM, shared.win);
      }
    }
    MPI_Win_fence(0, shared.win);
    const double* sums = (const double*)shared.base;
    for (int i = 0; i < doubles; i++) EXPECT_EQ(sums[i], rounds * size * (1 + (i % 2 == 0) + (i == 7)));
    conceal(&shared);
  }
  MPI_Type_free(&apart);
  free(ones);
}

// A lock of the program's own.
static void compare_and_swap(void) {
  enum { each = 100 };
  for (Kind kind = 0; kind < kinds; kind++) {
    Exposed shared = expose(kind, 64, 4);
    MPI_Win_lock_all(0, shared.win);
    const int nobody = 0, me = rank + 1;
    for (int i = 0; i < each; i++) {
      int holder = -1;
      while (holder != nobody) {
        MPI_Compare_and_swap(&me, &nobody, &holder, MPI_INT, 0, 0, shared.win);
        MPI_Win_flush(0, shared.win);
      }
      int count = -1;
      MPI_Get(&count, 1, MPI_INT, 0, 5, 1, MPI_INT, shared.win);
      MPI_Win_flush(0, shared.win);
      count++;
      MPI_Put(&count, 1, MPI_INT, 0, 5, 1, MPI_INT, shared.win);
      MPI_Win_flush(0, shared.win);
      MPI_Compare_and_swap(&nobody, &me, &holder, MPI_INT, 0, 0, shared.win);
      MPI_Win_flush(0, shared.win);
      EXPECT_EQ(holder, me);
    }
    MPI_Win_unlock_all(shared.win);
    MPI_Barrier(WORLD);
    if (rank == 0) EXPECT_EQ(((int*)shared.base)[5], each * size);
    conceal(&shared);
  }
}

static void of_every_width(void) {
  for (Kind kind = 0; kind < (Kind)first_kinds(); kind++) {
    Exposed shared = expose(kind, 64, 1);
    MPI_Win_fence(0, shared.win);
    int8_t byte = 3, byte_was = -1;
    int64_t word = INT64_C(1) << 40, word_was = -1, zero = 0;
    MPI_Fetch_and_op(&byte, &byte_was, MPI_INT8_T, rank, 0, MPI_REPLACE, shared.win);
    MPI_Compare_and_swap(&word, &zero, &word_was, MPI_INT64_T, rank, 8, shared.win);
    MPI_Win_fence(0, shared.win);
    EXPECT_EQ(byte_was, 0);
    EXPECT_EQ(word_was, 0);
    EXPECT_EQ(shared.base[0], 3);
    memcpy(&word_was, shared.base + 8, 8);
    EXPECT_EQ(word_was, word);
    MPI_Win_fence(0, shared.win);
    MPI_Fetch_and_op(NULL, &word_was, MPI_INT64_T, rank, 8, MPI_NO_OP, shared.win);
    MPI_Win_fence(0, shared.win);
    EXPECT_EQ(word_was, word);
    conceal(&shared);
  }
}

static void with_requests(void) {
  enum { ints = 100 };
  int own[ints], got[ints];
  for (Kind kind = 0; kind < kinds; kind++) {
    Exposed shared = expose(kind, sizeof own, sizeof(int));
    for (int i = 0; i < ints; i++) own[i] = i;
    MPI_Win_lock_all(0, shared.win);
    MPI_Request both[2];
    MPI_Raccumulate(own, ints, MPI_INT, right(), 0, ints, MPI_INT, MPI_SUM, shared.win, &both[0]);
    MPI_Wait(&both[0], MPI_STATUS_IGNORE);
    MPI_Win_flush(right(), shared.win);
    MPI_Rget_accumulate(own, ints, MPI_INT, got, ints, MPI_INT, right(), 0, ints, MPI_INT, MPI_SUM, shared.win, &both[1]);
    MPI_Wait(&both[1], MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(shared.win);
    MPI_Barrier(WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, shared.win);
    for (int i = 0; i < ints; i++) {
      EXPECT_EQ(got[i], i);
      EXPECT_EQ(((int*)shared.base)[i], 2 * i);
    }
    MPI_Win_unlock(rank, shared.win);
    conceal(&shared);
  }
}

typedef struct {
  long double value;
  int index;
} Padded;

// Of a pair with padding every third one, more than one piece of them, and from a type that is not the target's.
static void pairs_that_lie_apart(void) {
  enum { pairs = 6000, all = 3 * pairs };
  Padded* own = allocate(all * sizeof *own);
  MPI_Datatype apart;
  MPI_Type_vector(pairs, 1, 3, MPI_LONG_DOUBLE_INT, &apart);
  MPI_Type_commit(&apart);
  for (Kind kind = 0; kind < kinds; kind++) {
    for (int is_dense = 0; is_dense < 2; is_dense++) {
      const int step = is_dense ? 1 : 3;
      Exposed shared = expose(kind, all * sizeof *own, sizeof *own);
      Padded* there = (Padded*)shared.base;
      for (int i = 0; i < all; i++) there[i] = (Padded){i % 2 ? 1000 : -1, -1};
      for (int i = 0; i < pairs; i++) own[i * step] = (Padded){10 * rank + i % 7, rank};
      MPI_Barrier(WORLD);
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right(), 0, shared.win);
      MPI_Accumulate(own, is_dense ? pairs : 1, is_dense ? MPI_LONG_DOUBLE_INT : apart, right(), 0, 1, apart, MPI_MAXLOC,
                     shared.win);
      MPI_Win_unlock(right(), shared.win);
      MPI_Barrier(WORLD);
      MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, shared.win);
      for (int i = 0; i < all; i++) {
        const int is_met = i % 3 == 0 && i % 2 == 0;
        const int value = is_met ? 10 * left() + i / 3 % 7 : i % 2 ? 1000 : -1;
        if (there[i].value != value || there[i].index != (is_met ? left() : -1)) {
          EXPECT(0, "pair %d is %Lg, %d", i, there[i].value, there[i].index);
          break;
        }
      }
      MPI_Win_unlock(rank, shared.win);
      conceal(&shared);
    }
  }
  MPI_Type_free(&apart);
  free(own);
}

static const Case cases[] = {
    CASE(every_operation_and_type, 1), CASE(tickets, 1),       CASE(sums_by_all_at_once, 1),  CASE(compare_and_swap, 1),
    CASE(of_every_width, 1),           CASE(with_requests, 1), CASE(pairs_that_lie_apart, 1),
};
SUITE(cases)
