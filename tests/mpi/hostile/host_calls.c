// Calls of the host's while a received message is still on its way: what must wait for it waits, and what need not does not.
//
// Rank 0 announces a message and stops itself, so that nothing of the data comes before somebody wakes it.
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include "hostile.h"

extern char** environ;

enum { announced = 1, after = 2, doubles = 768 };

static MPI_Comm others;  // all but rank 0
static pid_t sender, alarm_clock;
static char* memory;
static char* buffer;
static char* beside;  // on the last page of the buffer

// Without a stream, which may wait for everything.
static int is_stopped(pid_t process) {
  char path[64], line[128] = "";
  snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
  const int file = open(path, O_RDONLY);
  if (read(file, line, sizeof line - 1) < 0) MPI_Abort(WORLD, 8);
  close(file);
  const char* state = strrchr(line, ')');
  return state && state[2] == 'T';
}

// By a process that shares no memory with this one, before anything is received: a child would keep it from being released.
static void wake_sender_after(double seconds) {
  char script[80];
  char* arguments[] = {"sh", "-c", script, NULL};
  snprintf(script, sizeof script, "sleep %.3f; kill -CONT %d", seconds, (int)sender);
  while (!is_stopped(sender)) pause_ms(1);
  if (posix_spawnp(&alarm_clock, "sh", NULL, NULL, arguments, environ) != 0) MPI_Abort(WORLD, 9);
}

// Another message before, so that the buffer is where rank 0 can write to it.
static void exchange_late(void) {
  if (rank == 0) {
    late_by();
    MPI_Send(buffer, large, MPI_BYTE, 1, announced, WORLD);
  } else if (rank == 1) {
    MPI_Recv(buffer, large, MPI_BYTE, 0, announced, WORLD, IGNORE);
    late_by();
    expect_filled(buffer, large, 1);
  }
}

static void begin(void) {
  int pid = (int)getpid();
  MPI_Bcast(&pid, 1, MPI_INT, 0, WORLD);
  sender = pid;
  MPI_Comm_split(WORLD, rank == 0, rank, &others);
  if (!memory) {
    memory = map(large + 4 * page);
    buffer = memory + 64;
    beside = buffer + large;
  }
  if (rank == 0) fill(buffer, large, 1);
  exchange_late();
  MPI_Barrier(WORLD);
}

static void end(void) {
  MPI_Barrier(WORLD);
  MPI_Comm_free(&others);
}

static void send_and_stop(unsigned seed) {
  MPI_Request request;
  fill(buffer, large, seed);
  MPI_Isend(buffer, large, MPI_BYTE, 1, announced, WORLD, &request);
  raise(SIGSTOP);
  MPI_Wait(&request, IGNORE);
}

static void sleep_no_more(void) {
  kill(alarm_clock, SIGKILL);
  waitpid(alarm_clock, NULL, 0);
}

// --- what need not wait. A host may need the sender in MPI_Recv, so it is woken then if that does not return before. Afterwards
// nobody wakes it, and a call that waited for the data would wait for ever.

enum { attempts = 3 };  // of a release; the runner sees whether a call was beside one

static int received_while_it_sleeps(void) {
  wake_sender_after(1);
  MPI_Recv(buffer, large, MPI_BYTE, 0, announced, WORLD, IGNORE);
  sleep_no_more();
  return is_stopped(sender);
}

static MPI_Request begun;  // by the call, if it is not over when it returns

static void beside_a_message(const char* name, void (*call)(void)) {
  int done = 0;
  begun = MPI_REQUEST_NULL;
  begin();
  for (int i = 0; i < attempts && !done; i++) {
    if (rank == 0) {
      send_and_stop(3);
    } else {
      if (rank == 1) done = received_while_it_sleeps();
      call();
      if (rank == 1) {
        EXPECT(!done || is_stopped(sender), "%s: somebody has woken the sender", name);
        pause_ms(5);  // for which the release has paid
        kill(sender, SIGCONT);
        expect_filled(buffer, large, 3);
        if (!getenv("LD_PRELOAD")) done = 1;
      }
      MPI_Wait(&begun, IGNORE);
    }
    MPI_Bcast(&done, 1, MPI_INT, 1, WORLD);
  }
  end();
}

