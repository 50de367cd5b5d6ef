// Limits of the process that the program sets after MPI_Init: what it may have by them it gets, and messages go on. Limits of
// both sides of a pair, of one of them, with messages under way, lifted again.
#include <pthread.h>
#include <sys/resource.h>

#include "hostile.h"

enum { bytes = 3 * MB + 4321, offset = 99, rounds = 3, piece = 3 * MB, max_pieces = 2000 };
static const rlim_t gigabyte = (rlim_t)1 << 30;

static char* buffer;
static long first_size;  // of the address space, KB

static long vm_size(void) {
  FILE* status = fopen("/proc/self/status", "r");
  char line[256];
  long size_kb = -1;
  while (fgets(line, sizeof line, status)) {
    if (strncmp(line, "VmSize:", 7) == 0) size_kb = atol(line + 7);
  }
  fclose(status);
  return size_kb;
}

// Only the soft limit, so that it can be lifted.
static void limit(int resource, rlim_t max) {
  struct rlimit limits;
  getrlimit(resource, &limits);
  limits.rlim_cur = max < limits.rlim_max ? max : limits.rlim_max;
  EXPECT_CALL(setrlimit(resource, &limits), 0);
}

static void lift(int resource) { limit(resource, RLIM_INFINITY); }

// Both ways, so that buffers are sent from and received into; the sender is late.
static void exchange(unsigned seed) {
  if (partner() >= size) return;
  for (unsigned way = 0; way < 2; way++) {
    if (rank % 2 == (int)way) {
      fill(buffer + offset, bytes, seed + way);
      pause_ms(3);
      MPI_Send(buffer + offset, bytes, MPI_BYTE, partner(), 1, WORLD);
    } else {
      MPI_Recv(buffer + offset, bytes, MPI_BYTE, partner(), 1, WORLD, IGNORE);
      expect_filled(buffer + offset, bytes, seed + way);
    }
  }
}

static void exchange_often(unsigned seed) {
  for (unsigned round = 0; round < rounds; round++) exchange(seed + 2 * round);
}

// What malloc still has to give, in MB.
static long room(void) {
  static void* pieces[max_pieces];
  int count = 0;
  while (count < max_pieces && (pieces[count] = malloc(piece))) count++;
  for (int i = 0; i < count; i++) free(pieces[i]);
  return (long)count * (piece / MB);
}

static void expect_room(rlim_t of_limit) {
  const long expected = (long)(of_limit >> 20) - first_size / 1024 - bytes / MB - 64;
  const long found = room();
  EXPECT(found >= expected, "malloc gives %ld MB of %ld", found, expected);
}

static void* nothing(void* argument) { return argument; }

static void expect_thread(void) {
  pthread_t thread;
  const int error = pthread_create(&thread, NULL, nothing, NULL);
  EXPECT_EQ(error, 0);
  if (error == 0) pthread_join(thread, NULL);
}

static void begin(void) {
  if (first_size == 0) first_size = vm_size();
  buffer = allocate(bytes + offset);
}

static void end(void) { free(buffer); }

static void address_space_is_used_like_memory(void) {
  begin();
  exchange_often(1);
  const long grown_mb = (vm_size() - first_size) / 1024;
  EXPECT(grown_mb < 20 * (bytes / MB) + 64, "the address space has grown by %ld MB", grown_mb);
  end();
}

static void address_space_after_traffic(void) {
  begin();
  exchange_often(20);
  limit(RLIMIT_AS, gigabyte);
  expect_room(gigabyte);
  expect_thread();
  exchange_often(40);
  expect_room(gigabyte);
  lift(RLIMIT_AS);
  exchange_often(60);
  limit(RLIMIT_AS, gigabyte);
  expect_room(gigabyte);
  lift(RLIMIT_AS);
  end();
}

