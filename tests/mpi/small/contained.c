// contained PROGRAM ARGUMENTS: the program under a filter like that of containers' engines: calls that reach into other
// processes, the kernel or the placing of memory are refused with EPERM, as Docker's profile does without capabilities.
#include <stdlib.h>

#include "refusals.h"

#ifndef SYS_clone3
#define SYS_clone3 435
#endif

#define REFUSED(call) UNLESS_EQUAL_SKIP(SYS_##call, 1), REFUSE(EPERM)

int main(int argc, char** argv) {
  (void)argc;
  struct sock_filter filter[] = {
      LOAD(nr),
      UNLESS_EQUAL_SKIP(SYS_clone3, 1),
      REFUSE(ENOSYS),
      REFUSED(userfaultfd),
      REFUSED(process_vm_readv),
      REFUSED(process_vm_writev),
      REFUSED(ptrace),
      REFUSED(kcmp),
      REFUSED(perf_event_open),
      REFUSED(bpf),
      REFUSED(keyctl),
      REFUSED(unshare),
      REFUSED(setns),
      REFUSED(mount),
      REFUSED(get_mempolicy),
      REFUSED(set_mempolicy),
      REFUSED(mbind),
      REFUSED(move_pages),
      REFUSED(pidfd_getfd),
      REFUSED(io_uring_setup),
      REFUSED(open_by_handle_at),
      ALLOW,
  };
  install(filter, sizeof filter / sizeof *filter);
  execvp(argv[1], argv + 1);
  perror(argv[1]);
  return EXIT_FAILURE;
}
