// Messages of a rank to itself: with one rank or several, in the world, in MPI_COMM_SELF, and in communicators of one made from
// either; every mode, every way to start and to complete, beside messages of others, and with buffers that others share.
#include "late.h"

enum { tag = 5, max_bytes = 3 * MB + 17 };

static const int sizes[] = {0, 1, 7, 1023, 1024, 1025, 4096, 8191, 32769, 65535, 65536, 65537, 131071, MB + 1, max_bytes};
enum { size_count = sizeof sizes / sizeof sizes[0], comm_count = 5 };

static MPI_Comm comms[comm_count];
static char *out, *in;

/// What each case does in each communicator in which this rank is `me`.
typedef void (*InComm)(MPI_Comm comm, int me);

static void in_each_comm(InComm act) {
  MPI_Group world, own;
  out = allocate(max_bytes), in = allocate(max_bytes);
  comms[0] = WORLD, comms[1] = MPI_COMM_SELF;
  MPI_Comm_split(WORLD, rank, 0, &comms[2]);
  MPI_Comm_dup(MPI_COMM_SELF, &comms[3]);
  MPI_Comm_group(WORLD, &world);
  MPI_Group_incl(world, 1, &rank, &own);
  MPI_Comm_create_group(WORLD, own, rank, &comms[4]);
  for (int i = 0; i < comm_count; i++) act(comms[i], i == 0 ? rank : 0);
  MPI_Group_free(&own);
  MPI_Group_free(&world);
  for (int i = 2; i < comm_count; i++) MPI_Comm_free(&comms[i]);
  free(out), free(in);
}

static void prepare(int bytes, unsigned seed) {
  fill(out, (size_t)bytes, seed);
  memset(in, 0x77, (size_t)bytes);
}

static void check(int bytes, unsigned seed, MPI_Status* status, int me) {
  int count = -1;
  MPI_Get_count(status, MPI_BYTE, &count);
  EXPECT_EQ(count, bytes);
  EXPECT_EQ(status->MPI_SOURCE, me);
  EXPECT_EQ(status->MPI_TAG, tag);
  expect_filled(in, (size_t)bytes, seed);
}

typedef int (*Start)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
typedef int (*Send)(const void*, int, MPI_Datatype, int, int, MPI_Comm);

static char attached[max_bytes + MPI_BSEND_OVERHEAD];
static void attach(void) { MPI_Buffer_attach(attached, sizeof attached); }
static void detach(void) {
  void* buffer;
  int bytes;
  MPI_Buffer_detach(&buffer, &bytes);
}

static void sent_first_in(MPI_Comm comm, int me) {
  static const Start starts[] = {MPI_Isend, MPI_Issend, MPI_Ibsend};
  for (unsigned k = 0; k < 3 * size_count; k++) {
    MPI_Request request;
    MPI_Status status;
    prepare(sizes[k / 3], k);
    starts[k % 3](out, sizes[k / 3], MPI_BYTE, me, tag, comm, &request);
    MPI_Recv(in, sizes[k / 3], MPI_BYTE, me, tag, comm, &status);
    check(sizes[k / 3], k, &status, me);
    MPI_Wait(&request, IGNORE);
  }
}
static void sent_first(void) {
  attach();
  in_each_comm(sent_first_in);
  detach();
}

static void posted_first_in(MPI_Comm comm, int me) {
  static const Send sends[] = {MPI_Send, MPI_Ssend, MPI_Rsend, MPI_Bsend};
  for (unsigned k = 0; k < 4 * size_count; k++) {
    MPI_Request request;
    MPI_Status status;
    prepare(sizes[k / 4], k);
    MPI_Irecv(in, sizes[k / 4], MPI_BYTE, me, tag, comm, &request);
    sends[k % 4](out, sizes[k / 4], MPI_BYTE, me, tag, comm);
    MPI_Wait(&request, &status);
    check(sizes[k / 4], k, &status, me);
  }
}
static void posted_first(void) {
  attach();
  in_each_comm(posted_first_in);
  detach();
}

