// MPI_Waitany and MPI_Waitsome when nothing is left but one large receive, which may return early. Its buffer is used at once.
#include "hostile.h"

enum { rounds = 6, most = 40 };

typedef enum { any, some } Call;

// Short messages come at once, the long one late. `size` requests, some null, the long one at `place`.
static void wait_in_turns(Call call, int requests_in_all, int place) {
  MPI_Request requests[most];
  int words[most], completed = 0, last = -1;
  char* buffer = map(large);
  for (unsigned round = 0; round < rounds; round++) {
    if (partner() >= size || size == 1) break;
    if (rank % 2 == 0) {
      for (int i = 0; i < requests_in_all; i++) {
        if (i != place && i % 3 != 0) MPI_Send(&i, 1, MPI_INT, partner(), i, WORLD);
      }
      char* sent = allocate(large);
      fill(sent, large, round);
      late_by();
      MPI_Send(sent, large, MPI_BYTE, partner(), place, WORLD);
      free(sent);
      continue;
    }
    int open = 0;
    for (int i = 0; i < requests_in_all; i++) {
      requests[i] = MPI_REQUEST_NULL;
      if (i == place) {
        MPI_Irecv(buffer, large, MPI_BYTE, partner(), i, WORLD, &requests[i]);
      } else if (i % 3 != 0) {
        MPI_Irecv(&words[i], 1, MPI_INT, partner(), i, WORLD, &requests[i]);
      } else {
        continue;
      }
      open++;
    }
    MPI_Status statuses[most];
    for (completed = 0; completed < open;) {
      int indices[most], found = 1;
      if (call == any) {
        MPI_Waitany(requests_in_all, requests, indices, statuses);
      } else {
        MPI_Waitsome(requests_in_all, requests, &found, indices, statuses);
      }
      for (int k = 0; k < found; k++) {
        last = indices[k];
        EXPECT_EQ(statuses[k].MPI_TAG, last);
        EXPECT(requests[last] == MPI_REQUEST_NULL, "request %d is left", last);
        if (last != place) EXPECT_EQ(words[last], last);
      }
      completed += found;
    }
    EXPECT_EQ(completed, open);
    if (last == place) {
      int bytes = 0;
      MPI_Get_count(&statuses[0], MPI_BYTE, &bytes);
      EXPECT_EQ(bytes, large);
    }
    expect_filled(buffer, large, round);
    note_bytes(buffer, large);
    int none = 0, index = 0;
    MPI_Waitany(requests_in_all, requests, &index, MPI_STATUS_IGNORE);
    EXPECT_EQ(index, MPI_UNDEFINED);
    MPI_Waitsome(requests_in_all, requests, &none, &index, MPI_STATUSES_IGNORE);
    EXPECT_EQ(none, MPI_UNDEFINED);
  }
  munmap(buffer, large);
}

static void any_of_few(void) { wait_in_turns(any, 8, 4); }
static void any_of_many(void) { wait_in_turns(any, most, most - 2); }
static void some_of_few(void) { wait_in_turns(some, 8, 7); }
static void some_of_many(void) { wait_in_turns(some, most, 1); }

static const Case cases[] = {CASE(any_of_few, 1), CASE(any_of_many, 1), CASE(some_of_few, 1), CASE(some_of_many, 1)};
SUITE(cases)
