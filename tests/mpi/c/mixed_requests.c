// Arrays in which the host's requests (collectives, one-sided, files, generalized) stand beside point-to-point ones.
#include "suite.h"

enum { bytes = 120000 };

static char *out, *in;

static void start_pair(MPI_Request* send, MPI_Request* receive) {
  out = allocate(bytes);
  in = allocate(bytes);
  fill(out, bytes, (unsigned)rank);
  MPI_Irecv(in, bytes, MPI_BYTE, (rank + size - 1) % size, 0, WORLD, receive);
  MPI_Isend(out, bytes, MPI_BYTE, (rank + 1) % size, 0, WORLD, send);
}

static void check_pair(void) {
  expect_filled(in, bytes, (unsigned)((rank + size - 1) % size));
  free(in);
  free(out);
}

static void ibcast_in_waitall(void) {
  int value = rank == 0 ? 99 : 0;
  MPI_Request requests[3];
  MPI_Status statuses[3];
  start_pair(&requests[0], &requests[2]);
  MPI_Ibcast(&value, 1, MPI_INT, 0, WORLD, &requests[1]);
  MPI_Waitall(3, requests, statuses);
  for (int i = 0; i < 3; i++) EXPECT(requests[i] == MPI_REQUEST_NULL, "request %d is not null", i);
  expect_status(&statuses[2], (rank + size - 1) % size, 0, MPI_BYTE, bytes);
  EXPECT_EQ(value, 99);
  check_pair();
}

static void ibarrier_in_waitany(void) {
  MPI_Request requests[3];
  int seen = 0, index;
  start_pair(&requests[0], &requests[1]);
  MPI_Ibarrier(WORLD, &requests[2]);
  for (int i = 0; i < 3; i++) {
    MPI_Waitany(3, requests, &index, IGNORE);
    EXPECT(index >= 0 && index < 3, "index %d", index);
    seen |= 1 << index;
  }
  EXPECT_EQ(seen, 7);
  MPI_Waitany(3, requests, &index, IGNORE);
  EXPECT_EQ(index, MPI_UNDEFINED);
  check_pair();
}

static void iallreduce_in_testall(void) {
  int sum = 0, done = 0;
  MPI_Request requests[3];
  start_pair(&requests[0], &requests[1]);
  MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, WORLD, &requests[2]);
  while (!done) MPI_Testall(3, requests, &done, MPI_STATUSES_IGNORE);
  EXPECT_EQ(sum, size * (size - 1) / 2);
  check_pair();
}

static void ialltoall_in_waitsome(void) {
  int* send = allocate((size_t)size * sizeof(int));
  int* receive = allocate((size_t)size * sizeof(int));
  for (int i = 0; i < size; i++) send[i] = rank * 10 + i;
  MPI_Request requests[4] = {MPI_REQUEST_NULL};
  int left = 3;
  start_pair(&requests[1], &requests[2]);
  MPI_Ialltoall(send, 1, MPI_INT, receive, 1, MPI_INT, WORLD, &requests[3]);
  while (left > 0) {
    int count, indices[4];
    MPI_Waitsome(4, requests, &count, indices, MPI_STATUSES_IGNORE);
    EXPECT(count > 0, "MPI_Waitsome gives %d", count);
    left -= count;
  }
  for (int i = 0; i < size; i++) EXPECT_EQ(receive[i], i * 10 + rank);
  check_pair();
  free(receive);
  free(send);
}

static void igather_in_testany_and_testsome(void) {
  int* all = allocate((size_t)size * sizeof(int));
  MPI_Request requests[3];
  int left = 3;
  start_pair(&requests[0], &requests[1]);
  MPI_Igather(&rank, 1, MPI_INT, all, 1, MPI_INT, 0, WORLD, &requests[2]);
  while (left > 1) {
    int index, done;
    MPI_Testany(3, requests, &index, &done, IGNORE);
    if (done) left--;
  }
  while (left > 0) {
    int count, indices[3];
    MPI_Testsome(3, requests, &count, indices, MPI_STATUSES_IGNORE);
    left -= count;
  }
  for (int i = 0; i < size && rank == 0; i++) EXPECT_EQ(all[i], i);
  check_pair();
  free(all);
}

static int query(void* state, MPI_Status* status) {
  MPI_Status_set_elements(status, MPI_INT, *(int*)state);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = 17;
  status->MPI_TAG = 18;
  return MPI_SUCCESS;
}
static int freed;
static int release(void* state) {
  freed += *(int*)state;
  return MPI_SUCCESS;
}
static int cancel(void* state, int complete) {
  (void)state, (void)complete;
  return MPI_SUCCESS;
}

