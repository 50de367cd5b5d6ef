// Intercommunicators: the host's business, beside Sluice's own.
#include "late.h"

static MPI_Comm half, inter;
static int self, members, remote;

// Even ranks and odd ranks, joined.
static void join(void) {
  MPI_Comm_split(WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, WORLD, 1 - rank % 2, 99, &inter);
  MPI_Comm_rank(inter, &self);
  MPI_Comm_size(inter, &members);
  MPI_Comm_remote_size(inter, &remote);
}

static void part(void) {
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

static int has_partner(void) { return self < remote; }

static void exchange_across(int bytes, MPI_Comm comm) {
  char *out = allocate((size_t)bytes), *in = allocate((size_t)bytes);
  MPI_Request requests[2];
  MPI_Status statuses[2];
  fill(out, (size_t)bytes, (unsigned)rank);
  if (has_partner()) {
    MPI_Isend(out, bytes, MPI_BYTE, self, 5, comm, &requests[0]);
    MPI_Irecv(in, bytes, MPI_BYTE, self, 5, comm, &requests[1]);
    MPI_Waitall(2, requests, statuses);
    expect_status(&statuses[1], self, 5, MPI_BYTE, bytes);
    expect_filled(in, (size_t)bytes, (unsigned)(rank ^ 1));
  }
  free(in);
  free(out);
}

static void small_and_large_across(void) {
  join();
  exchange_across(10, inter);
  exchange_across(300000, inter);
  part();
}

static void blocking_across(void) {
  join();
  char* buffer = allocate(large);
  if (has_partner() && rank % 2 == 0) {
    fill(buffer, large, (unsigned)rank);
    be_late();
    MPI_Send(buffer, large, MPI_BYTE, self, 1, inter);
  } else if (has_partner()) {
    MPI_Status status;
    MPI_Recv(buffer, large, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &status);
    expect_status(&status, self, 1, MPI_BYTE, large);
    expect_filled(buffer, large, (unsigned)rank - 1);
  }
  free(buffer);
  part();
}

static void probes_across(void) {
  join();
  int value = rank;
  if (has_partner() && rank % 2 == 0) {
    MPI_Send(&value, 1, MPI_INT, self, 2, inter);
    MPI_Ssend(&value, 1, MPI_INT, self, 3, inter);
  } else if (has_partner()) {
    MPI_Status status;
    MPI_Message message;
    MPI_Probe(self, 2, inter, &status);
    expect_status(&status, self, 2, MPI_INT, 1);
    MPI_Recv(&value, 1, MPI_INT, self, 2, inter, IGNORE);
    MPI_Mprobe(self, 3, inter, &message, &status);
    MPI_Mrecv(&value, 1, MPI_INT, &message, &status);
    expect_status(&status, self, 3, MPI_INT, 1);
    EXPECT_EQ(value, rank - 1);
  }
  part();
}

// One Waitall over a request of the intercommunicator and one of the world.
static void requests_of_both_kinds_in_one_array(void) {
  join();
  int in[2] = {-1, -1};
  MPI_Request requests[4] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Irecv(&in[0], 1, MPI_INT, (rank + 1) % size, 0, WORLD, &requests[0]);
  MPI_Isend(&rank, 1, MPI_INT, (rank + size - 1) % size, 0, WORLD, &requests[1]);
  if (has_partner()) {
    MPI_Irecv(&in[1], 1, MPI_INT, self, 0, inter, &requests[2]);
    MPI_Isend(&rank, 1, MPI_INT, self, 0, inter, &requests[3]);
  }
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  EXPECT_EQ(in[0], (rank + 1) % size);
  EXPECT_EQ(in[1], has_partner() ? rank ^ 1 : -1);
  part();
}

static void merged(void) {
  MPI_Comm all;
  int all_rank, all_size, in = -1;
  join();
  MPI_Intercomm_merge(inter, rank % 2, &all);
  MPI_Comm_rank(all, &all_rank);
  MPI_Comm_size(all, &all_size);
  EXPECT_EQ(all_size, size);
  MPI_Sendrecv(&all_rank, 1, MPI_INT, (all_rank + 1) % size, 0, &in, 1, MPI_INT, (all_rank + size - 1) % size, 0, all, IGNORE);
  EXPECT_EQ(in, (all_rank + size - 1) % size);
  note("%d", all_rank);
  MPI_Comm_free(&all);
  part();
}

static void duplicated_and_created(void) {
  MPI_Comm copy;
  join();
  MPI_Comm_dup(inter, &copy);
  exchange_across(1000, copy);
  MPI_Comm_free(&copy);
  part();
}

static void persistent_across(void) {
  join();
  if (has_partner()) {
    int out = 0, in = -1;
    MPI_Request requests[2];
    MPI_Send_init(&out, 1, MPI_INT, self, 0, inter, &requests[0]);
    MPI_Recv_init(&in, 1, MPI_INT, self, 0, inter, &requests[1]);
    for (int i = 0; i < 5; i++) {
      out = i * 10 + rank;
      MPI_Startall(2, requests);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      EXPECT_EQ(in, i * 10 + (rank ^ 1));
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
  }
  part();
}

static const Case cases[] = {CASE(small_and_large_across, 2),
                             CASE(blocking_across, 2),
                             CASE(probes_across, 2),
                             CASE(requests_of_both_kinds_in_one_array, 2),
                             CASE(merged, 2),
                             CASE(duplicated_and_created, 2),
                             CASE(persistent_across, 2)};
SUITE(cases)
