// Paths and small structures that share a page with a buffer that was received a moment ago.
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "hostile.h"

static Neighbours n;
static char* path;
static char* second;
static char* answer;

static void begin(void) {
  n = map_neighbours();
  path = n.before;
  second = n.before + 200;
  answer = n.before + 400;
  sprintf(path, "/tmp/mpi-hostile-%d", (int)getpid());
  sprintf(second, "%s-second", path);
  const int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  EXPECT_EQ(write(file, "some text", 9), 9);
  close(file);
}

static void end(void) {
  *(volatile char*)n.after;
  *(volatile char*)n.before;
  unlink(path);
  unlink(second);
  unmap_neighbours(n);
}

#define WITH(name, call, wanted)         \
  static void name(void) {               \
    begin();                             \
    if (late(n.buffer, large, 8)) {      \
      EXPECT_CALL(call, wanted);         \
      expect_filled(n.buffer, large, 8); \
    }                                    \
    end();                               \
  }

static int opened(int file) {
  if (file >= 0) close(file);
  return file >= 0;
}

static int opened_stream(FILE* stream) {
  if (stream) fclose(stream);
  return stream != NULL;
}

WITH(by_open, opened(open(path, O_RDONLY)), 1)
WITH(by_open64, opened(open64(path, O_RDWR | O_CREAT, 0600)), 1)
WITH(by_openat, opened(openat(AT_FDCWD, path, O_RDONLY)), 1)
WITH(by_creat, opened(creat(path, 0600)), 1)
WITH(by_fopen, opened_stream(fopen(path, "r")), 1)
WITH(by_access, access(path, R_OK), 0)
WITH(by_stat, stat(path, (struct stat*)answer), 0)
WITH(by_lstat, lstat(path, (struct stat*)answer), 0)
WITH(by_fstat, fstat(0, (struct stat*)answer), 0)
WITH(by_fstatat, fstatat(AT_FDCWD, path, (struct stat*)answer, 0), 0)
WITH(by_statx, statx(AT_FDCWD, path, 0, STATX_SIZE, (struct statx*)answer), 0)
WITH(by_statfs, statfs(path, (struct statfs*)answer), 0)
WITH(by_rename, rename(path, second), 0)
WITH(by_link, link(path, second), 0)
WITH(by_symlink, symlink("somewhere", second), 0)
WITH(by_unlink, unlink(path), 0)
WITH(by_mkdir_and_rmdir, mkdir(second, 0700) == 0 ? rmdir(second) : -1, 0)
WITH(by_truncate, truncate(path, 3), 0)
WITH(by_readlink, readlink("/proc/self/exe", answer, 300) > 0, 1)
WITH(by_getcwd, getcwd(answer, 400) != NULL, 1)
WITH(by_pipe, pipe((int*)answer) == 0 && close(((int*)answer)[0]) == 0 && close(((int*)answer)[1]) == 0, 1)

static void answer_of_a_pipe_by_ioctl(void) {
  begin();
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  EXPECT_EQ(write(ends[1], "abc", 3), 3);
  if (late(n.buffer, large, 8)) {
    EXPECT_CALL(ioctl(ends[0], FIONREAD, answer), 0);
    EXPECT_EQ(*(int*)answer, 3);
  }
  close(ends[0]);
  close(ends[1]);
  end();
}

static void lock_of_a_file(void) {
  begin();
  const int file = open(path, O_RDWR);
  struct flock* lock = (struct flock*)answer;
  *lock = (struct flock){.l_type = F_WRLCK};
  if (late(n.buffer, large, 8)) {
    EXPECT_CALL(fcntl(file, F_SETLK, lock), 0);
    expect_filled(n.buffer, large, 8);
  }
  close(file);
  end();
}

static const Case cases[] = {CASE(by_open, 2),
                             CASE(by_open64, 2),
                             CASE(by_openat, 2),
                             CASE(by_creat, 2),
                             CASE(by_fopen, 2),
                             CASE(by_access, 2),
                             CASE(by_stat, 2),
                             CASE(by_lstat, 2),
                             CASE(by_fstat, 2),
                             CASE(by_fstatat, 2),
                             CASE(by_statx, 2),
                             CASE(by_statfs, 2),
                             CASE(by_rename, 2),
                             CASE(by_link, 2),
                             CASE(by_symlink, 2),
                             CASE(by_unlink, 2),
                             CASE(by_mkdir_and_rmdir, 2),
                             CASE(by_truncate, 2),
                             CASE(by_readlink, 2),
                             CASE(by_getcwd, 2),
                             CASE(by_pipe, 2),
                             CASE(answer_of_a_pipe_by_ioctl, 2),
                             CASE(lock_of_a_file, 2)};
SUITE(cases)
