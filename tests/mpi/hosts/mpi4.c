// Point-to-point calls of MPI-4 against those of MPI-3 at the other end, two ranks. With -DLARGE_COUNTS also those of MPI-4.1 and
// the calls with large counts, which Open MPI has from version 6.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 100, LARGE = 300001 };

static int rank, other, wrong;
static const int sizes[] = {0, 1, SMALL, 5000, LARGE};

#define MUST(condition)                                                  \
  do {                                                                   \
    if (!(condition)) {                                                  \
      wrong++;                                                           \
      printf("WRONG rank %d line %d: %s\n", rank, __LINE__, #condition); \
    }                                                                    \
  } while (0)

#define EVERY_SIZE(bytes)                                                      \
  for (int s_ = 0, bytes = sizes[0]; s_ < (int)(sizeof sizes / sizeof *sizes); \
       bytes = sizes[++s_ % (sizeof sizes / sizeof *sizes)])

static char* filled(int value, size_t bytes) {
  char* memory = malloc(bytes + 1);
  memset(memory, value, bytes + 1);
  return memory;
}

static int all_are(const char* memory, int value, size_t bytes) {
  for (size_t i = 0; i < bytes; i++)
    if (memory[i] != (char)value) return 0;
  return 1;
}

// The two ranks take turns in using the new call.
static void isendrecv_meets_sendrecv(void) {
  EVERY_SIZE(bytes) for (int turn = 0; turn < 2; turn++) {
    char *sent = filled(10 + rank, bytes), *received = filled(0, bytes);
    MPI_Status status;
    int count = -1;
    if (rank == turn) {
      MPI_Request request;
      MPI_Isendrecv(sent, bytes, MPI_BYTE, other, 7, received, bytes, MPI_BYTE, other, 7, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, &status);
      MUST(request == MPI_REQUEST_NULL);
    } else {
      MPI_Sendrecv(sent, bytes, MPI_BYTE, other, 7, received, bytes, MPI_BYTE, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &status);
    }
    MPI_Get_count(&status, MPI_BYTE, &count);
    MUST(count == bytes && status.MPI_SOURCE == other && status.MPI_TAG == 7 && all_are(received, 10 + other, bytes));
    free(sent);
    free(received);
  }
}

static void isendrecv_meets_separate_calls(void) {
  EVERY_SIZE(bytes) {
    char *sent = filled(20 + rank, bytes), *received = filled(0, bytes);
    MPI_Request requests[2];
    if (rank == 0) {
      MPI_Isendrecv(sent, bytes, MPI_BYTE, other, 1, received, bytes, MPI_BYTE, other, 2, MPI_COMM_WORLD, &requests[0]);
      MPI_Isend(sent, 1, MPI_BYTE, other, 3, MPI_COMM_WORLD, &requests[1]);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else {
      char last = 0;
      // The message of the earlier call may not be overtaken, and its request is not held up by it.
      MPI_Send(sent, bytes, MPI_BYTE, other, 2, MPI_COMM_WORLD);
      MPI_Recv(&last, 1, MPI_BYTE, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Recv(received, bytes, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MUST(all_are(received, 20 + other, bytes));
    free(sent);
    free(received);
  }
}

static void isendrecv_replace_meets_its_like(void) {
  EVERY_SIZE(bytes) for (int turn = 0; turn < 2; turn++) {
    char* memory = filled(30 + rank, bytes);
    if (rank == turn) {
      MPI_Request request;
      int done = 0;
      MPI_Isendrecv_replace(memory, bytes, MPI_BYTE, other, 4, other, 4, MPI_COMM_WORLD, &request);
      while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    } else {
      MPI_Sendrecv_replace(memory, bytes, MPI_BYTE, other, 4, other, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MUST(all_are(memory, 30 + other, bytes) && memory[bytes] == 30 + rank);
    free(memory);
  }
}

static void isendrecv_with_nobody(void) {
  int sent = 5, received = 6;
  MPI_Request request;
  MPI_Status status;
  MPI_Isendrecv(&sent, 1, MPI_INT, MPI_PROC_NULL, 0, &received, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  MUST(received == 6 && status.MPI_SOURCE == MPI_PROC_NULL);
  if (rank == 0) {
    MPI_Isendrecv(&sent, 1, MPI_INT, 1, 9, &received, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
  } else {
    MPI_Isendrecv(&sent, 1, MPI_INT, MPI_PROC_NULL, 0, &received, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, &request);
  }
  MPI_Wait(&request, &status);
  MUST(received == (rank == 0 ? 6 : 5));
}

static void persistent_collectives_beside_messages(void) {
  enum { MANY = 5000, CALLS = 4 };
  static int ones[MANY], sums[MANY], all[2 * MANY];
  int sum = 0, one = rank + 1, got = -1;
  MPI_Request requests[CALLS];
  MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  MPI_Recv_init(&got, 1, MPI_INT, other, 11, MPI_COMM_WORLD, &requests[1]);
  MPI_Allreduce_init(ones, sums, MANY, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[2]);
  MPI_Allgather_init(ones, MANY, MPI_INT, all, MANY, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[3]);
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < MANY; k++) ones[k] = rank + k + i;
    sum = 0;
    MPI_Startall(CALLS, requests);
    MPI_Send(&one, 1, MPI_INT, other, 11, MPI_COMM_WORLD);
    MPI_Waitall(CALLS, requests, MPI_STATUSES_IGNORE);
    MUST(sum == 3 && got == other + 1);
    for (int k = 0; k < MANY; k++) MUST(sums[k] == 2 * (k + i) + 1 && all[k] == k + i && all[MANY + k] == 1 + k + i);
  }
  for (int i = 0; i < CALLS; i++) MPI_Request_free(&requests[i]);
}

static void partitioned(void) {
  enum { PARTS = 4, PART = 1000 };
  static int data[PARTS * PART];
  MPI_Request request;
  int arrived = 0;
  if (rank == 0) {
    for (int i = 0; i < PARTS * PART; i++) data[i] = i;
    MPI_Psend_init(data, PARTS, PART, MPI_INT, 1, 12, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    for (int i = 0; i < PARTS; i++) MPI_Pready(i, request);
  } else {
    MPI_Precv_init(data, PARTS, PART, MPI_INT, 0, 12, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    while (!arrived) MPI_Parrived(request, 0, &arrived);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MUST(data[PARTS * PART - 1] == PARTS * PART - 1);
  MPI_Request_free(&request);
}

static void communicators_of_sessions(void) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  int sent = rank + 50, received = 0, ranks = 0;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "sluice.test", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  MPI_Group_free(&group);
  MPI_Comm_size(comm, &ranks);
  MPI_Sendrecv(&sent, 1, MPI_INT, other, 1, &received, 1, MPI_INT, other, 1, comm, MPI_STATUS_IGNORE);
  MUST(ranks == 2 && received == other + 50);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
}

#ifdef LARGE_COUNTS
static void large_count_calls_meet_the_others(void) {
  EVERY_SIZE(bytes) {
    char *sent = filled(40 + rank, bytes), *received = filled(0, bytes);
    MPI_Request request;
    MPI_Message message;
    MPI_Status status;
    MPI_Count count = -1;
    if (rank == 0) {
      MPI_Send_c(sent, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
      MPI_Recv_c(received, bytes, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &status);
      MPI_Get_count_c(&status, MPI_BYTE, &count);
      MUST(count == bytes);
      MPI_Ssend_c(sent, bytes, MPI_BYTE, 1, 3, MPI_COMM_WORLD);
      MPI_Isend_c(sent, bytes, MPI_BYTE, 1, 4, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Send_init_c(sent, bytes, MPI_BYTE, 1, 5, MPI_COMM_WORLD, &request);
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Request_free(&request);
      MPI_Sendrecv_c(sent, bytes, MPI_BYTE, 1, 6, received, bytes, MPI_BYTE, 1, 6, MPI_COMM_WORLD, &status);
      MPI_Isendrecv_c(sent, bytes, MPI_BYTE, 1, 7, received, bytes, MPI_BYTE, 1, 7, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Sendrecv_replace_c(sent, bytes, MPI_BYTE, 1, 8, 1, 8, MPI_COMM_WORLD, &status);
      MUST(all_are(sent, 41, bytes));
    } else {
      MPI_Mprobe(0, 1, MPI_COMM_WORLD, &message, &status);
      MUST(MPI_Message_fromint(MPI_Message_toint(message)) == message);
      MPI_Mrecv_c(received, bytes, MPI_BYTE, &message, &status);
      MPI_Get_elements_c(&status, MPI_BYTE, &count);
      MUST(count == bytes && all_are(received, 40, bytes));
      MPI_Send(sent, bytes, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
      MPI_Irecv_c(received, bytes, MPI_BYTE, 0, 3, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, &status);
      MPI_Recv_init_c(received, bytes, MPI_BYTE, 0, 4, MPI_COMM_WORLD, &request);
      MPI_Start(&request);
      MPI_Wait(&request, &status);
      MPI_Request_free(&request);
      MPI_Recv(received, bytes, MPI_BYTE, 0, 5, MPI_COMM_WORLD, &status);
      MPI_Sendrecv(sent, bytes, MPI_BYTE, 0, 6, received, bytes, MPI_BYTE, 0, 6, MPI_COMM_WORLD, &status);
      MPI_Sendrecv(sent, bytes, MPI_BYTE, 0, 7, received, bytes, MPI_BYTE, 0, 7, MPI_COMM_WORLD, &status);
      MPI_Isendrecv_replace_c(sent, bytes, MPI_BYTE, 0, 8, 0, 8, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, &status);
      MUST(all_are(sent, 40, bytes));
    }
    MUST(all_are(received, 40 + other, bytes));
    free(sent);
    free(received);
  }
}

static void types_meet_what_they_hold(void) {
  MPI_Datatype made[6];
  const MPI_Count lengths[2] = {2, 1}, places[2] = {1, 5}, in_bytes[2] = {sizeof(int), 5 * sizeof(int)};
  const MPI_Count sizes[2] = {4, 4}, parts[2] = {2, 2}, starts[2] = {1, 1};
  MPI_Datatype pair[2] = {MPI_INT, MPI_INT};
  MPI_Type_vector_c(3, 1, 2, MPI_INT, &made[0]);
  MPI_Type_create_hvector_c(3, 1, 3 * sizeof(int), MPI_INT, &made[1]);
  MPI_Type_indexed_c(2, lengths, places, MPI_INT, &made[2]);
  MPI_Type_create_struct_c(2, lengths, in_bytes, pair, &made[3]);
  MPI_Type_create_subarray_c(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &made[4]);
  MPI_Type_create_hindexed_block_c(2, 1, in_bytes, MPI_INT, &made[5]);
  for (int i = 0; i < 6; i++) {
    int plain[16], found[16], packed[16], expected[16], position = 0, bytes = 0;
    MPI_Type_commit(&made[i]);
    MPI_Type_size(made[i], &bytes);
    for (int k = 0; k < 16; k++) {
      plain[k] = 100 * rank + k;
      found[k] = expected[k] = -1;
    }
    for (int k = 0; k < 16; k++) packed[k] = 100 * other + k;
    MPI_Unpack(packed, bytes, &position, expected, 1, made[i], MPI_COMM_WORLD);
    MPI_Sendrecv(plain, bytes / (int)sizeof(int), MPI_INT, other, 20 + i, found, 1, made[i], other, 20 + i, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MUST(memcmp(found, expected, sizeof found) == 0);
    MPI_Type_free(&made[i]);
  }
}

static void pairs_of_value_and_index(void) {
  MPI_Datatype pair;
  struct {
    double value;
    int index;
  } sent = {rank + 0.5, rank}, received = {0, -1};
  MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &pair);
  if (pair == MPI_DATATYPE_NULL) return;
  MPI_Sendrecv(&sent, 1, pair, other, 30, &received, 1, pair, other, 30, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MUST(received.value == other + 0.5 && received.index == other);
}

static void buffers(void) {
  enum { ROOM = 100000, BYTES = 20000 };
  static char room[ROOM];
  char *sent = filled(60 + rank, BYTES), *received = filled(0, BYTES);
  void* back = NULL;
  MPI_Count size = 0;
  MPI_Comm comm;
  MPI_Request request;
  MPI_Buffer_attach_c(room, ROOM);
  MPI_Bsend_c(sent, BYTES, MPI_BYTE, other, 1, MPI_COMM_WORLD);
  MPI_Buffer_iflush(&request);
  MPI_Recv(received, BYTES, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Buffer_flush();
  MPI_Buffer_detach_c(&back, &size);
  MUST(back == room && size == ROOM && all_are(received, 60 + other, BYTES));
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_attach_buffer(comm, room, ROOM);
  MPI_Bsend(sent, BYTES, MPI_BYTE, other, 2, comm);
  MPI_Recv(received, BYTES, MPI_BYTE, other, 2, comm, MPI_STATUS_IGNORE);
  MPI_Comm_flush_buffer(comm);
  MPI_Comm_detach_buffer_c(comm, &back, &size);
  MUST(back == room && size == ROOM);
  MPI_Comm_free(&comm);
  free(sent);
  free(received);
}

static void status_of_many_requests(void) {
  int values[3] = {-1, -1, -1}, flag = 1, index = 0, count = 0, indices[3], sent = rank + 70;
  MPI_Request requests[3];
  MPI_Status statuses[3];
  for (int i = 0; i < 3; i++) MPI_Irecv(&values[i], 1, MPI_INT, other, 40 + i, MPI_COMM_WORLD, &requests[i]);
  MPI_Request_get_status_all(3, requests, &flag, statuses);
  MUST(!flag);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Send(&sent, 1, MPI_INT, other, 41, MPI_COMM_WORLD);
  for (flag = 0; !flag;) MPI_Request_get_status_any(3, requests, &index, &flag, &statuses[0]);
  MUST(index == 1 && statuses[0].MPI_TAG == 41 && statuses[0].MPI_SOURCE == other);
  MPI_Request_get_status_some(3, requests, &count, indices, statuses);
  MUST(count == 1 && indices[0] == 1 && statuses[0].MPI_TAG == 41);
  MPI_Send(&sent, 1, MPI_INT, other, 40, MPI_COMM_WORLD);
  MPI_Send(&sent, 1, MPI_INT, other, 42, MPI_COMM_WORLD);
  for (flag = 0; !flag;) MPI_Request_get_status_all(3, requests, &flag, statuses);
  for (int i = 0; i < 3; i++) MUST(statuses[i].MPI_TAG == 40 + i && requests[i] != MPI_REQUEST_NULL);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  MUST(values[0] == other + 70 && values[2] == other + 70);
}
#endif

// Where a host hangs, its last line tells behind which.
#define RUN(test)               \
  do {                          \
    test();                     \
    if (rank == 0) puts(#test); \
    fflush(stdout);             \
  } while (0)

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  other = 1 - rank;
  RUN(isendrecv_meets_sendrecv);
  RUN(isendrecv_meets_separate_calls);
  RUN(isendrecv_replace_meets_its_like);
  RUN(isendrecv_with_nobody);
  RUN(persistent_collectives_beside_messages);
  RUN(partitioned);
  RUN(communicators_of_sessions);
#ifdef LARGE_COUNTS
  RUN(large_count_calls_meet_the_others);
  RUN(types_meet_what_they_hold);
  RUN(pairs_of_value_and_index);
  if (argc > 1) {  // Open MPI 6.0.0rc2 alone hangs in the first, and leaves statuses out in the second
    RUN(buffers);
    RUN(status_of_many_requests);
  }
#endif
  int all = 0;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("2 ranks, %d wrong\n", all);
  MPI_Finalize();
  return wrong != 0;
}