static void by_wait_each(MPI_Request* two, MPI_Status* statuses) {
  for (int i = 1; i >= 0; i--) MPI_Wait(&two[i], &statuses[i]);
}
static void by_test(MPI_Request* two, MPI_Status* statuses) {
  for (int i = 0, done = 0; i < 2; i++, done = 0) {
    while (!done) MPI_Test(&two[i], &done, &statuses[i]);
  }
}
static void by_waitall(MPI_Request* two, MPI_Status* statuses) { MPI_Waitall(2, two, statuses); }
static void by_testall(MPI_Request* two, MPI_Status* statuses) {
  for (int done = 0; !done;) MPI_Testall(2, two, &done, statuses);
}
static void by_waitany(MPI_Request* two, MPI_Status* statuses) {
  for (int i = 0; i < 2; i++) {
    MPI_Status status;
    int which;
    MPI_Waitany(2, two, &which, &status);
    statuses[which] = status;
  }
}
static void by_testsome(MPI_Request* two, MPI_Status* statuses) {
  for (int done = 0; done < 2;) {
    MPI_Status some[2];
    int count, which[2];
    MPI_Testsome(2, two, &count, which, some);
    for (int i = 0; i < count; i++) statuses[which[i]] = some[i];
    done += count;
  }
}

static void nonblocking_in(MPI_Comm comm, int me) {
  static void (*const completions[])(MPI_Request*, MPI_Status*) = {by_wait_each, by_test,    by_waitall,
                                                                   by_testall,   by_waitany, by_testsome};
  for (unsigned k = 0; k < 12 * size_count; k++) {
    const int bytes = sizes[k / 12], receive_first = k % 2;
    MPI_Request two[2];
    MPI_Status statuses[2];
    prepare(bytes, k);
    for (int i = 0; i < 2; i++) {
      if (i == receive_first) {
        (k % 3 == 0 ? MPI_Issend : MPI_Isend)(out, bytes, MPI_BYTE, me, tag, comm, &two[1]);
      } else {
        MPI_Irecv(in, bytes, MPI_BYTE, k % 5 ? me : MPI_ANY_SOURCE, k % 4 ? tag : MPI_ANY_TAG, comm, &two[0]);
      }
    }
    completions[k % 12 / 2](two, statuses);
    EXPECT(two[0] == MPI_REQUEST_NULL && two[1] == MPI_REQUEST_NULL, "a request is left");
    check(bytes, k, &statuses[0], me);
  }
}
static void nonblocking(void) { in_each_comm(nonblocking_in); }

static void persistent_in(MPI_Comm comm, int me) {
  static int (*const inits[])(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) = {MPI_Send_init, MPI_Ssend_init};
  for (int s = 0; s < size_count; s += 2) {
    MPI_Request two[2];
    MPI_Status statuses[2];
    MPI_Recv_init(in, sizes[s], MPI_BYTE, me, tag, comm, &two[0]);
    inits[s / 2 % 2](out, sizes[s], MPI_BYTE, me, tag, comm, &two[1]);
    for (unsigned round = 0; round < 3; round++) {
      prepare(sizes[s], round);
      if (round == 0) MPI_Startall(2, two);
      for (int i = 0; i < 2 && round != 0; i++) MPI_Start(&two[(unsigned)i == round % 2]);
      MPI_Waitall(2, two, statuses);
      check(sizes[s], round, &statuses[0], me);
    }
    for (int i = 0; i < 2; i++) MPI_Request_free(&two[i]);
  }
}
static void persistent(void) { in_each_comm(persistent_in); }

static void sendrecv_in(MPI_Comm comm, int me) {
  for (unsigned k = 0; k < size_count; k++) {
    MPI_Status status;
    prepare(sizes[k], k);
    MPI_Sendrecv(out, sizes[k], MPI_BYTE, me, tag, in, sizes[k], MPI_BYTE, me, tag, comm, &status);
    check(sizes[k], k, &status, me);
    fill(in, (size_t)sizes[k], k + 1);
    MPI_Sendrecv_replace(in, sizes[k], MPI_BYTE, me, tag, me, tag, comm, &status);
    check(sizes[k], k + 1, &status, me);
  }
}
static void sendrecv(void) { in_each_comm(sendrecv_in); }

