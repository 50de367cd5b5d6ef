// Buffers that are used, at once and in every way, after MPI_Send has returned from them to a receiver that has not come yet
// (SLUICE_SEND_RELEASE). The receiver must get what was there before the call returned.
#include <pthread.h>
#include <signal.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "hostile.h"

enum { rounds = 4, bytes = large };

static void receive_late(unsigned seed) {
  char* got = allocate(bytes);
  late_by();
  MPI_Recv(got, bytes, MPI_BYTE, partner(), 1, WORLD, IGNORE);
  expect_filled(got, bytes, seed);
  note_bytes(got, bytes);
  free(got);
}

// True on the one that sends. The first message is there so that the buffer is known to be worth something.
static int sent(char* buffer, unsigned seed) {
  if (partner() >= size) return 0;
  for (unsigned i = 0; i < 2; i++) {
    if (rank % 2 != 0) {
      receive_late(seed + i);
      continue;
    }
    fill(buffer, bytes, seed + i);
    MPI_Send(buffer, bytes, MPI_BYTE, partner(), 1, WORLD);
  }
  return rank % 2 == 0;
}

static void overwritten(void) {
  char* buffer = map(bytes);
  for (unsigned i = 0; i < rounds; i++) {
    if (!sent(buffer, 2 * i)) continue;
    memset(buffer, 0xee, bytes);
    expect_all(buffer, bytes, 0xee);
  }
  munmap(buffer, bytes);
}

static void written_to_here_and_there(void) {
  char* buffer = map(bytes);
  const size_t places[rounds] = {0, bytes - 1, bytes / 2, 5 * page};
  for (unsigned i = 0; i < rounds; i++) {
    if (!sent(buffer, 2 * i)) continue;
    expect_part_filled(buffer, places[i], places[i] + 1, 2 * i + 1);
    buffer[places[i]] = 99;
    EXPECT_EQ(buffer[places[i]], 99);
  }
  munmap(buffer, bytes);
}

static void read_only(void) {
  char* buffer = map(bytes);
  for (unsigned i = 0; i < rounds; i++) {
    if (sent(buffer, 2 * i)) expect_filled(buffer, bytes, 2 * i + 1);
  }
  munmap(buffer, bytes);
}

static void neighbours_are_written(void) {
  Neighbours all = map_neighbours();
  for (unsigned i = 0; i < rounds; i++) {
    if (!sent(all.buffer, 2 * i)) continue;
    memset(all.before, 11, margin);
    memset(all.after, 12, margin);
    expect_all(all.before, margin, 11);
    expect_all(all.after, margin, 12);
    expect_filled(all.buffer, bytes, 2 * i + 1);
  }
  unmap_neighbours(all);
}

static void filled_by_the_kernel(void) {
  char* buffer = map(bytes);
  const int file = filled_file(bytes, 77);
  for (unsigned i = 0; i < rounds; i++) {
    if (!sent(buffer, 2 * i)) continue;
    if (i == 0) EXPECT_CALL(pread(file, buffer, bytes, 0), bytes);
    if (i == 1) EXPECT_CALL(preadv(file, &(struct iovec){buffer, bytes}, 1, 0), bytes);
    if (i == 2) {
      lseek(file, 0, SEEK_SET);
      EXPECT_CALL(read(file, buffer, bytes), bytes);
    }
    if (i == 3) {
      FILE* stream = fdopen(dup(file), "r");
      rewind(stream);
      EXPECT_CALL(fread(buffer, 1, bytes, stream), bytes);
      fclose(stream);
    }
    expect_filled(buffer, bytes, 77);
  }
  close(file);
  munmap(buffer, bytes);
}

static void written_by_the_kernel(void) {
  char* buffer = map(bytes);
  const int file = filled_file(0, 0);
  for (unsigned i = 0; i < rounds; i++) {
    if (!sent(buffer, 2 * i)) continue;
    EXPECT_CALL(pwrite(file, buffer, bytes, 0), bytes);
    memset(buffer, 0, bytes);
    expect_file(file, bytes, 2 * i + 1);
  }
  close(file);
  munmap(buffer, bytes);
}

static void received_into(void) {
  // What is received is under way before what was sent.
  char* buffer = map(bytes);
  for (unsigned i = 0; i < rounds && partner() < size; i++) {
    char* back = map(bytes);
    MPI_Request request;
    fill(back, bytes, 50 + i);
    if (rank % 2 != 0) MPI_Isend(back, bytes, MPI_BYTE, partner(), 2, WORLD, &request);
    if (sent(buffer, 2 * i)) {
      MPI_Recv(buffer, bytes, MPI_BYTE, partner(), 2, WORLD, IGNORE);
      expect_filled(buffer, bytes, 50 + i);
    } else {
      MPI_Wait(&request, IGNORE);
    }
    munmap(back, bytes);
  }
  munmap(buffer, bytes);
}

