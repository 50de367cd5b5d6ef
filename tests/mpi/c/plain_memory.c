// Long messages out of and into memory that is never an alias block, or not yet: stacks, huge pages, shared mappings, buffers
// that live for one message. Either side may copy into them by its address, so pages are shared between messages, children are
// forked in the middle, and what lies around a buffer must stay.
#include <sys/mman.h>
#include <sys/wait.h>

#include "suite.h"

enum { guard_bytes = 64, huge_page = 2 * MB };

static int left(void) { return (rank + size - 1) % size; }
static int right(void) { return (rank + 1) % size; }

// One message along the ring, by calls that block or not.
static void pass_on(void* out, void* in, size_t bytes, unsigned seed, int waits) {
  MPI_Request requests[2];
  fill(out, bytes, seed + (unsigned)rank);
  memset(in, 0, bytes);
  memset((char*)in + bytes, 0x55, guard_bytes);
  if (waits) {
    MPI_Isend(out, (int)bytes, MPI_BYTE, right(), 3, WORLD, requests);
    MPI_Recv(in, (int)bytes, MPI_BYTE, left(), 3, WORLD, IGNORE);
    MPI_Wait(requests, IGNORE);
  } else {
    MPI_Irecv(in, (int)bytes, MPI_BYTE, left(), 3, WORLD, requests);
    MPI_Isend(out, (int)bytes, MPI_BYTE, right(), 3, WORLD, requests + 1);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  expect_filled(in, bytes, seed + (unsigned)left());
  expect_all((char*)in + bytes, guard_bytes, 0x55);
}

static const size_t lengths[] = {1025, 40000, 65536 + 7, 300001, MB + 13, 3 * MB + 4095};
enum { count_of_lengths = sizeof lengths / sizeof *lengths };

static void* map(size_t bytes, int flags, int file) {
  void* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
  if (memory == MAP_FAILED) MPI_Abort(WORLD, 3);
  return memory;
}

static void on_stacks(void) {
  char out[MB + 4096], in[MB + 4096];
  for (int turn = 0; turn < 4; turn++) {
    for (int i = 0; lengths[i] < MB; i++) pass_on(out + turn, in + 3 * turn, lengths[i], 10u + (unsigned)i, turn % 2);
  }
}

static void in_huge_pages(void) {
  const size_t bytes = 4 * (size_t)huge_page;
  char* memory = map(bytes + huge_page, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  char* begin = (char*)(((uintptr_t)memory + huge_page - 1) / huge_page * huge_page);
  madvise(begin, bytes, MADV_HUGEPAGE);
  for (int i = 0; i < count_of_lengths; i++) pass_on(begin, begin + bytes / 2 + 5, lengths[i], 20u + (unsigned)i, i % 2);
  munmap(memory, bytes + huge_page);
}

static void in_shared_memory(void) {
  const size_t bytes = 8 * MB;
  char* memory = map(bytes, MAP_SHARED | MAP_ANONYMOUS, -1);
  for (int i = 0; i < count_of_lengths; i++) pass_on(memory + 1, memory + bytes / 2, lengths[i], 30u + (unsigned)i, i % 2);
  munmap(memory, bytes);
}

// What arrives is in the file as well.
static void in_a_file(void) {
  const size_t bytes = 8 * MB, bytes_of_message = 2 * MB + 77;
  FILE* file = tmpfile();
  if (!file || ftruncate(fileno(file), (off_t)bytes) != 0) MPI_Abort(WORLD, 3);
  char* memory = map(bytes, MAP_SHARED, fileno(file));
  for (int turn = 0; turn < 8; turn++) pass_on(memory, memory + bytes / 2, bytes_of_message, 40u + (unsigned)turn, turn % 2);
  char* back = allocate(bytes_of_message);
  EXPECT_EQ(pread(fileno(file), back, bytes_of_message, (off_t)(bytes / 2)), bytes_of_message);
  expect_filled(back, bytes_of_message, 47u + (unsigned)left());
  free(back);
  munmap(memory, bytes);
  fclose(file);
}

// Each message into memory that is new, often where the last was.
static void in_temporary_buffers(void) {
  for (int turn = 0; turn < 30; turn++) {
    const size_t bytes = lengths[turn % count_of_lengths];
    char* out = turn % 3 ? allocate(bytes) : map(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    char* in = turn % 3 ? allocate(bytes + guard_bytes) : map(bytes + guard_bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    pass_on(out, in, bytes, 50u + (unsigned)turn, turn % 2);
    if (turn % 3) {
      free(out), free(in);
    } else {
      munmap(out, bytes), munmap(in, bytes + guard_bytes);
    }
  }
}

// Nobody has touched the pages.
static void into_untouched_pages(void) {
  const size_t bytes = 2 * MB + 1;
  char* out = allocate(bytes);
  for (int turn = 0; turn < 6; turn++) {
    char* in = map(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    fill(out, bytes, 60u + (unsigned)(turn + rank));
    MPI_Request request;
    MPI_Isend(out, (int)bytes, MPI_BYTE, right(), 0, WORLD, &request);
    MPI_Recv(in, (int)bytes, MPI_BYTE, left(), 0, WORLD, IGNORE);
    MPI_Wait(&request, IGNORE);
    expect_filled(in, bytes, 60u + (unsigned)(turn + left()));
    munmap(in, bytes);
  }
  free(out);
}

// Of memory that cannot be written to here.
static void out_of_read_only_memory(void) {
  const size_t bytes = MB + 5;
  char* out = map(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  char* in = map(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  fill(out, bytes, 70u + (unsigned)rank);
  mprotect(out, bytes, PROT_READ);
  for (int turn = 0; turn < 4; turn++) {
    memset(in, 0, bytes);
    MPI_Sendrecv(out, (int)bytes, MPI_BYTE, right(), 0, in, (int)bytes, MPI_BYTE, left(), 0, WORLD, IGNORE);
    expect_filled(in, bytes, 70u + (unsigned)left());
  }
  munmap(out, bytes), munmap(in, bytes);
}

// Several at once whose first and last pages are the neighbours' as well, while some of them become blocks by being used again.
static void beside_each_other(void) {
  enum { parts = 7, most = 9 };
  const size_t part = 150001, bytes = part * parts;
  char *out = map(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1), *in = map(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  for (int turn = 0; turn < most; turn++) {
    MPI_Request requests[2 * parts];
    memset(in, 0, bytes);
    for (int i = 0; i < parts; i++) fill(out + part * (size_t)i, part, (unsigned)(100 * turn + 10 * i + rank));
    int count = 0;
    for (int i = 0; i < parts; i++) {
      if (i % 2 && turn % 3 == 1) continue;  // some are used less often
      MPI_Irecv(in + part * (size_t)i, (int)part, MPI_BYTE, left(), i, WORLD, &requests[count++]);
    }
    for (int i = parts - 1; i >= 0; i--) {
      if (i % 2 && turn % 3 == 1) continue;
      MPI_Isend(out + part * (size_t)i, (int)part, MPI_BYTE, right(), i, WORLD, &requests[count++]);
    }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < parts; i++) {
      char* at = in + part * (size_t)i;
      if (i % 2 && turn % 3 == 1) {
        expect_all(at, part, 0);
      } else {
        expect_filled(at, part, (unsigned)(100 * turn + 10 * i + left()));
      }
    }
  }
  munmap(out, bytes), munmap(in, bytes);
}

// A child that takes the parent's pages with it while they are written to.
static void around_a_fork(void) {
  const size_t bytes = 6 * MB + 3;
  char* out = allocate(bytes);
  for (int turn = 0; turn < 4; turn++) {
    char* in = map(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    fill(out, bytes, 80u + (unsigned)(turn + rank));
    MPI_Request requests[2];
    MPI_Irecv(in, (int)bytes, MPI_BYTE, left(), 0, WORLD, requests);
    MPI_Isend(out, (int)bytes, MPI_BYTE, right(), 0, WORLD, requests + 1);
    int flag = 0;
    MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
    const pid_t child = fork();
    if (child == 0) {
      usleep(2000);
      _exit(0);
    }
    if (!flag) MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    expect_filled(in, bytes, 80u + (unsigned)(turn + left()));
    waitpid(child, NULL, 0);
    munmap(in, bytes);
  }
  free(out);
}

// All send to one, windows of them.
static void gathered(void) {
  enum { window = 6 };
  const size_t bytes = 400003;
  char stacked[400003];
  for (int turn = 0; turn < 3; turn++) {
    if (rank != 0) {
      fill(stacked, bytes, (unsigned)(7 * turn + rank));
      for (int i = 0; i < window; i++) MPI_Send(stacked, (int)bytes, MPI_BYTE, 0, i, WORLD);
      continue;
    }
    const size_t messages = (size_t)window * (size_t)(size - 1);
    char* in = map(bytes * messages + 1, MAP_SHARED | MAP_ANONYMOUS, -1);
    MPI_Request* requests = allocate(messages * sizeof *requests);
    for (size_t i = 0; i < messages; i++)
      MPI_Irecv(in + bytes * i, (int)bytes, MPI_BYTE, 1 + (int)i / window, (int)i % window, WORLD, &requests[i]);
    MPI_Waitall((int)messages, requests, MPI_STATUSES_IGNORE);
    for (size_t i = 0; i < messages; i++) expect_filled(in + bytes * i, bytes, (unsigned)(7 * turn + 1 + (int)i / window));
    free(requests);
    munmap(in, bytes * messages + 1);
  }
}

// What has gaps at its sender has none at its receiver.
static void out_of_gaps(void) {
  enum { blocks = 5000, length = 30, stride = 50 };
  const size_t bytes = (size_t)blocks * length;
  MPI_Datatype type;
  MPI_Type_vector(blocks, length, stride, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  char* out = allocate((size_t)blocks * stride);
  char* in = map(bytes, MAP_SHARED | MAP_ANONYMOUS, -1);
  for (int turn = 0; turn < 3; turn++) {
    fill(out, (size_t)blocks * stride, 90u + (unsigned)(turn + rank));
    MPI_Sendrecv(out, 1, type, right(), 0, in, (int)bytes, MPI_BYTE, left(), 0, WORLD, IGNORE);
    int wrong = 0;
    for (size_t i = 0; i < bytes; i++)
      wrong += (unsigned char)in[i] != pattern_byte(90u + (unsigned)(turn + left()), i / length * stride + i % length);
    EXPECT_EQ(wrong, 0);
  }
  free(out), munmap(in, bytes);
  MPI_Type_free(&type);
}

static const Case cases[] = {CASE(on_stacks, 1),
                             CASE(in_huge_pages, 1),
                             CASE(in_shared_memory, 1),
                             CASE(in_a_file, 1),
                             CASE(in_temporary_buffers, 1),
                             CASE(into_untouched_pages, 1),
                             CASE(out_of_read_only_memory, 1),
                             CASE(beside_each_other, 1),
                             CASE(around_a_fork, 1),
                             CASE(gathered, 2),
                             CASE(out_of_gaps, 1)};
SUITE(cases)