static void address_space_of_one_side(void) {
  begin();
  exchange_often(80);
  if (rank % 2 == 0) limit(RLIMIT_AS, gigabyte);
  exchange_often(100);
  if (rank % 2 == 0) expect_room(gigabyte);
  lift(RLIMIT_AS);
  if (rank % 2 != 0) limit(RLIMIT_AS, gigabyte);
  exchange_often(120);
  if (rank % 2 != 0) expect_room(gigabyte);
  lift(RLIMIT_AS);
  end();
}

// A receive is posted, so its memory must stay what it is until its message is there.
static void address_space_while_a_receive_is_posted(void) {
  begin();
  exchange_often(140);
  if (partner() < size && rank % 2 != 0) {
    MPI_Request request;
    MPI_Irecv(buffer + offset, bytes, MPI_BYTE, partner(), 2, WORLD, &request);
    limit(RLIMIT_AS, gigabyte);
    MPI_Send(NULL, 0, MPI_BYTE, partner(), 3, WORLD);
    MPI_Wait(&request, IGNORE);
    expect_filled(buffer + offset, bytes, 7);
    MPI_Send(NULL, 0, MPI_BYTE, partner(), 3, WORLD);
    expect_room(gigabyte);
  } else if (partner() < size) {
    fill(buffer + offset, bytes, 7);
    limit(RLIMIT_AS, gigabyte);
    MPI_Recv(NULL, 0, MPI_BYTE, partner(), 3, WORLD, IGNORE);
    MPI_Send(buffer + offset, bytes, MPI_BYTE, partner(), 2, WORLD);
    MPI_Recv(NULL, 0, MPI_BYTE, partner(), 3, WORLD, IGNORE);
    expect_room(gigabyte);
  }
  exchange_often(160);
  lift(RLIMIT_AS);
  end();
}

static void by_prlimit(void) {
  begin();
  exchange_often(180);
  struct rlimit limits = {gigabyte, RLIM_INFINITY}, before;
  EXPECT_CALL(prlimit(0, RLIMIT_AS, &limits, &before), 0);
  expect_room(gigabyte);
  exchange_often(200);
  EXPECT_CALL(prlimit(getpid(), RLIMIT_AS, &before, &limits), 0);
  EXPECT_EQ(limits.rlim_cur, gigabyte);
  end();
}

// Writing beyond it would end the program (SIGXFSZ).
static void file_size(void) {
  begin();
  exchange_often(220);
  limit(RLIMIT_FSIZE, MB);
  exchange_often(240);
  end();
  begin();  // memory that may never have been received into
  exchange_often(260);
  lift(RLIMIT_FSIZE);
  if (rank % 2 == 0) limit(RLIMIT_FSIZE, 0);
  exchange_often(280);
  lift(RLIMIT_FSIZE);
  end();
}

static void file_size_and_address_space(void) {
  begin();
  exchange_often(300);
  limit(RLIMIT_FSIZE, MB);
  limit(RLIMIT_AS, gigabyte);
  exchange_often(320);
  expect_room(gigabyte);
  lift(RLIMIT_AS);
  lift(RLIMIT_FSIZE);
  end();
}

static void descriptors_data_and_locked_memory(void) {
  begin();
  exchange_often(340);
  limit(RLIMIT_NOFILE, 3);
  exchange_often(360);
  lift(RLIMIT_NOFILE);
  limit(RLIMIT_MEMLOCK, 0);
  exchange_often(380);
  limit(RLIMIT_DATA, gigabyte);
  exchange_often(400);
  end();
  begin();
  exchange_often(420);
  lift(RLIMIT_DATA);
  end();
}

// Those of files and descriptors first: a process that has once limited its address space makes no blocks any more.
static const Case cases[] = {CASE(address_space_is_used_like_memory, 2),
                             CASE(file_size, 2),
                             CASE(descriptors_data_and_locked_memory, 2),
                             CASE(address_space_after_traffic, 2),
                             CASE(address_space_of_one_side, 2),
                             CASE(address_space_while_a_receive_is_posted, 2),
                             CASE(by_prlimit, 2),
                             CASE(file_size_and_address_space, 2)};
SUITE(cases)
