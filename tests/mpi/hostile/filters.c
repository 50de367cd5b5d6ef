// A container's filter refuses one system call (argument: its name) from before MPI_Init on. Messages are right all the same.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "hostile.h"

enum { rounds = 4 };

static const struct {
  const char* name;
  int number;
} refusable[] = {
    {"eventfd", SYS_eventfd2},
    {"fallocate", SYS_fallocate},
    {"get_robust_list", SYS_get_robust_list},
    {"membarrier", SYS_membarrier},
    {"memfd_create", SYS_memfd_create},
    {"process_vm_readv", SYS_process_vm_readv},
    {"process_vm_writev", SYS_process_vm_writev},
    {"set_mempolicy", SYS_set_mempolicy},
    {"timerfd_create", SYS_timerfd_create},
    {"userfaultfd", SYS_userfaultfd},
};

static int refuse(const char* name) {
  unsigned number = 0;
  for (size_t i = 0; i < sizeof refusable / sizeof refusable[0]; i++) {
    if (strcmp(refusable[i].name, name) == 0) number = (unsigned)refusable[i].number;
  }
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog filter = {sizeof code / sizeof code[0], code};
  return number != 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

static void messages_of_all_lengths(void) {
  static const int lengths[] = {0, 8, 4000, 20000, 300000, large};
  char* out = map(large);
  char* in = map(large);
  for (unsigned i = 0; i < rounds * sizeof lengths / sizeof lengths[0]; i++) {
    const int bytes = lengths[i % (sizeof lengths / sizeof lengths[0])];
    const int right = (rank + 1) % size, left = (rank + size - 1) % size;
    fill(out, (size_t)bytes, i + (unsigned)rank);
    MPI_Sendrecv(out, bytes, MPI_BYTE, right, 1, in, bytes, MPI_BYTE, left, 1, WORLD, IGNORE);
    expect_filled(in, (size_t)bytes, i + (unsigned)left);
  }
  munmap(out, large);
  munmap(in, large);
}

static void late_messages(void) {
  char* buffer = map(large);
  for (unsigned i = 0; i < rounds; i++) {
    if (late(buffer, large, i)) expect_filled(buffer, large, i);
  }
  munmap(buffer, large);
}

static const Case cases[] = {CASE(messages_of_all_lengths, 2), CASE(late_messages, 2)};

int main(int argc, char** argv) {
  if (argc != 2 || !refuse(argv[1])) return 2;
  MPI_Init(NULL, NULL);
  run_cases(cases, sizeof cases / sizeof cases[0], 1, argv);
  const int failed = verdict();
  MPI_Finalize();
  return failed;
}
