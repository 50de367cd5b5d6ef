// How much memory this process holds: anonymous pages, and those of the memory file that Sluice has made of it.
#pragma once

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "suite.h"

// By bare system calls: a thread that asks all the time is not to wait in Sluice, nor in the host.
static size_t read_whole(const char* name, char* text, size_t room) {
  const long file = syscall(SYS_openat, AT_FDCWD, name, O_RDONLY);
  size_t length = 0;
  for (long got = 1; file >= 0 && got > 0 && length + 1 < room; length += got > 0 ? (size_t)got : 0)
    got = syscall(SYS_read, file, text + length, room - 1 - length);
  if (file >= 0) syscall(SYS_close, file);
  text[length] = 0;
  return length;
}

static long resident_kb(void) {
  char text[4096];
  read_whole("/proc/self/status", text, sizeof text);
  const char* line = strstr(text, "RssAnon:");
  return line ? atol(line + strlen("RssAnon:")) : 0;
}

// The memory file of this process, not one of a peer's that it has open as well: memory of the program shows it, at the place in
// the file that is its own address. Whatever is asked before there is any is 0.
static long memory_file_kb(void) {
  static int found = -1;
  struct stat file;
  if (found >= 0) return fstat(found, &file) == 0 ? (long)file.st_blocks / 2 : 0;
  unsigned long own = 0;
  static char text[1 << 20];
  read_whole("/proc/self/maps", text, sizeof text);
  for (char* line = strtok(text, "\n"); line && !own; line = strtok(NULL, "\n")) {
    unsigned long begin, end, offset, inode;
    if (strstr(line, "memfd:") && sscanf(line, "%lx-%lx %*s %lx %*s %lu", &begin, &end, &offset, &inode) == 4 && begin == offset)
      own = inode;
  }
  for (int descriptor = 3; own && found < 0 && descriptor < 4096; descriptor++) {
    if (fstat(descriptor, &file) == 0 && file.st_ino == own && S_ISREG(file.st_mode)) found = descriptor;
  }
  return found >= 0 ? (long)file.st_blocks / 2 : 0;
}

static long held_kb(void) { return resident_kb() + memory_file_kb(); }

// The most since the last question, as a thread sees it that looks all the time.
static atomic_long max_kb;
static atomic_int watched = 1;

static void* watch_memory(void* unused) {
  while (atomic_load(&watched)) {
    const long now = held_kb();
    if (now > atomic_load(&max_kb)) atomic_store(&max_kb, now);
    usleep(2000);
  }
  return unused;
}

UNUSED_OK static void say_most(int me, const char* stage) {
  const long now = held_kb(), most = atomic_exchange(&max_kb, now);
  printf("HELD %s %d %ld\n", stage, me, most > now ? most : now);
  fflush(stdout);
}