static void barrier(void) { MPI_Barrier(others); }

static void sum(void) {
  double mine = rank, all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, others);
  EXPECT_EQ(all, size * (size - 1) / 2);
}

static void sum_in_place(void) {
  double all[8] = {rank};
  MPI_Allreduce(MPI_IN_PLACE, all, 8, MPI_DOUBLE, MPI_SUM, others);
  EXPECT_EQ(all[0], size * (size - 1) / 2);
}

// On other pages than the message, as a program would keep them, or the calls would wait for it at a touch.
static void trees(void) {
  int values[4] = {rank, 0, 0, 0}, ranks;
  MPI_Comm_size(others, &ranks);
  int all[64], counts[64], places[64];
  for (int i = 0; i < ranks; i++) counts[i] = 1, places[i] = ranks - 1 - i;
  MPI_Bcast(values + 1, 1, MPI_INT, 0, others);
  MPI_Reduce(values, rank == 1 ? values + 2 : NULL, 1, MPI_INT, MPI_MAX, 0, others);
  MPI_Scan(values, values + 3, 1, MPI_INT, MPI_SUM, others);
  MPI_Gather(values, 1, MPI_INT, rank == 1 ? all : NULL, 1, MPI_INT, 0, others);
  MPI_Scatter(rank == 1 ? all : NULL, 1, MPI_INT, values + 1, 1, MPI_INT, 0, others);
  EXPECT_EQ(values[1], rank);
  MPI_Alltoall(all, 1, MPI_INT, counts + ranks, 1, MPI_INT, others);
  MPI_Allgather(values, 1, MPI_INT, all, 1, MPI_INT, others);
  EXPECT_EQ(all[ranks - 1], size - 1);
  MPI_Allgatherv(values, 1, MPI_INT, all, counts, places, MPI_INT, others);
  EXPECT_EQ(all[0], size - 1);
  EXPECT_EQ(values[3], rank * (rank + 1) / 2);
}

static void type_with_gaps(void) {
  MPI_Datatype column;
  int from[6] = {rank, -1, rank, -1, rank, -1}, to[6] = {0};
  MPI_Type_vector(3, 1, 2, MPI_INT, &column);
  MPI_Type_commit(&column);
  memcpy(to, from, sizeof to);
  MPI_Bcast(to, 1, column, 0, others);
  EXPECT_EQ(to[4], 1);
  EXPECT_EQ(to[5], -1);
  MPI_Type_free(&column);
}

static void packing(void) {
  double values[100], packed[100];
  int position = 0;
  for (int i = 0; i < 100; i++) values[i] = i;
  MPI_Pack(values, 100, MPI_DOUBLE, packed, sizeof packed, &position, WORLD);
  MPI_Reduce_local(values, packed, 100, MPI_DOUBLE, MPI_SUM);
  EXPECT_EQ(packed[99], 198);
}

static void poll_it(void) {
  int done = 0;
  for (int i = 0; i < 1000 && !done; i++) MPI_Test(&begun, &done, IGNORE);
}

static void nonblocking_barrier(void) {
  MPI_Ibarrier(others, &begun);
  poll_it();
}

static void nonblocking_sum(void) {
  static double mine, all;
  mine = rank;
  MPI_Iallreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, others, &begun);
  poll_it();
}

static void beside_a_nonblocking_barrier(void) { beside_a_message("MPI_Ibarrier", nonblocking_barrier); }
static void beside_a_nonblocking_sum(void) { beside_a_message("MPI_Iallreduce", nonblocking_sum); }
static void beside_a_barrier(void) { beside_a_message("MPI_Barrier", barrier); }
static void beside_a_sum(void) { beside_a_message("MPI_Allreduce", sum); }
static void beside_a_sum_in_place(void) { beside_a_message("MPI_Allreduce in place", sum_in_place); }
static void beside_trees(void) { beside_a_message("a short collective", trees); }
static void beside_a_type_with_gaps(void) { beside_a_message("MPI_Bcast of a column", type_with_gaps); }
static void beside_packing(void) { beside_a_message("packing", packing); }

