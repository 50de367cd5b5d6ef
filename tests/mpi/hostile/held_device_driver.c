// Stands in for libcuda.so.1. "Device memory" cannot be touched by the processor and is copied through a second mapping. Host
// memory that is registered is held by its pages, in a pipe, as by a driver that accounts for nothing.
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

typedef unsigned long long Pointer;

enum { max_areas = 64, page = 4096, success = 0, invalid = 1 };

typedef struct {
  Pointer begin, end;
  char* behind;  // NULL: host memory
  int pipe[2];
} Area;

static Area areas[max_areas];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int reachable;

static Area* find(Pointer at) {
  for (int i = 0; i < max_areas; i++) {
    if (at >= areas[i].begin && at < areas[i].end) return &areas[i];
  }
  return NULL;
}

static Area* add(Pointer begin, size_t bytes, char* behind) {
  Area* place = areas;
  while (place->end) place++;
  *place = (Area){begin, begin + bytes, behind, {-1, -1}};
  return place;
}

// Past the C library: nobody sees it, as nobody sees what a driver does.
static long bare_vmsplice(int file, const struct iovec* vector) {
  long result;
  register long flags asm("r10") = 0;
  asm volatile("syscall" : "=a"(result) : "a"(SYS_vmsplice), "D"(file), "S"(vector), "d"(1), "r"(flags) : "rcx", "r11", "memory");
  return result;
}

// Tests only: the processor reaches device memory that is allocated from now on, for programs under a host that knows no devices.
void standInReachable(int now) { reachable = now; }

int cuMemAlloc_v2(Pointer* address, size_t bytes) {
  const size_t whole = (bytes + page - 1) / page * page;
  const int file = memfd_create("device", 0);
  if (ftruncate(file, (off_t)whole) != 0) return invalid;
  void* front = mmap(NULL, whole, reachable ? PROT_READ | PROT_WRITE : PROT_NONE, MAP_SHARED, file, 0);
  char* behind = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  *address = (Pointer)front;
  pthread_mutex_lock(&lock);
  add(*address, bytes, behind);
  pthread_mutex_unlock(&lock);
  return success;
}

int cuMemFree_v2(Pointer address) {
  pthread_mutex_lock(&lock);
  Area* area = find(address);
  munmap(area->behind, area->end - area->begin);
  munmap((void*)address, area->end - area->begin);
  *area = (Area){0};
  pthread_mutex_unlock(&lock);
  return success;
}

int cuMemHostRegister_v2(void* address, size_t bytes, unsigned flags) {
  pthread_mutex_lock(&lock);
  Area* area = add((Pointer)address, bytes, NULL);
  pthread_mutex_unlock(&lock);
  if (pipe(area->pipe) != 0 || fcntl(area->pipe[1], F_SETPIPE_SZ, bytes) < 0) return invalid;
  for (size_t at = 0; at < bytes; at += page) {
    const struct iovec vector = {(char*)address + at, page};
    if (bare_vmsplice(area->pipe[1], &vector) != page) return invalid;
  }
  return success;
}

// How many pages the driver sees otherwise than the program; forgets the registration.
int standInStalePages(void* address) {
  char seen[page];
  int stale = 0;
  pthread_mutex_lock(&lock);
  Area* area = find((Pointer)address);
  for (Pointer at = area->begin; at < area->end; at += page) {
    if (read(area->pipe[0], seen, page) != page || memcmp(seen, (void*)at, page) != 0) stale++;
  }
  close(area->pipe[0]);
  close(area->pipe[1]);
  *area = (Area){0};
  pthread_mutex_unlock(&lock);
  return stale;
}

int cuPointerGetAttribute(void* answer, int question, Pointer at) {
  pthread_mutex_lock(&lock);
  const Area* area = find(at);
  const int known = area != NULL;
  const int on_device = known && area->behind;
  pthread_mutex_unlock(&lock);
  if (!known) return invalid;
  if (question == 2) *(unsigned*)answer = on_device ? 2 : 1;
  if (question == 8) *(unsigned*)answer = 0;
  return question == 2 || question == 8 ? success : invalid;
}

static char* behind(Pointer at, size_t bytes) {
  pthread_mutex_lock(&lock);
  const Area* area = find(at);
  char* const place = area && area->behind && at + bytes <= area->end ? area->behind + (at - area->begin) : NULL;
  pthread_mutex_unlock(&lock);
  return place;
}

int cuMemcpyDtoH_v2(void* to, Pointer from, size_t bytes) {
  const char* const place = behind(from, bytes);
  if (place) memcpy(to, place, bytes);
  return place ? success : invalid;
}

int cuMemcpyHtoD_v2(Pointer to, const void* from, size_t bytes) {
  char* const place = behind(to, bytes);
  if (place) memcpy(place, from, bytes);
  return place ? success : invalid;
}
