/* System calls that the kernel refuses from now on, to all threads, by seccomp filters. Ends the process with 77 where none can
 * be had. */
#pragma once

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define UNLESS_EQUAL_SKIP(value, instructions) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (instructions))
#define UNLESS_SET_SKIP(bits, instructions) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 0, (instructions))
#define REFUSE(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static inline void install(struct sock_filter* filter, size_t length) {
  struct sock_fprog program = {(unsigned short)length, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0) {
    perror("seccomp");
    _exit(77);
  }
}

/* The ioctl by which the kernel answers what is mapped where; older kernels do not know it. */
static inline void refuse_map_query(void) {
  const unsigned procmap_query = _IOC(_IOC_READ | _IOC_WRITE, 0x66, 17, 104);
  struct sock_filter filter[] = {
      LOAD(nr), UNLESS_EQUAL_SKIP(SYS_ioctl, 3), LOAD(args[1]), UNLESS_EQUAL_SKIP(procmap_query, 1), REFUSE(ENOTTY), ALLOW};
  install(filter, sizeof filter / sizeof *filter);
}
