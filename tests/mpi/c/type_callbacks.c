// A type that is sent in its own delete callback. Open MPI over its tcp ends by a signal there, so the host is no reference.
#include "suite.h"

static int right_of(int n) { return (rank + n) % size; }
static int left_of(int n) { return (rank + size - n % size) % size; }

static int numbers[64];

// Three numbers, so far apart, by a type that says so.
static MPI_Datatype three(int apart) {
  MPI_Datatype type;
  MPI_Type_vector(3, 1, apart, MPI_INT, &type);
  MPI_Type_commit(&type);
  return type;
}

static void send_three(MPI_Datatype type, int apart) {
  int got[3] = {-1, -1, -1};
  MPI_Request request;
  MPI_Irecv(got, 3, MPI_INT, left_of(1), 14, WORLD, &request);
  MPI_Send(numbers, 1, type, right_of(1), 14, WORLD);
  MPI_Wait(&request, IGNORE);
  EXPECT(got[0] == 0 && got[1] == apart && got[2] == 2 * apart, "%d apart: %d %d %d", apart, got[0], got[1], got[2]);
}

static int sent_in_callback;
static int sends_it(MPI_Datatype type, int key, void* value, void* extra) {
  (void)key, (void)extra;
  sent_in_callback++;
  send_three(type, *(int*)value);
  send_three(type, *(int*)value);
  const MPI_Datatype other = three(*(int*)value + 1);
  MPI_Datatype freed = other;
  send_three(other, *(int*)value + 1);
  MPI_Type_free(&freed);
  send_three(type, *(int*)value);
  return MPI_SUCCESS;
}

// The host uses the handle again for what comes next.
static void types_in_a_delete_callback(void) {
  int key;
  for (int i = 0; i < 64; i++) numbers[i] = i;
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, sends_it, &key, NULL);
  for (int round = 0; round < 12; round++) {
    int apart = round % 6 + 1;
    MPI_Datatype type = three(apart);
    if (round % 2) send_three(type, apart);
    MPI_Type_set_attr(type, key, &apart);
    MPI_Type_free(&type);
    EXPECT_EQ(sent_in_callback, round + 1);
    MPI_Datatype next = three(apart + 8);
    send_three(next, apart + 8);
    MPI_Type_free(&next);
  }
  MPI_Type_free_keyval(&key);
}

static const Case cases[] = {CASE(types_in_a_delete_callback, 1)};
SUITE(cases)
