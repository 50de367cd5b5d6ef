// Persistent collectives beside other calls of the same communicator.
#include "blocks.h"
#include "persistent_calls.h"

#ifdef HAVE_PERSISTENT_CALLS

enum { rounds = 12 };

// Carried by messages or through lanes, blocking and not, while a persistent call is open.
static void carried_calls(int round) {
  int own = rank + round, sum = untouched, all = untouched, token = round, got = untouched;
  MPI_Request request;
  MPI_Iallreduce(&own, &all, 1, MPI_INT, MPI_SUM, WORLD, &request);
  MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, WORLD);
  MPI_Sendrecv(&token, 1, MPI_INT, (rank + 1) % size, 5, &got, 1, MPI_INT, (rank + size - 1) % size, 5, WORLD, IGNORE);
  MPI_Wait(&request, IGNORE);
  EXPECT_EQ(sum, size * (size - 1) / 2 + size * round);
  EXPECT_EQ(all, sum);
  EXPECT_EQ(got, round);
}

static void started_again_with_other_contents(int count) {
  int* own = filled((size_t)count, untouched);
  int* sums = filled((size_t)count, untouched);
  int* sent = filled((size_t)(count * size), untouched);
  int* came = filled((size_t)(count * size), untouched);
  int* spread = filled((size_t)count, untouched);
  MPI_Request requests[4];
  INIT(Allreduce)(own, sums, count, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, &requests[0]);
  INIT(Alltoall)(sent, count, MPI_INT, came, count, MPI_INT, WORLD, MPI_INFO_NULL, &requests[1]);
  INIT(Bcast)(spread, count, MPI_INT, size - 1, WORLD, MPI_INFO_NULL, &requests[2]);
  INIT(Barrier)(WORLD, MPI_INFO_NULL, &requests[3]);
  for (int round = 0; round < rounds; round++) {
    for (int k = 0; k < count; k++) {
      own[k] = rank + k + round;
      spread[k] = rank == size - 1 ? element(rank, round, k) : untouched;
    }
    for (int to = 0; to < size; to++)
      for (int k = 0; k < count; k++) sent[to * count + k] = element(rank, to, k) + round;
    if (round == 3 && rank == 0) be_late();
    if (round % 2) {
      MPI_Startall(4, requests);
      carried_calls(round);
      MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    } else {
      for (int i = 0; i < 4; i++) {
        MPI_Start(&requests[i]);
        carried_calls(round + i);
        MPI_Wait(&requests[i], IGNORE);
      }
    }
    int wrong = 0;
    for (int k = 0; k < count; k++) {
      wrong += sums[k] != size * (size - 1) / 2 + size * (k + round);
      wrong += spread[k] != element(size - 1, round, k);
    }
    for (int from = 0; from < size; from++)
      for (int k = 0; k < count; k++) wrong += came[from * count + k] != element(from, rank, k) + round;
    EXPECT(wrong == 0, "%d elements of %d in round %d", wrong, count, round);
  }
  for (int i = 0; i < 4; i++) MPI_Request_free(&requests[i]);
  free(spread);
  free(came);
  free(sent);
  free(sums);
  free(own);
}

static void short_ones(void) { started_again_with_other_contents(3); }
static void long_ones(void) { started_again_with_other_contents(20000); }

// What it sends on has come late, and may still be under guard when it is started.
static void of_a_late_message(void) {
  enum { count = 200000 };
  int* memory = filled(count, untouched);
  MPI_Request request;
  const int last = size - 1;
  INIT(Bcast)(memory, count, MPI_INT, last, WORLD, MPI_INFO_NULL, &request);
  for (int round = 0; round < 4; round++) {
    if (rank == 0) {
      for (int k = 0; k < count; k++) memory[k] = element(0, round, k);
      be_late();
      MPI_Send(memory, count, MPI_INT, last, 7, WORLD);
      for (int k = 0; k < count; k++) memory[k] = untouched;
    }
    if (rank == last) MPI_Recv(memory, count, MPI_INT, 0, 7, WORLD, IGNORE);
    MPI_Start(&request);
    MPI_Wait(&request, IGNORE);
    expect_block(memory, count, 0, round);
  }
  MPI_Request_free(&request);
  free(memory);
}

static void between_neighbours(void) {
  MPI_Comm line;
  MPI_Cart_create(WORLD, 1, &size, (int[]){size > 2}, 0, &line);
  int below, above, out[2], in[2], beside[2];
  MPI_Cart_shift(line, 0, 1, &below, &above);
  MPI_Request request;
  INIT(Neighbor_alltoall)(out, 1, MPI_INT, in, 1, MPI_INT, line, MPI_INFO_NULL, &request);
  for (int round = 0; round < rounds; round++) {
    out[0] = 10 * rank + round, out[1] = 10 * rank + round + 1;
    in[0] = in[1] = beside[0] = beside[1] = untouched;
    MPI_Start(&request);
    MPI_Neighbor_alltoall(out, 1, MPI_INT, beside, 1, MPI_INT, line);
    MPI_Wait(&request, IGNORE);
    EXPECT_EQ(in[0], below < 0 ? untouched : 10 * below + round + 1);
    EXPECT_EQ(in[1], above < 0 ? untouched : 10 * above + round);
    EXPECT_EQ(beside[0], in[0]);
    EXPECT_EQ(beside[1], in[1]);
  }
  MPI_Request_free(&request);
  MPI_Comm_free(&line);
}

static const Case cases[] = {
    {"short_ones", 1, short_ones},
    {"long_ones", 1, long_ones},
    {"of_a_late_message", 2, of_a_late_message},
    {"between_neighbours", 1, between_neighbours},
};

#else

static void the_host_has_none(void) {}
static const Case cases[] = {{"the_host_has_none", 1, the_host_has_none}};

#endif

SUITE(cases)
