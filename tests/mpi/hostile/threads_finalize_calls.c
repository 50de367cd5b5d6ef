// Threads make calls of the C library, which Sluice stands in front of, while another one runs MPI_Finalize: on what is under
// guard until then, on its neighbours, and on memory of their own.
#include <pthread.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "hostile.h"

enum { bytes = 2 * MB, own_pages = 16, threads = 6, first_rounds = 2 };

static char *received, *beside;
static volatile int stop;
static int file, nowhere;

static void* writes(void* unused) {
  struct iovec pieces[] = {{received + 5 * page, 100}, {beside, 100}};
  while (!stop) {
    EXPECT_CALL(pwrite(file, received + 3 * page, 300, 0), 300);
    EXPECT_CALL(writev(nowhere, pieces, 2), 200);
  }
  return unused;
}

static void* reads(void* unused) {
  while (!stop) EXPECT_CALL(pread(file, beside + 200, 100, 0), 100);
  return unused;
}

static void* drops_contents(void* unused) {
  char* own = map(own_pages * page);
  while (!stop) {
    own[page] = 1;
    EXPECT_CALL(madvise(own, own_pages * page, MADV_DONTNEED), 0);
    EXPECT_EQ(own[page], 0);
  }
  munmap(own, own_pages * page);
  return unused;
}

static void* moves(void* unused) {
  char* own = map(own_pages * page);
  for (size_t pages = own_pages; !stop; pages = 3 * own_pages - pages) {  // 16, 32, 16, ...
    own = mremap(own, pages * page, (3 * own_pages - pages) * page, MREMAP_MAYMOVE);
    EXPECT(own != MAP_FAILED, "mremap: %s", strerror(errno));
    if (own == MAP_FAILED) break;
    own[page] = 2;
  }
  return unused;
}

static void* forks(void* unused) {
  while (!stop) {
    int status = -1;
    const pid_t child = fork();
    if (child == 0) _exit(7);
    EXPECT_CALL(waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 7);
  }
  return unused;
}

static void* (*const works[threads])(void*) = {writes, reads, drops_contents, moves, writes, forks};

int main(int argc, char** argv) {
  int provided;
  pthread_t started[threads];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(WORLD, &rank);
  MPI_Comm_size(WORLD, &size);
  received = map(bytes + 2 * page);
  beside = received + bytes + 1000;  // on its last page
  file = filled_file(4096, 1);
  nowhere = open("/dev/null", O_WRONLY);
  for (unsigned i = 0; i < first_rounds; i++) {
    if (late(received + 100, bytes, i)) expect_filled(received + 100, bytes, i);
  }
  MPI_Barrier(WORLD);
  const int received_last = late(received + 100, bytes, 9);
  const int count = argc > 1 ? threads : threads - 1;  // the last of them forks
  for (int i = 0; i < count; i++) pthread_create(&started[i], NULL, works[i], NULL);
  MPI_Finalize();
  pause_ms(20);
  stop = 1;
  for (int i = 0; i < count; i++) pthread_join(started[i], NULL);
  if (received_last) expect_filled(received + 100, bytes, 9);
  return failures > 0;
}