static MPI_Win window;
static volatile int* shared;  // of rank 0

static void open_window(void) {
  MPI_Aint bytes;
  int unit;
  void* memory;
  MPI_Win_allocate_shared(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, WORLD, &memory, &window);
  MPI_Win_shared_query(window, 0, &bytes, &unit, &memory);
  shared = memory;
  if (rank == 0) shared[0] = shared[1] = 0;
  MPI_Barrier(WORLD);
}

static void beside_a_shared_window(void) {
  open_window();
  beside_a_message("MPI_Barrier with a window", barrier);
  MPI_Win_free(&window);
}

static _Alignas(page) int exposed[page / sizeof(int)];
static MPI_Aint place_of[64];  // by rank

// Of all but the sender, each into the memory of the next: nobody has to wait for anything.
static void put_on(void) {
  const int word = rank, next = rank % (size - 1) + 1;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, window);
  MPI_Put(&word, 1, MPI_INT, next, place_of[next], 1, MPI_INT, window);
  MPI_Win_unlock(next, window);
  MPI_Barrier(others);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
  EXPECT_EQ(exposed[0], rank == 1 ? size - 1 : rank - 1);
  MPI_Win_unlock(rank, window);
}

// The buffer is where rank 0 can write to it before a window is open.
static void exchange_before(void) {
  begin();
  end();
}

static void beside_a_created_window(void) {
  exchange_before();
  memset(place_of, 0, sizeof place_of);
  MPI_Win_create(exposed, sizeof exposed, sizeof(int), MPI_INFO_NULL, WORLD, &window);
  beside_a_message("MPI_Put with memory of MPI_Win_create", put_on);
  MPI_Win_free(&window);
}

static void beside_a_dynamic_window(void) {
  MPI_Aint own;
  exchange_before();
  MPI_Win_create_dynamic(MPI_INFO_NULL, WORLD, &window);
  MPI_Win_attach(window, exposed, sizeof exposed);
  MPI_Get_address(exposed, &own);
  MPI_Allgather(&own, 1, MPI_AINT, place_of, 1, MPI_AINT, WORLD);
  beside_a_message("MPI_Put with a dynamic window", put_on);
  MPI_Win_detach(window, exposed);
  MPI_Win_free(&window);
}

// --- what has to wait, of the message that rank 1 receives

static void of_a_message(void (*call)(void)) {
  begin();
  if (rank == 0) {
    send_and_stop(7);
  } else {
    if (rank == 1) {
      wake_sender_after(0.03);
      MPI_Recv(buffer, large, MPI_BYTE, 0, announced, WORLD, IGNORE);
    }
    call();
    if (rank == 1) waitpid(alarm_clock, NULL, 0);
  }
  end();
}

enum { somewhere = 300000 };

static void from_inside_it(void) {
  char got[16] = {0};
  if (rank == 1) memcpy(got, "not touched yet", 16);
  MPI_Bcast(rank == 1 ? buffer + somewhere : got, 16, MPI_BYTE, 0, others);
  expect_part_filled(rank == 1 ? buffer : got - somewhere, somewhere, somewhere + 16, 7);
}

static int nonblocking;

static void sum_up(const double* mine, void* all, int count) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (!nonblocking) MPI_Allreduce(mine, all, count, MPI_DOUBLE, MPI_SUM, others);
  if (nonblocking) MPI_Iallreduce(mine, all, count, MPI_DOUBLE, MPI_SUM, others, &request);
  MPI_Wait(&request, IGNORE);
}

// The result stays: nothing of the message comes after it.
static void into_it(void) {
  const double mine = 1;
  sum_up(&mine, buffer + somewhere, 1);
  if (rank != 1) return;
  double all;
  memcpy(&all, buffer + somewhere, sizeof all);
  EXPECT_EQ(all, size - 1);
  expect_part_filled(buffer, 0, somewhere, 7);
  expect_part_filled(buffer, somewhere + 8, large, 7);
}

