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

static const Case cases[] = {CASE(pending_sends, 2), CASE(buffered_sends, 2), CASE(never_read, 2),
                             CASE(inactive_requests_and_open_communicators, 1), CASE(messages_inside, 1)};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  buffer = allocate(large);
  run_cases(cases, sizeof cases / sizeof cases[0], argc, argv);
  const int failed = verdict(), talks = argc > 1 && strcmp(argv[1], "messages_inside") == 0;
  MPI_Finalize();
  if (called != talks) fprintf(stderr, "FAIL the callback was called %d times\n", called);
  return failed || called != talks;
}
