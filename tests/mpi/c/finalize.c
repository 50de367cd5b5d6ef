// What MPI_Finalize must cope with (argument: the case), and messages inside of it.
#include "late.h"

static char* buffer;

// Sends that nobody waited for are delivered, and requests that were freed do not hang.
static void pending_sends(void) {
  MPI_Request request;
  if (rank == 0) {
    fill(buffer, large, 1);
    MPI_Isend(buffer, large, MPI_BYTE, 1, 0, WORLD, &request);
    MPI_Request_free(&request);
    for (int i = 0; i < 50; i++) {
      MPI_Isend(buffer, 100, MPI_BYTE, 1, 1, WORLD, &request);
      MPI_Request_free(&request);
    }
  } else if (rank == 1) {
    be_late();
    char* in = allocate(large);
    MPI_Recv(in, large, MPI_BYTE, 0, 0, WORLD, IGNORE);
    expect_filled(in, large, 1);
    for (int i = 0; i < 50; i++) MPI_Recv(in, 100, MPI_BYTE, 0, 1, WORLD, IGNORE);
    free(in);
  }
}

static void buffered_sends(void) {  // the buffer is never detached
  const int room = 5 * (large + MPI_BSEND_OVERHEAD);
  if (rank == 0) {
    MPI_Buffer_attach(allocate((size_t)room), room);
    fill(buffer, large, 2);
    for (int i = 0; i < 4; i++) MPI_Bsend(buffer, large, MPI_BYTE, 1, 0, WORLD);
  } else if (rank == 1) {
    be_late();
    for (int i = 0; i < 4; i++) {
      MPI_Recv(buffer, large, MPI_BYTE, 0, 0, WORLD, IGNORE);
      expect_filled(buffer, large, 2);
    }
  }
}

static void never_read(void) {  // the last thing before MPI_Finalize is a late message that nobody looks at
  late_message(buffer, large, 3);
}

static void inactive_requests_and_open_communicators(void) {
  MPI_Comm comm;
  static MPI_Request requests[2];
  MPI_Comm_dup(WORLD, &comm);
  MPI_Send_init(buffer, 100, MPI_BYTE, 0, 0, comm, &requests[0]);
  MPI_Recv_init(buffer, 100, MPI_BYTE, 0, 0, comm, &requests[1]);
}

// Callbacks of attributes of MPI_COMM_SELF run first of all in MPI_Finalize, and may communicate.
static int talk(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)extra;
  int in = -1, out = rank;
  MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 9, &in, 1, MPI_INT, (rank + size - 1) % size, 9, WORLD, IGNORE);
  if (in != (rank + size - 1) % size) fprintf(stderr, "FAIL message inside MPI_Finalize is %d\n", in), exit(1);
  *(int*)value += 1;
  return MPI_SUCCESS;
}
static int called;
static void messages_inside(void) {
  int key;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, talk, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, &called);
}

// A service receive that was posted at the start is completed in the callback, as are messages that were sent before
// MPI_Finalize, small and large, on a communicator of the program's.
enum { early = 4 };
static MPI_Request service, cancelled, sent;
static MPI_Comm private_comm;
static int stop_word, never;
static int takes_what_was_sent(MPI_Comm comm, int key, void* value, void* extra) {
  (void)key, (void)extra;
  const int left = (rank + size - 1) % size, stop = 77;
  int word, found = 0, ended = 1;
  MPI_Status status;
  MPI_Finalized(&ended);
  MPI_Send(&stop, 1, MPI_INT, 0, 5, comm);
  MPI_Wait(&service, IGNORE);
  MPI_Cancel(&cancelled);
  MPI_Wait(&cancelled, &status);
  MPI_Test_cancelled(&status, &found);
  if (ended || stop_word != stop || !found)
    fprintf(stderr, "FAIL service %d, cancelled %d, over %d\n", stop_word, found, ended), exit(1);
  for (int i = 0; i < early; i++) {
    MPI_Probe(left, i, private_comm, IGNORE);
    MPI_Recv(&word, 1, MPI_INT, left, i, private_comm, IGNORE);
    if (word != 10 * left + i) fprintf(stderr, "FAIL small message %d is %d\n", i, word), exit(1);
  }
  char* in = allocate(large);
  MPI_Recv(in, large, MPI_BYTE, left, early, private_comm, IGNORE);
  if (first_difference(in, 0, large, 20 + (unsigned)left) != large) fprintf(stderr, "FAIL large message\n"), exit(1);
  free(in);
  MPI_Wait(&sent, IGNORE);
  MPI_Barrier(private_comm);
  MPI_Comm_free(&private_comm);
  *(int*)value += 1;
  return MPI_SUCCESS;
}
static void messages_from_before(void) {
  int key;
  MPI_Comm_dup(WORLD, &private_comm);
  MPI_Irecv(&stop_word, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &service);
  MPI_Irecv(&never, 1, MPI_INT, MPI_ANY_SOURCE, 6, WORLD, &cancelled);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, takes_what_was_sent, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, &called);
  fill(buffer, large, 20 + (unsigned)rank);
  for (int i = 0; i < early; i++) {
    const int word = 10 * rank + i;
    MPI_Send(&word, 1, MPI_INT, (rank + 1) % size, i, private_comm);
  }
  MPI_Isend(buffer, large, MPI_BYTE, (rank + 1) % size, early, private_comm, &sent);
}

