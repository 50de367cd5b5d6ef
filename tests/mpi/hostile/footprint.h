// How much memory this process holds: anonymous pages, and those of memory files that it has open, Sluice's among them.
#pragma once

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "suite.h"

static long resident_kb(void) {
  FILE* file = fopen("/proc/self/status", "r");
  char line[256];
  long kb = 0;
  while (file && fgets(line, sizeof line, file)) sscanf(line, "RssAnon: %ld", &kb);
  if (file) fclose(file);
  return kb;
}

// Looked for once; they stay.
static long memory_files_kb(void) {
  static int found[16];
  static int count = -1;
  if (count < 0) {
    count = 0;
    DIR* directory = opendir("/proc/self/fd");
    for (struct dirent* entry; directory && count < 16 && (entry = readdir(directory));) {
      char name[300], target[64] = "";
      snprintf(name, sizeof name, "/proc/self/fd/%s", entry->d_name);
      if (readlink(name, target, sizeof target - 1) > 0 && strstr(target, "memfd:")) found[count++] = atoi(entry->d_name);
    }
    if (directory) closedir(directory);
  }
  long kb = 0;
  for (int i = 0; i < count; i++) {
    struct stat file;
    if (fstat(found[i], &file) == 0) kb += (long)file.st_blocks / 2;
  }
  return kb;
}

static long held_kb(void) { return resident_kb() + memory_files_kb(); }

// The most since the last question, as a thread sees it that looks all the time.
static atomic_long most_kb;
static atomic_int watched = 1;

static void* watch_memory(void* unused) {
  while (atomic_load(&watched)) {
    const long now = held_kb();
    if (now > atomic_load(&most_kb)) atomic_store(&most_kb, now);
    usleep(2000);
  }
  return unused;
}

UNUSED_OK static void say_most(int me, const char* stage) {
  const long now = held_kb(), most = atomic_exchange(&most_kb, now);
  printf("HELD %s %d %ld\n", stage, me, most > now ? most : now);
  fflush(stdout);
}