static void sent_again(void) {
  char* buffer = map(bytes);
  for (unsigned i = 0; i < rounds; i++) {
    if (sent(buffer, 2 * i)) {
      for (int again = 0; again < 3; again++) MPI_Send(buffer, bytes, MPI_BYTE, partner(), 1, WORLD);
      memset(buffer, 0, bytes);
    } else if (partner() < size) {
      for (int again = 0; again < 3; again++) receive_late(2 * i + 1);
    }
  }
  munmap(buffer, bytes);
}

static void freed_and_allocated_again(void) {
  for (unsigned i = 0; i < rounds; i++) {
    char* buffer = allocate(bytes);
    sent(buffer, 2 * i);
    free(buffer);
    char* next = allocate(bytes);  // often the same address
    memset(next, 0xdd, bytes);
    expect_all(next, bytes, 0xdd);
    free(next);
  }
}

static void unmapped_and_mapped_again(void) {
  for (unsigned i = 0; i < rounds; i++) {
    char* buffer = map(bytes);
    sent(buffer, 2 * i);
    if (i % 2 == 0) munmap(buffer, bytes);
    char* next = mmap(buffer, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    expect_all(next, bytes, 0);
    memset(next, 0xcc, bytes);
    munmap(next, bytes);
  }
}

static void resized(void) {
  for (unsigned i = 0; i < rounds; i++) {
    char* buffer = allocate(bytes);
    const int sender = sent(buffer, 2 * i);
    const size_t to = i % 2 ? 3 * bytes : bytes / 3;
    buffer = realloc(buffer, to);
    if (sender) expect_filled(buffer, to < bytes ? to : bytes, 2 * i + 1);
    memset(buffer, 0xbb, to);
    free(buffer);
  }
}

static void emptied(void) {
  char* buffer = map(bytes);
  for (unsigned i = 0; i < rounds; i++) {
    if (!sent(buffer, 2 * i)) continue;
    EXPECT_CALL(madvise(buffer, bytes, MADV_DONTNEED), 0);
    expect_all(buffer, bytes, 0);
  }
  munmap(buffer, bytes);
}

static void protected_and_moved(void) {
  for (unsigned i = 0; i < rounds; i++) {
    char* buffer = map(bytes);
    const int sender = sent(buffer, 2 * i);
    EXPECT_CALL(mprotect(buffer, bytes, PROT_READ | PROT_WRITE), 0);
    memset(buffer + page, 0xaa, page);
    char* moved = mremap(buffer, bytes, 2 * bytes, MREMAP_MAYMOVE);
    EXPECT(moved != MAP_FAILED, "mremap: %s", strerror(errno));
    if (sender) expect_part_filled(moved, 2 * page, bytes, 2 * i + 1);
    memset(moved, 0x99, 2 * bytes);
    munmap(moved, 2 * bytes);
  }
}

static void shown_to_a_child(void) {
  char* buffer = map(bytes);
  for (unsigned i = 0; i < rounds; i++) {
    if (!sent(buffer, 2 * i)) continue;
    const pid_t child = fork();
    if (child == 0) {
      memset(buffer, 0x88, bytes);
      _exit(buffer[bytes - 1] == (char)0x88 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    expect_filled(buffer, bytes, 2 * i + 1);
    memset(buffer, 0, bytes);
  }
  munmap(buffer, bytes);
}

static void* overwrite(void* buffer) { return memset(buffer, 0x77, bytes); }

static void overwritten_by_threads(void) {
  char* buffer = map(bytes);
  for (unsigned i = 0; i < rounds; i++) {
    if (!sent(buffer, 2 * i)) continue;
    pthread_t threads[3];
    for (int t = 0; t < 3; t++) pthread_create(&threads[t], NULL, overwrite, buffer);
    for (int t = 0; t < 3; t++) pthread_join(threads[t], NULL);
    expect_all(buffer, bytes, 0x77);
  }
  munmap(buffer, bytes);
}

static char* touched_by_handler;
static void on_signal(int signal) { touched_by_handler[signal] = 1; }

static void overwritten_by_a_signal_handler(void) {
  char* buffer = touched_by_handler = map(bytes);
  signal(SIGUSR1, on_signal);
  for (unsigned i = 0; i < rounds; i++) {
    if (!sent(buffer, 2 * i)) continue;
    raise(SIGUSR1);
    EXPECT_EQ(buffer[SIGUSR1], 1);
  }
  signal(SIGUSR1, SIG_DFL);
  munmap(buffer, bytes);
}

static const Case cases[] = {CASE(overwritten, 2),
                             CASE(written_to_here_and_there, 2),
                             CASE(read_only, 2),
                             CASE(neighbours_are_written, 2),
                             CASE(filled_by_the_kernel, 2),
                             CASE(written_by_the_kernel, 2),
                             CASE(received_into, 2),
                             CASE(sent_again, 2),
                             CASE(freed_and_allocated_again, 2),
                             CASE(unmapped_and_mapped_again, 2),
                             CASE(resized, 2),
                             CASE(emptied, 2),
                             CASE(protected_and_moved, 2),
                             CASE(shown_to_a_child, 2),
                             CASE(overwritten_by_threads, 2),
                             CASE(overwritten_by_a_signal_handler, 2)};
SUITE(cases)
