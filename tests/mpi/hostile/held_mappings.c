// What the kernel keeps with a mapping, and its maps do not show: the program's own userfaultfd, protection keys, advice about
// fork, seals. It holds on as on the host, whether it was there before the memory was received into or came after.
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "hostile.h"

enum { pages = 128, bytes = pages * page, rounds = 6, call_mseal = 462 };

static void receive_some(char* buffer, size_t length, unsigned seed) {
  for (unsigned i = 0; i < rounds; i++) {
    if (late(buffer, (int)length, seed + i)) expect_filled(buffer, length, seed + i);
  }
}

// --- a store behind a region, page by page ------------------------------------------------------------------------------

static struct {
  int descriptor;
  int stop[2];
  char* region;
  char* content;
  long filled;
} store;

static void* fill_pages(void* unused) {
  struct uffd_msg message;
  while (read(store.descriptor, &message, sizeof message) == sizeof message) {
    if (message.event != UFFD_EVENT_PAGEFAULT) continue;
    const unsigned long at = message.arg.pagefault.address & ~(unsigned long)(page - 1);
    struct uffdio_copy copy = {
        .dst = at, .src = (unsigned long)(store.content + (at - (unsigned long)store.region)), .len = page};
    EXPECT(ioctl(store.descriptor, UFFDIO_COPY, &copy) == 0 || errno == EEXIST, "UFFDIO_COPY: %s", strerror(errno));
    __atomic_add_fetch(&store.filled, 1, __ATOMIC_RELAXED);
  }
  return unused;
}

static void watch_region(void) {
  pthread_t thread;
  struct uffdio_api api = {.api = UFFD_API};
  store.descriptor = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
  EXPECT_CALL(ioctl(store.descriptor, UFFDIO_API, &api), 0);
  struct uffdio_register range = {.range = {(unsigned long)store.region, bytes}, .mode = UFFDIO_REGISTER_MODE_MISSING};
  EXPECT_CALL(ioctl(store.descriptor, UFFDIO_REGISTER, &range), 0);
  pthread_create(&thread, NULL, fill_pages, NULL);
  pthread_detach(thread);
}

static void evict(void) {
  memcpy(store.content, store.region, bytes);
  EXPECT_CALL(madvise(store.region, bytes, MADV_DONTNEED), 0);
}

static void region_behind_a_store(int received_before, int at, int length) {
  store.region = map(bytes);
  store.content = map(bytes);
  store.filled = 0;
  fill(store.content, bytes, (unsigned)rank);
  if (received_before) {
    receive_some(store.region, bytes, 70);
    fill(store.region, bytes, (unsigned)rank);
  }
  watch_region();
  if (received_before) evict();
  for (unsigned i = 0; i < rounds; i++) {
    const long before = __atomic_load_n(&store.filled, __ATOMIC_RELAXED);
    const int received = late(store.region + at, length, i);
    if (received) expect_filled(store.region + at, (size_t)length, i);
    if (received) expect_part_filled(store.region, 0, (size_t)at, (unsigned)rank);
    if (!received) expect_filled(store.region, bytes, (unsigned)rank);
    EXPECT(__atomic_load_n(&store.filled, __ATOMIC_RELAXED) > before, "no page came from the store");
    evict();
  }
  // The thread ends with the process; its descriptor is closed then.
}

static void watched_before(void) { region_behind_a_store(0, pages / 2 * page, bytes / 2); }
static void watched_in_parts_of_pages(void) { region_behind_a_store(0, 3 * page + 77, bytes / 2 + 5); }
static void watched_when_it_is_a_block(void) { region_behind_a_store(1, pages / 2 * page, bytes / 2); }

// --- advice about children ------------------------------------------------------------------------------------------------

// What a child sees at `buffer`: its byte, or 256 when it dies of looking.
static int seen_by_child(const char* buffer) {
  int status = 0;
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);
    _exit(*(volatile const unsigned char*)buffer);
  }
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 256;
}

static void advised(int advice, int wanted, int received_before) {
  char* buffer = map(bytes);
  memset(buffer, 1, bytes);
  if (received_before) receive_some(buffer, bytes, 10);
  EXPECT_CALL(madvise(buffer, bytes, advice), 0);
  receive_some(buffer, bytes, 30);
  memset(buffer, 2, bytes);
  EXPECT_EQ(seen_by_child(buffer + 20 * page), wanted);
  munmap(buffer, bytes);
}

static void wiped_in_children(void) { advised(MADV_WIPEONFORK, 0, 0); }
static void wiped_in_children_later(void) { advised(MADV_WIPEONFORK, 0, 1); }
static void not_in_children(void) { advised(MADV_DONTFORK, 256, 0); }
static void not_in_children_later(void) { advised(MADV_DONTFORK, 256, 1); }

// --- keys and seals: where the machine has them -----------------------------------------------------------------------

static int key_of(const char* address) {
  char line[512];
  int inside = 0, key = -1;
  FILE* maps = fopen("/proc/self/smaps", "r");
  while (key < 0 && fgets(line, sizeof line, maps)) {
    unsigned long begin, end;
    if (sscanf(line, "%lx-%lx ", &begin, &end) == 2) inside = (unsigned long)address >= begin && (unsigned long)address < end;
    if (inside) sscanf(line, "ProtectionKey: %d", &key);
  }
  fclose(maps);
  return key;
}

static void with_a_key(int received_before) {
  const int key = pkey_alloc(0, 0);
  if (key < 0) return;
  char* buffer = map(bytes);
  if (received_before) receive_some(buffer, bytes, 10);
  EXPECT_CALL(pkey_mprotect(buffer, bytes, PROT_READ | PROT_WRITE, key), 0);
  receive_some(buffer, bytes, 30);
  EXPECT_EQ(key_of(buffer + 20 * page), key);
  munmap(buffer, bytes);
  pkey_free(key);
}

static void keyed_before(void) { with_a_key(0); }
static void keyed_when_it_is_a_block(void) { with_a_key(1); }

static void sealed(int received_before) {
  char* buffer = map(bytes);
  if (received_before) receive_some(buffer, bytes, 10);
  if (syscall(call_mseal, buffer + 10 * page, 20 * page, 0) != 0) EXPECT(errno == ENOSYS, "mseal: %s", strerror(errno));
  receive_some(buffer, bytes, 30);
  receive_some(buffer + 5 * page, 10 * page, 50);
}

static void sealed_before(void) { sealed(0); }
static void sealed_when_it_is_a_block(void) { sealed(1); }

static const Case cases[] = {CASE(watched_before, 2),
                             CASE(watched_in_parts_of_pages, 2),
                             CASE(watched_when_it_is_a_block, 2),
                             CASE(wiped_in_children, 2),
                             CASE(wiped_in_children_later, 2),
                             CASE(not_in_children, 2),
                             CASE(not_in_children_later, 2),
                             CASE(keyed_before, 2),
                             CASE(keyed_when_it_is_a_block, 2),
                             CASE(sealed_before, 2),
                             CASE(sealed_when_it_is_a_block, 2)};
SUITE(cases)
