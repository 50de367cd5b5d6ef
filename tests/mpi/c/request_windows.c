// Windows of requests that one call completes: of every length, with null and inactive requests in them, with and without
// statuses, with an error in them, completed by one call after the other in any order. Most send to themselves, so that nothing
// comes by itself.
#include "suite.h"

enum { max_count = 300 };

static MPI_Request requests[max_count + 1];
static MPI_Request persistent;
static int values[max_count], indices[max_count];
static MPI_Status statuses[max_count];

static void post(int i) {
  values[i] = -1;
  MPI_Irecv(&values[i], 1, MPI_INT, rank, i, WORLD, &requests[i]);
}
static void send(int i, int value) { MPI_Send(&value, 1, MPI_INT, rank, i, WORLD); }

typedef enum { receives, nothing, inactive } Entry;

static Entry entry_of(int i, int mixed) {
  if (!mixed || i % 5 < 3) return receives;
  return i % 5 == 3 ? nothing : inactive;
}

static void begin(int count, int mixed) {
  for (int i = 0; i < count; i++) {
    const Entry entry = entry_of(i, mixed);
    requests[i] = entry == inactive ? persistent : MPI_REQUEST_NULL;
    if (entry == receives) post(i);
    memset(&statuses[i], 0x5a, sizeof statuses[i]);
  }
}

static void expect_own_status(const MPI_Status* status, int i, Entry entry) {
  int count = -1;
  MPI_Get_count(status, MPI_INT, &count);
  EXPECT_EQ(status->MPI_ERROR, MPI_SUCCESS);
  EXPECT_EQ(status->MPI_SOURCE, entry == receives ? rank : MPI_ANY_SOURCE);
  EXPECT_EQ(status->MPI_TAG, entry == receives ? i : MPI_ANY_TAG);
  EXPECT_EQ(count, entry == receives ? 1 : 0);
}

static void expect_ended(int i, int mixed) {
  const Entry entry = entry_of(i, mixed);
  if (entry == receives) EXPECT_EQ(values[i], i);
  EXPECT(requests[i] == (entry == inactive ? persistent : MPI_REQUEST_NULL), "request %d of %d", i, entry);
}

static void by_all(int waits, int count, int mixed, int ignores) {
  MPI_Status* const wanted = ignores ? MPI_STATUSES_IGNORE : statuses;
  int flag = 0;
  begin(count, mixed);
  if (!waits && entry_of(count - 1, mixed) == receives) {
    MPI_Testall(count, requests, &flag, wanted);
    EXPECT_EQ(flag, 0);
  }
  for (int i = count - 1; i >= 0; i--) {
    if (entry_of(i, mixed) == receives) send(i, i);
  }
  if (waits) MPI_Waitall(count, requests, wanted);
  while (!waits && !flag) MPI_Testall(count, requests, &flag, wanted);
  for (int i = 0; i < count; i++) {
    expect_ended(i, mixed);
    if (!ignores) expect_own_status(&statuses[i], i, entry_of(i, mixed));
  }
}

static void by_some(int waits, int count, int mixed, int ignores) {
  MPI_Status* const wanted = ignores ? MPI_STATUSES_IGNORE : statuses;
  int left = 0, completed = -1;
  begin(count, mixed);
  for (int i = 0; i < count; i++) {
    if (entry_of(i, mixed) != receives) continue;
    send(i, i);
    left++;
  }
  while (left > 0) {
    if (waits) {
      MPI_Waitsome(count, requests, &completed, indices, wanted);
      EXPECT(completed > 0, "%d completed", completed);
    } else {
      MPI_Testsome(count, requests, &completed, indices, wanted);
    }
    for (int k = 0; k < completed; k++) {
      expect_ended(indices[k], mixed);
      if (!ignores) expect_own_status(&statuses[k], indices[k], receives);
    }
    left -= completed;
  }
  EXPECT_EQ(left, 0);
  MPI_Testsome(count, requests, &completed, indices, wanted);
  EXPECT_EQ(completed, MPI_UNDEFINED);
  for (int i = 0; i < count; i++) expect_ended(i, mixed);
}

static void of_every_length(void) {
  static const int counts[] = {1, 2, 3, 4, 5, 8, 15, 16, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200, max_count};
  int nowhere = 0;
  MPI_Recv_init(&nowhere, 1, MPI_INT, rank, max_count + 1, WORLD, &persistent);
  for (unsigned c = 0; c < sizeof counts / sizeof counts[0]; c++) {
    for (int kind = 0; kind < 8; kind++) {
      by_all(kind & 1, counts[c], kind & 2, kind & 4);
      by_some(kind & 1, counts[c], kind & 2, kind & 4);
    }
  }
  MPI_Request_free(&persistent);
}