// The callback of the highest rank begins late, when those of the others are over and have sent to it; the first callback is that
// of the attribute that was set last.
static int last_key;
static int receives_from_who_is_done(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)extra;
  if ((key == last_key) != (called == 0)) fprintf(stderr, "FAIL order of the callbacks\n"), exit(1);
  *(int*)value += 1;
  if (called != 2) return MPI_SUCCESS;
  if (rank != size - 1) {
    fill(buffer, large, (unsigned)rank);
    MPI_Send(buffer, 1000, MPI_BYTE, size - 1, 1, WORLD);
    MPI_Isend(buffer, large, MPI_BYTE, size - 1, 2, WORLD, &sent);
    MPI_Request_free(&sent);
    return MPI_SUCCESS;
  }
  be_late();
  for (int i = 0; i < size - 1; i++) {
    MPI_Recv(buffer, large, MPI_BYTE, i, 2, WORLD, IGNORE);
    const size_t good = first_difference(buffer, 0, large, (unsigned)i);
    MPI_Recv(buffer, 1000, MPI_BYTE, i, 1, WORLD, IGNORE);
    if (good != large || first_difference(buffer, 0, 1000, (unsigned)i) != 1000) fprintf(stderr, "FAIL from %d\n", i), exit(1);
  }
  return MPI_SUCCESS;
}
static void one_rank_is_late(void) {
  for (int i = 0; i < 2; i++) {
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, receives_from_who_is_done, &last_key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, last_key, &called);
  }
}

// Nobody can receive any more what a rank has sent to itself.
static void never_received(void) {
  MPI_Request requests[4];
  MPI_Isend(buffer, 10, MPI_BYTE, 0, 0, MPI_COMM_SELF, &requests[0]);
  MPI_Issend(buffer, 10, MPI_BYTE, 0, 0, MPI_COMM_SELF, &requests[1]);
  MPI_Isend(buffer, large, MPI_BYTE, rank, 0, WORLD, &requests[2]);
  MPI_Issend(buffer, large, MPI_BYTE, rank, 0, WORLD, &requests[3]);
}

static const Case cases[] = {CASE(pending_sends, 2),    CASE(buffered_sends, 2),
                             CASE(never_read, 2),       CASE(inactive_requests_and_open_communicators, 1),
                             CASE(messages_inside, 1),  CASE(messages_from_before, 1),
                             CASE(one_rank_is_late, 1), CASE(never_received, 1)};

static int wanted_calls(const char* name) {
  if (strcmp(name, "one_rank_is_late") == 0) return 2;
  return strcmp(name, "messages_inside") == 0 || strcmp(name, "messages_from_before") == 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  buffer = allocate(large);
  run_cases(cases, sizeof cases / sizeof cases[0], argc, argv);
  const int failed = verdict(), talks = argc > 1 ? wanted_calls(argv[1]) : 0;
  MPI_Finalize();
  if (called != talks) fprintf(stderr, "FAIL the callback was called %d times\n", called);
  return failed || called != talks;
}