static void of_all_of_it(void) {
  char* got = rank == 1 ? buffer : allocate(large);
  MPI_Bcast(got, large, MPI_BYTE, 0, others);
  expect_filled(got, large, 7);
  note_bytes(got, large);
  if (rank != 1) free(got);
}

// Peers read so much where it is.
static void of_its_neighbour(void) {
  double* mine = (double*)(beside + page / 2);
  double all[doubles];
  for (int i = 0; i < doubles; i++) mine[i] = i;
  sum_up(mine, all, doubles);
  EXPECT_EQ(all[doubles - 1], (doubles - 1) * (size - 1));
  if (rank == 1) expect_filled(buffer, large, 7);
}

static void of_its_neighbour_from_each(void) {
  int* mine = (int*)beside;
  int all[64];
  *mine = rank;
  MPI_Allgather(mine, 1, MPI_INT, all, 1, MPI_INT, others);
  EXPECT_EQ(all[size - 2], size - 1);
  if (rank == 1) expect_filled(buffer, large, 7);
}

static void touch(void* in, void* in_out, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; i++) ((int*)in_out)[i] += ((int*)in)[i];
  if (rank == 1) expect_part_filled(buffer, somewhere, somewhere + 1000, 7);
}

static void write_it(void* in, void* in_out, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; i++) ((int*)in_out)[i] += ((int*)in)[i];
  if (rank != 1) return;
  const int file = filled_file(0, 0);
  EXPECT_CALL(pwrite(file, buffer, large, 0), large);
  expect_file(file, large, 7);
  close(file);
}

// A wait of the C library's inside the host's call.
static void by_an_operation_that_writes(void) {
  MPI_Op op;
  int mine = rank, all = 0;
  MPI_Op_create(write_it, 1, &op);
  MPI_Allreduce(&mine, &all, 1, MPI_INT, op, others);
  EXPECT_EQ(all, size * (size - 1) / 2);
  MPI_Op_free(&op);
}

// Inside the host's call; and the other rank may need an answer of this one's afterwards.
static void by_an_operation(void) {
  MPI_Op op;
  int mine = rank, all = 0;
  MPI_Op_create(touch, 1, &op);
  MPI_Allreduce(&mine, &all, 1, MPI_INT, op, others);
  EXPECT_EQ(all, size * (size - 1) / 2);
  MPI_Op_free(&op);
}

static void of_different_lengths(void) {
  int ranks;
  MPI_Comm_size(others, &ranks);
  int counts[64], places[64];
  for (int i = 0; i < ranks; i++) counts[i] = i == 0 ? 50000 : 8, places[i] = i * 50000;
  char* all = allocate((size_t)ranks * 50000);
  char few[8] = {0};
  MPI_Allgatherv(rank == 1 ? buffer + 50000 : few, rank == 1 ? 50000 : 8, MPI_BYTE, all, counts, places, MPI_BYTE, others);
  expect_part_filled(all - 50000, 50000, 100000, 7);
  MPI_Gatherv(rank == 1 ? buffer : few, rank == 1 ? 50000 : 8, MPI_BYTE, all, counts, places, MPI_BYTE, 0, others);
  if (rank == 1) expect_part_filled(all, 0, 50000, 7);
  free(all);
}

static void a_bcast_from_inside(void) { of_a_message(from_inside_it); }
static void a_sum_into_it(void) { of_a_message(into_it); }
static void a_bcast_of_all(void) { of_a_message(of_all_of_it); }
static void a_long_sum_of_its_neighbour(void) { of_a_message(of_its_neighbour); }
static void of_a_nonblocking(void (*call)(void)) {
  nonblocking = 1;
  of_a_message(call);
  nonblocking = 0;
}

static void a_nonblocking_sum_into_it(void) { of_a_nonblocking(into_it); }
static void a_long_nonblocking_sum_of_its_neighbour(void) { of_a_nonblocking(of_its_neighbour); }
static void a_gather_of_its_neighbour(void) { of_a_message(of_its_neighbour_from_each); }
static void an_operation_that_touches_it(void) { of_a_message(by_an_operation); }
static void an_operation_that_writes_it(void) { of_a_message(by_an_operation_that_writes); }
static void different_lengths(void) { of_a_message(of_different_lengths); }