static void probed_in(MPI_Comm comm, int me) {
  for (unsigned k = 0; k < 4 * size_count; k++) {
    const int bytes = sizes[k / 4];
    int found = 0;
    MPI_Request request;
    MPI_Message message;
    MPI_Status status;
    MPI_Iprobe(me, tag, comm, &found, IGNORE);
    EXPECT_EQ(found, 0);
    prepare(bytes, k);
    (k % 2 ? MPI_Isend : MPI_Issend)(out, bytes, MPI_BYTE, me, tag, comm, &request);
    if (k % 4 == 0) MPI_Probe(me, tag, comm, &status);
    if (k % 4 == 1) MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &message, &status);
    while (k % 4 == 2 && !found) MPI_Iprobe(MPI_ANY_SOURCE, tag, comm, &found, &status);
    while (k % 4 == 3 && !found) MPI_Improbe(me, MPI_ANY_TAG, comm, &found, &message, &status);
    int count = -1;
    MPI_Get_count(&status, MPI_BYTE, &count);
    EXPECT_EQ(count, bytes);
    if (k % 2 == 0) {
      MPI_Recv(in, bytes, MPI_BYTE, me, tag, comm, &status);
    } else if (k % 4 == 1) {
      MPI_Mrecv(in, bytes, MPI_BYTE, &message, &status);
    } else {
      MPI_Request receive;
      MPI_Imrecv(in, bytes, MPI_BYTE, &message, &receive);
      MPI_Wait(&receive, &status);
    }
    check(bytes, k, &status, me);
    MPI_Wait(&request, IGNORE);
  }
}
static void probed(void) { in_each_comm(probed_in); }