// A message of the neighbour's that is too long for its receive, somewhere in the window.
static void receive_with_an_error(int count, int place, int kind) {
  const int from = (rank + size - 1) % size, to = (rank + 1) % size;
  const int both[2] = {7, 8};
  int code = MPI_SUCCESS, flag = 0, completed = 0, seen = 0;
  for (int i = 0; i < count; i++) MPI_Irecv(&values[i], 1, MPI_INT, from, i, WORLD, &requests[i]);
  MPI_Barrier(WORLD);
  for (int i = 0; i < count; i++) MPI_Send(i == place ? both : &i, i == place ? 2 : 1, MPI_INT, to, i, WORLD);
  if (kind == 0) code = MPI_Waitall(count, requests, statuses);
  while (kind == 1 && !flag) code = MPI_Testall(count, requests, &flag, statuses);
  while (kind == 2 && seen < count) {
    code = MPI_Testsome(count, requests, &completed, indices, statuses);
    for (int k = 0; k < completed; k++) {
      EXPECT_CLASS(statuses[k].MPI_ERROR, indices[k] == place ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
      if (indices[k] == place) EXPECT_CLASS(code, MPI_ERR_IN_STATUS);
    }
    seen += completed;
  }
  if (kind != 2) EXPECT_CLASS(code, MPI_ERR_IN_STATUS);
  for (int i = 0; i < count; i++) {
    if (kind != 2 && i == place) EXPECT_CLASS(statuses[i].MPI_ERROR, MPI_ERR_TRUNCATE);
    if (kind != 2 && i != place && statuses[i].MPI_ERROR == MPI_ERR_PENDING) {
      statuses[i].MPI_ERROR = MPI_Wait(&requests[i], &statuses[i]);
    }
    if (kind != 2 && i != place) EXPECT_CLASS(statuses[i].MPI_ERROR, MPI_SUCCESS);
    EXPECT(requests[i] == MPI_REQUEST_NULL, "request %d is left", i);
    EXPECT_EQ(values[i], i == place ? 7 : i);
  }
}

static void with_an_error(void) {
  static const int places[] = {0, 3, 63, 64, 99};
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
  for (unsigned p = 0; p < sizeof places / sizeof places[0]; p++) {
    for (int kind = 0; kind < 3; kind++) receive_with_an_error(100, places[p], kind);
  }
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
}

static unsigned drawn = 1;
static int draw(int below) {
  drawn = drawn * 1664525u + 1013904223u;
  return (int)((drawn >> 8) % (unsigned)below);
}

// What has been sent and is not received yet; -1: no receive is posted.
static int sent[max_count];

static void take(int i, const MPI_Status* status) {
  EXPECT(i >= 0 && sent[i] > 0, "request %d completed", i);
  EXPECT_EQ(values[i], sent[i]);
  EXPECT_EQ(status->MPI_TAG, i);
  EXPECT(requests[i] == MPI_REQUEST_NULL, "request %d is left", i);
  sent[i] = -1;
}

static void call_one(int count) {
  int flag = 0, index = MPI_UNDEFINED, completed = 0, ready = 0;
  for (int i = 0; i < count; i++) ready += sent[i] > 0;
  const int i = draw(count);
  switch (draw(7)) {
    case 0:
      MPI_Testsome(count, requests, &completed, indices, statuses);
      for (int k = 0; completed != MPI_UNDEFINED && k < completed; k++) take(indices[k], &statuses[k]);
      break;
    case 1:
      MPI_Testany(count, requests, &index, &flag, statuses);
      if (flag && index != MPI_UNDEFINED) take(index, statuses);
      break;
    case 2:
      MPI_Test(&requests[i], &flag, statuses);
      if (flag && sent[i] != -1) take(i, statuses);
      break;
    case 3:
      if (ready == 0) break;
      MPI_Waitany(count, requests, &index, statuses);
      take(index, statuses);
      break;
    case 4:
      if (ready == 0) break;
      MPI_Waitsome(count, requests, &completed, indices, statuses);
      EXPECT(completed > 0, "%d completed", completed);
      for (int k = 0; k < completed; k++) take(indices[k], &statuses[k]);
      break;
    case 5:
      MPI_Testall(count, requests, &flag, statuses);
      for (int k = 0; flag && k < count; k++) {
        if (sent[k] != -1) take(k, &statuses[k]);
      }
      break;
    default:
      if (sent[i] <= 0) break;
      MPI_Wait(&requests[i], statuses);
      take(i, statuses);
  }
}

// Each entry is posted, sent to, and completed by whichever call comes; handles are used again at once.
static void by_one_call_after_the_other(void) {
  static const int counts[] = {2, 5, 16, 40, 130};
  for (unsigned c = 0; c < sizeof counts / sizeof counts[0]; c++) {
    const int count = counts[c];
    for (int i = 0; i < count; i++) {
      requests[i] = MPI_REQUEST_NULL;
      sent[i] = -1;
    }
    for (int step = 1; step < 1000; step++) {
      const int i = draw(count);
      if (sent[i] == -1 && draw(3) != 0) {
        post(i);
        sent[i] = 0;
      } else if (sent[i] == 0 && draw(2) == 0) {
        send(i, step);
        sent[i] = step;
      }
      call_one(count);
    }
    for (int i = 0; i < count; i++) {
      if (sent[i] == 0) send(i, sent[i] = 1);
      if (sent[i] > 0) {
        MPI_Wait(&requests[i], statuses);
        take(i, statuses);
      }
    }
  }
}

// Whoever polls for one message lets all others come.
static void polls_for_one_let_others_come(void) {
  enum { rounds = 20 };
  const int from = (rank + size - 1) % size, to = (rank + 1) % size;
  char* const large = allocate(400 * KB);
  char* const target = allocate(400 * KB);
  for (int round = 0; round < rounds; round++) {
    MPI_Request last, other, send_other;
    int end = 0, flag = 0;
    memset(large, rank + round, 400 * KB);
    memset(target, 0, 400 * KB);
    MPI_Irecv(&end, 1, MPI_INT, from, 1, WORLD, &last);
    MPI_Irecv(target, 400 * KB, MPI_BYTE, from, 2, WORLD, &other);
    MPI_Issend(large, 400 * KB, MPI_BYTE, to, 2, WORLD, &send_other);
    while (!flag) MPI_Test(&send_other, &flag, IGNORE);
    MPI_Send(&round, 1, MPI_INT, to, 1, WORLD);
    for (flag = 0; !flag;) MPI_Test(&last, &flag, IGNORE);
    EXPECT_EQ(end, round);
    MPI_Wait(&other, IGNORE);
    EXPECT_EQ(target[0], (char)(from + round));
    EXPECT_EQ(target[400 * KB - 1], (char)(from + round));
  }
  free(large);
  free(target);
}

// Receives that are complete beside a request of the host's that is not.
static void beside_the_host(void) {
  static const int counts[] = {1, 3, 40, 100};
  MPI_Comm comm;
  MPI_Comm_dup(WORLD, &comm);
  for (unsigned c = 0; c < sizeof counts / sizeof counts[0]; c++) {
    for (int waits = 0; waits < 2; waits++) {
      const int count = counts[c];
      int completed = 0, seen = 0;
      if (rank == 0) {
        begin(count, 0);
        for (int i = 0; i < count; i++) {
          int flag = 0;
          send(i, i);
          while (!flag) MPI_Request_get_status(requests[i], &flag, IGNORE);
        }
        MPI_Ibarrier(comm, &requests[count]);
        while (seen < count) {
          if (waits) {
            MPI_Waitsome(count + 1, requests, &completed, indices, statuses);
          } else {
            MPI_Testsome(count + 1, requests, &completed, indices, statuses);
          }
          EXPECT(completed >= 0 && seen + completed <= count, "%d completed", completed);
          if (completed < 0) break;
          for (int k = 0; k < completed; k++) expect_own_status(&statuses[k], indices[k], receives);
          seen += completed;
        }
        EXPECT_EQ(seen, count);
        for (int to = 1; to < size; to++) MPI_Send(&seen, 1, MPI_INT, to, max_count, WORLD);
        MPI_Waitsome(count + 1, requests, &completed, indices, statuses);
        EXPECT_EQ(completed, 1);
        EXPECT_EQ(indices[0], count);
      } else {
        MPI_Recv(&seen, 1, MPI_INT, 0, max_count, WORLD, IGNORE);
        MPI_Ibarrier(comm, &requests[0]);
        MPI_Wait(&requests[0], IGNORE);
      }
    }
  }
  MPI_Comm_free(&comm);
}

// Sends and receives of several sizes in one window, both ways at once.
static void exchanges(void) {
  enum { count = 24, longest = 60 * KB };
  const int from = (rank + size - 1) % size, to = (rank + 1) % size;
  char* const out = allocate(count * longest);
  char* const in = allocate(count * longest);
  for (int round = 0; round < 12; round++) {
    int flag = 0;
    memset(out, rank + 3 * round, count * longest);
    memset(in, 0, count * longest);
    for (int i = 0; i < count; i++) {
      const int bytes = (i * 7919 + round) % longest + 1;
      MPI_Irecv(in + i * longest, bytes, MPI_BYTE, from, i, WORLD, &requests[2 * i]);
      MPI_Isend(out + i * longest, bytes, MPI_BYTE, to, i, WORLD, &requests[2 * i + 1]);
    }
    if (round % 2 == 0) {
      MPI_Waitall(2 * count, requests, round % 4 == 0 ? statuses : MPI_STATUSES_IGNORE);
    } else {
      while (!flag) MPI_Testall(2 * count, requests, &flag, statuses);
    }
    for (int i = 0; i < count; i++) {
      const int bytes = (i * 7919 + round) % longest + 1;
      EXPECT_EQ(in[i * longest], (char)(from + 3 * round));
      EXPECT_EQ(in[i * longest + bytes - 1], (char)(from + 3 * round));
      EXPECT(requests[2 * i] == MPI_REQUEST_NULL && requests[2 * i + 1] == MPI_REQUEST_NULL, "requests of %d are left", i);
    }
  }
  free(out);
  free(in);
}

static const Case cases[] = {CASE(of_every_length, 1),
                             CASE(with_an_error, 2),
                             CASE(by_one_call_after_the_other, 1),
                             CASE(polls_for_one_let_others_come, 2),
                             CASE(beside_the_host, 2),
                             CASE(exchanges, 2)};
SUITE(cases)