static void own_generalized_request_in_waitall(void) {
  int elements = 7;
  MPI_Request requests[3], generalized;
  MPI_Status statuses[3];
  freed = 0;
  MPI_Grequest_start(query, release, cancel, &elements, &generalized);
  requests[1] = generalized;
  start_pair(&requests[0], &requests[2]);
  MPI_Grequest_complete(generalized);
  MPI_Waitall(3, requests, statuses);
  expect_status(&statuses[1], 17, 18, MPI_INT, 7);
  EXPECT_EQ(freed, 7);
  check_pair();
}

static void one_sided_request_in_waitall(void) {
  int exposed[4] = {rank, rank + 1, rank + 2, rank + 3}, got = -1;
  MPI_Win window;
  MPI_Request requests[3];
  MPI_Win_create(exposed, sizeof exposed, sizeof(int), MPI_INFO_NULL, WORLD, &window);
  MPI_Win_lock_all(0, window);
  start_pair(&requests[0], &requests[1]);
  MPI_Rget(&got, 1, MPI_INT, (rank + 1) % size, 2, 1, MPI_INT, window, &requests[2]);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  EXPECT_EQ(got, (rank + 1) % size + 2);
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  check_pair();
}

static void file_request_in_waitall(void) {
  char name[] = "/tmp/mpi-suite-XXXXXX";
  if (rank == 0) close(mkstemp(name));
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, WORLD);
  MPI_File file;
  MPI_Request requests[3];
  MPI_Status statuses[3];
  int block[100], back[100];
  for (int i = 0; i < 100; i++) block[i] = rank * 100 + i;
  MPI_File_open(WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  start_pair(&requests[0], &requests[1]);
  MPI_File_iwrite_at(file, (MPI_Offset)rank * 400, block, 100, MPI_INT, &requests[2]);
  MPI_Waitall(3, requests, statuses);
  MPI_File_sync(file);
  MPI_Barrier(WORLD);
  const int other = (rank + 1) % size;
  MPI_File_iread_at(file, (MPI_Offset)other * 400, back, 100, MPI_INT, &requests[0]);
  MPI_Wait(&requests[0], &statuses[0]);
  for (int i = 0; i < 100; i++) EXPECT_EQ(back[i], other * 100 + i);
  MPI_File_close(&file);
  if (rank == 0) unlink(name);
  check_pair();
}

static void status_of_a_host_request(void) {
  int value = rank == 0 ? 5 : 0, done = 0;
  MPI_Request requests[2];
  MPI_Ibcast(&value, 1, MPI_INT, 0, WORLD, &requests[0]);
  while (!done) MPI_Request_get_status(requests[0], &done, IGNORE);
  EXPECT(requests[0] != MPI_REQUEST_NULL, "MPI_Request_get_status freed the request");
  MPI_Wait(&requests[0], IGNORE);
  EXPECT_EQ(value, 5);
  MPI_Ibarrier(WORLD, &requests[0]);
  done = 0;
  while (!done) MPI_Test(&requests[0], &done, IGNORE);
  EXPECT(requests[0] == MPI_REQUEST_NULL, "the request is not null");
}

// The host's part cannot end before ours: rank 0 enters the broadcast only when it got the message.
static void host_request_depends_on_a_message(void) {
  int value = 0;
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  if (rank == 0) {
    MPI_Recv(&value, 1, MPI_INT, size - 1, 3, WORLD, IGNORE);
    MPI_Ibcast(&value, 1, MPI_INT, 0, WORLD, &requests[0]);
    MPI_Wait(&requests[0], IGNORE);
  } else {
    const int message = 42;
    MPI_Ibcast(&value, 1, MPI_INT, 0, WORLD, &requests[0]);
    if (rank == size - 1) MPI_Isend(&message, 1, MPI_INT, 0, 3, WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  EXPECT_EQ(value, 42);
}

static const Case cases[] = {CASE(ibcast_in_waitall, 1),
                             CASE(ibarrier_in_waitany, 1),
                             CASE(iallreduce_in_testall, 1),
                             CASE(ialltoall_in_waitsome, 1),
                             CASE(igather_in_testany_and_testsome, 1),
                             CASE(own_generalized_request_in_waitall, 1),
                             CASE(one_sided_request_in_waitall, 2),
                             CASE(file_request_in_waitall, 1),
                             CASE(status_of_a_host_request, 1),
                             CASE(host_request_depends_on_a_message, 2)};
SUITE(cases)