/// The message then goes to the next receive.
static void cancelled_in(MPI_Comm comm, int me) {
  for (unsigned k = 0; k < size_count; k++) {
    MPI_Request request;
    MPI_Status status;
    int cancelled = 0;
    MPI_Irecv(in, sizes[k], MPI_BYTE, me, tag, comm, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    EXPECT_EQ(cancelled, 1);
    prepare(sizes[k], k);
    MPI_Isend(out, sizes[k], MPI_BYTE, me, tag, comm, &request);
    MPI_Recv(in, sizes[k], MPI_BYTE, me, tag, comm, &status);
    MPI_Wait(&request, IGNORE);
    check(sizes[k], k, &status, me);
  }
}
static void cancelled(void) { in_each_comm(cancelled_in); }

static void freed_requests_in(MPI_Comm comm, int me) {
  for (unsigned k = 0; k < size_count; k++) {
    MPI_Request request;
    MPI_Status status;
    prepare(sizes[k], k);
    MPI_Isend(out, sizes[k], MPI_BYTE, me, tag, comm, &request);
    MPI_Request_free(&request);
    MPI_Recv(in, sizes[k], MPI_BYTE, me, tag, comm, &status);
    check(sizes[k], k, &status, me);
  }
}
static void freed_requests(void) { in_each_comm(freed_requests_in); }

/// With gaps where it comes from, where it goes, and at both ends; large enough to be announced, and not.
static void types_with_gaps_in(MPI_Comm comm, int me) {
  enum { stride = 12 };
  for (int k = 0; k < 3; k++) {
    for (int elements = 10; elements < 200000; elements *= 100) {
      const size_t bytes = (size_t)elements * stride;
      MPI_Datatype gaps;
      MPI_Request request;
      MPI_Status status;
      MPI_Type_vector(elements, 8, stride, MPI_BYTE, &gaps);
      MPI_Type_commit(&gaps);
      prepare((int)bytes, (unsigned)k);
      MPI_Isend(out, k == 1 ? elements * 8 : 1, k == 1 ? MPI_BYTE : gaps, me, tag, comm, &request);
      MPI_Recv(in, k == 0 ? elements * 8 : 1, k == 0 ? MPI_BYTE : gaps, me, tag, comm, &status);
      MPI_Wait(&request, IGNORE);
      int wrong = 0;
      for (int i = 0; i < elements; i++) {
        wrong += memcmp(in + i * (k == 0 ? 8 : stride), out + i * (k == 1 ? 8 : stride), 8) != 0;
        for (int gap = 8; k != 0 && i + 1 < elements && gap < stride; gap++) wrong += in[i * stride + gap] != 0x77;
      }
      EXPECT_EQ(wrong, 0);
      MPI_Type_free(&gaps);
    }
  }
}
static void types_with_gaps(void) { in_each_comm(types_with_gaps_in); }

/// Small and large of one tag in their order; then as many of growing tags, received backwards.
static void many_pending_in(MPI_Comm comm, int me) {
  enum { count = 60 };
  MPI_Request requests[count];
  MPI_Status status;
  char* buffers = allocate((size_t)count * 70000);
  for (int backwards = 0; backwards < 2; backwards++) {
    for (int i = 0; i < count; i++) {
      const int bytes = i % 3 ? 100 + i : 70000 - i;
      fill(buffers + (size_t)i * 70000, (size_t)bytes, (unsigned)i);
      MPI_Isend(buffers + (size_t)i * 70000, bytes, MPI_BYTE, me, backwards ? i : 0, comm, &requests[i]);
    }
    for (int k = 0; k < count; k++) {
      const int i = backwards ? count - 1 - k : k;
      int got = -1;
      MPI_Recv(in, 70000, MPI_BYTE, me, backwards ? i : 0, comm, &status);
      MPI_Get_count(&status, MPI_BYTE, &got);
      EXPECT_EQ(got, i % 3 ? 100 + i : 70000 - i);
      expect_filled(in, (size_t)got, (unsigned)i);
    }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  }
  free(buffers);
}
static void many_pending(void) { in_each_comm(many_pending_in); }

static void truncated_in(MPI_Comm comm, int me) {
  MPI_Request request;
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  prepare(100, 1);
  MPI_Isend(out, 100, MPI_BYTE, me, tag, comm, &request);
  MPI_Probe(me, tag, comm, IGNORE);
  EXPECT_CLASS(MPI_Recv(in, 60, MPI_BYTE, me, tag, comm, IGNORE), MPI_ERR_TRUNCATE);
  MPI_Wait(&request, IGNORE);
  expect_all(in + 60, 40, 0x77);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
}
static void truncated(void) { in_each_comm(truncated_in); }

static void communicator_freed_meanwhile(void) {
  MPI_Comm comm;
  MPI_Request two[2];
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  out = allocate(max_bytes), in = allocate(max_bytes);
  prepare(max_bytes, 9);
  MPI_Isend(out, max_bytes, MPI_BYTE, 0, tag, comm, &two[0]);
  MPI_Irecv(in, max_bytes, MPI_BYTE, 0, tag, comm, &two[1]);
  MPI_Comm_free(&comm);
  MPI_Waitall(2, two, MPI_STATUSES_IGNORE);
  expect_filled(in, max_bytes, 9);
  free(out), free(in);
}

/// A late message of the neighbour, and a message to itself in both orders, completed together; what came late is passed on to
/// this rank itself at once, and lands beside what is still coming.
static void beside_a_late_message(void) {
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  char* late = allocate(2 * (size_t)max_bytes);
  out = allocate(max_bytes), in = allocate(max_bytes);
  for (unsigned round = 0; round < 6; round++) {
    MPI_Request requests[3];
    MPI_Status status;
    prepare(max_bytes, round);
    memset(late, 0x77, 2 * (size_t)max_bytes);
    MPI_Irecv(late, max_bytes, MPI_BYTE, before, 1, WORLD, &requests[0]);
    MPI_Irecv(late + max_bytes, max_bytes, MPI_BYTE, rank, tag, WORLD, &requests[1]);
    MPI_Isend(out, max_bytes, MPI_BYTE, rank, tag, WORLD, &requests[2]);
    be_late();
    MPI_Request sent;
    MPI_Isend(out, max_bytes, MPI_BYTE, next, 1, WORLD, &sent);
    if (round % 2) MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; round % 2 == 0 && i < 3; i++) MPI_Wait(&requests[i], IGNORE);
    MPI_Isend(late, max_bytes, MPI_BYTE, rank, tag, WORLD, &requests[0]);
    MPI_Recv(in, max_bytes, MPI_BYTE, MPI_ANY_SOURCE, tag, WORLD, &status);
    MPI_Wait(&requests[0], IGNORE);
    check(max_bytes, round, &status, rank);
    expect_filled(late, max_bytes, round);
    expect_filled(late + max_bytes, max_bytes, round);
    MPI_Wait(&sent, IGNORE);
  }
  free(out), free(in), free(late);
}

static const Case cases[] = {CASE(sent_first, 1),
                             CASE(posted_first, 1),
                             CASE(nonblocking, 1),
                             CASE(persistent, 1),
                             CASE(sendrecv, 1),
                             CASE(probed, 1),
                             CASE(cancelled, 1),
                             CASE(freed_requests, 1),
                             CASE(types_with_gaps, 1),
                             CASE(many_pending, 1),
                             CASE(truncated, 1),
                             CASE(communicator_freed_meanwhile, 1),
                             CASE(beside_a_late_message, 1)};
SUITE(cases)