// --- what is not known: rank 2 would tell rank 0 of a message that rank 0 has not sent yet

static void before_it_is_sent(void (*call)(void)) {
  char said = 0;
  begin();
  if (rank == 0) {
    const double until = seconds_now() + 0.02;
    int there = 0;
    while (seconds_now() < until && !there) MPI_Iprobe(MPI_ANY_SOURCE, after, WORLD, &there, IGNORE);
    EXPECT(!there, "an effect of the receive was seen before the message was sent");
    fill(buffer, large, 5);
    MPI_Send(buffer, large, MPI_BYTE, 1, announced, WORLD);
    MPI_Recv(&said, 1, MPI_BYTE, 2, after, WORLD, IGNORE);
  } else {
    if (rank == 1) MPI_Recv(buffer, large, MPI_BYTE, 0, announced, WORLD, IGNORE);
    call();
    if (rank == 2) MPI_Send(&said, 1, MPI_BYTE, 0, after, WORLD);
    if (rank == 1) expect_filled(buffer, large, 5);
  }
  end();
}

static void a_barrier_before_it_is_sent(void) { before_it_is_sent(barrier); }
static void a_sum_before_it_is_sent(void) { before_it_is_sent(sum); }

static void started_and_awaited(void) {
  begun = MPI_REQUEST_NULL;
  nonblocking_barrier();
  MPI_Wait(&begun, IGNORE);
}

static void a_nonblocking_barrier_before_it_is_sent(void) { before_it_is_sent(started_and_awaited); }

// Nobody is called: rank 0 sees the store, and rank 1 what rank 0 has stored before the message.
static void a_store_before_it_is_sent(void) {
  begin();
  open_window();
  if (rank == 0) {
    const double until = seconds_now() + 0.02;
    while (seconds_now() < until && !shared[0]) continue;
    EXPECT(!shared[0], "a store after the receive was seen before the message was sent");
    fill(buffer, large, 5);
    shared[1] = 1;
    MPI_Send(buffer, large, MPI_BYTE, 1, announced, WORLD);
  } else if (rank == 1) {
    MPI_Recv(buffer, large, MPI_BYTE, 0, announced, WORLD, IGNORE);
    EXPECT(shared[1], "a store before the message is not seen after the receive");
    shared[0] = 1;
    expect_filled(buffer, large, 5);
  }
  MPI_Win_free(&window);
  end();
}

static const Case cases[] = {CASE(beside_a_barrier, 3),
                             CASE(beside_a_sum, 3),
                             CASE(beside_a_sum_in_place, 3),
                             CASE(beside_trees, 3),
                             CASE(beside_a_type_with_gaps, 3),
                             CASE(beside_packing, 3),
                             CASE(beside_a_nonblocking_barrier, 3),
                             CASE(beside_a_nonblocking_sum, 3),
                             CASE(beside_a_shared_window, 3),
                             CASE(beside_a_created_window, 3),
                             CASE(beside_a_dynamic_window, 3),
                             CASE(a_bcast_from_inside, 3),
                             CASE(a_sum_into_it, 3),
                             CASE(a_bcast_of_all, 3),
                             CASE(a_long_sum_of_its_neighbour, 3),
                             CASE(a_nonblocking_sum_into_it, 3),
                             CASE(a_long_nonblocking_sum_of_its_neighbour, 3),
                             CASE(a_gather_of_its_neighbour, 3),
                             CASE(an_operation_that_touches_it, 3),
                             CASE(an_operation_that_writes_it, 3),
                             CASE(different_lengths, 3),
                             CASE(a_barrier_before_it_is_sent, 3),
                             CASE(a_sum_before_it_is_sent, 3),
                             CASE(a_nonblocking_barrier_before_it_is_sent, 3),
                             CASE(a_store_before_it_is_sent, 3)};
SUITE(cases)
