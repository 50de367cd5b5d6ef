// Callbacks that the host makes inside its calls, and in which the program goes on to communicate.
#include "late.h"

enum { many = 5 };

static int right_of(int n) { return (rank + n) % size; }
static int left_of(int n) { return (rank + size - n % size) % size; }

static void exchange(MPI_Comm comm, int tag, unsigned seed) {
  char* out = allocate(large);
  char* in = allocate(large);
  fill(out, large, seed + (unsigned)rank);
  MPI_Sendrecv(out, large, MPI_BYTE, right_of(1), tag, in, large, MPI_BYTE, left_of(1), tag, comm, IGNORE);
  expect_filled(in, large, seed + (unsigned)left_of(1));
  free(out);
  free(in);
}

// --- MPI_Comm_free: messages that were sent before are received in the delete callback ------------------------------------

static int received_in_callback;
static int takes_what_is_left(MPI_Comm comm, int key, void* value, void* extra) {
  (void)key, (void)extra;
  char* in = allocate(large);
  for (int i = 0; i < many; i++) {
    int word = -1;
    MPI_Recv(&word, 1, MPI_INT, left_of(1), i, comm, IGNORE);
    EXPECT_EQ(word, 100 * left_of(1) + i);
  }
  MPI_Recv(in, large, MPI_BYTE, left_of(1), many, comm, IGNORE);
  expect_filled(in, large, 40 + (unsigned)left_of(1));
  free(in);
  MPI_Wait(value, IGNORE);
  received_in_callback++;
  exchange(comm, many + 1, 50);
  return MPI_SUCCESS;
}

static void messages_in_a_delete_callback(void) {
  int key;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, takes_what_is_left, &key, NULL);
  char* out = allocate(large);
  fill(out, large, 40 + (unsigned)rank);
  for (int round = 0; round < 3; round++) {
    MPI_Comm comm;
    MPI_Request sent;
    MPI_Comm_dup(WORLD, &comm);
    MPI_Comm_set_attr(comm, key, &sent);
    for (int i = 0; i < many; i++) {
      const int word = 100 * rank + i;
      MPI_Send(&word, 1, MPI_INT, right_of(1), i, comm);
    }
    MPI_Isend(out, large, MPI_BYTE, right_of(1), many, comm, &sent);
    MPI_Comm_free(&comm);
    EXPECT(comm == MPI_COMM_NULL, "the handle is there after MPI_Comm_free");
    EXPECT_EQ(received_in_callback, round + 1);
  }
  free(out);
  MPI_Comm_free_keyval(&key);
}

// --- a callback that refuses --------------------------------------------------------------------------------------------

static int refusals;
static int refuses_once(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  return refusals++ == 0 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void a_communicator_that_was_not_freed_goes_on(void) {
  int key;
  MPI_Comm comm;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, refuses_once, &key, NULL);
  MPI_Comm_dup(WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_attr(comm, key, NULL);
  int word = rank, in = -1;
  MPI_Send(&word, 1, MPI_INT, right_of(1), 3, comm);
  EXPECT(MPI_Comm_free(&comm) != MPI_SUCCESS, "MPI_Comm_free succeeded although a callback refused");
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Recv(&in, 1, MPI_INT, left_of(1), 3, comm, IGNORE);
  EXPECT_EQ(in, left_of(1));
  exchange(comm, 4, 60);
  MPI_Comm_free_keyval(&key);
}

// --- a carried call in a callback, and the host's call goes on ------------------------------------------------------------

static int talks(MPI_Comm comm, int key, void* extra, void* value, void* copy, int* flag) {
  (void)key, (void)extra, (void)value, (void)copy;
  int found = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, 77, comm, &found, IGNORE);
  EXPECT_EQ(found, 0);
  *flag = 0;
  return MPI_SUCCESS;
}

// Rank 0 is in MPI_Comm_dup when the others want an answer to a synchronous message, and they come after they have it.
static void peers_are_answered_after_a_copy_callback(void) {
  int key, word = rank, in[64] = {0};
  MPI_Comm source, made;
  MPI_Request receives[64];
  MPI_Comm_create_keyval(talks, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_dup(WORLD, &source);
  MPI_Comm_set_attr(source, key, NULL);
  for (int i = 1; rank == 0 && i < size; i++) MPI_Irecv(&in[i], 1, MPI_INT, i, 8, WORLD, &receives[i]);
  MPI_Barrier(WORLD);
  if (rank != 0) {
    pause_ms(20);
    MPI_Ssend(&word, 1, MPI_INT, 0, 8, WORLD);
  }
  MPI_Comm_dup(source, &made);
  for (int i = 1; rank == 0 && i < size; i++) {
    MPI_Wait(&receives[i], IGNORE);
    EXPECT_EQ(in[i], i);
  }
  MPI_Comm_free(&made);
  MPI_Comm_free(&source);
  MPI_Comm_free_keyval(&key);
}

// The same where what blocks is the completion of a request of the host's.
static void peers_are_answered_while_a_host_request_is_waited_for(void) {
  int word = rank, in[64] = {0}, found;
  MPI_Request receives[64], barrier;
  for (int i = 1; rank == 0 && i < size; i++) MPI_Irecv(&in[i], 1, MPI_INT, i, 9, WORLD, &receives[i]);
  MPI_Barrier(WORLD);
  if (rank == 0) {
    MPI_Ibarrier(WORLD, &barrier);
    MPI_Iprobe(MPI_ANY_SOURCE, 78, WORLD, &found, IGNORE);
  } else {
    pause_ms(20);
    MPI_Ssend(&word, 1, MPI_INT, 0, 9, WORLD);
    MPI_Ibarrier(WORLD, &barrier);
  }
  MPI_Wait(&barrier, IGNORE);
  for (int i = 1; rank == 0 && i < size; i++) {
    MPI_Wait(&receives[i], IGNORE);
    EXPECT_EQ(in[i], i);
  }
}

// --- error handlers -------------------------------------------------------------------------------------------------------

static int handled;
static void talks_about_it(MPI_Comm* comm, int* code, ...) {
  (void)code;
  handled++;
  exchange(*comm, 11, 70);
}

static void messages_in_an_error_handler(void) {
  MPI_Errhandler handler;
  MPI_Comm comm;
  MPI_Comm_dup(WORLD, &comm);
  MPI_Comm_create_errhandler(talks_about_it, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  int small = 0;
  char wide[64] = {0};
  EXPECT(MPI_Send(&small, 1, MPI_INT, size + 5, 0, comm) != MPI_SUCCESS, "no error for a rank that is none");
  MPI_Send(wide, sizeof wide, MPI_BYTE, right_of(1), 12, comm);
  EXPECT_CLASS(MPI_Recv(&small, 1, MPI_INT, left_of(1), 12, comm, IGNORE), MPI_ERR_TRUNCATE);
  EXPECT_EQ(handled, 2);
  exchange(comm, 13, 80);
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&comm);
}

static const Case cases[] = {CASE(messages_in_a_delete_callback, 1), CASE(a_communicator_that_was_not_freed_goes_on, 1),
                             CASE(peers_are_answered_after_a_copy_callback, 2),
                             CASE(peers_are_answered_while_a_host_request_is_waited_for, 2),
                             CASE(messages_in_an_error_handler, 2)};
SUITE(cases)
