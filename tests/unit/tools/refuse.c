/* refuse SYSCALL ERROR [INDEX VALUE] program [arguments]: becomes the program, for which the system call of that number fails
 * with that error: always, or when its argument of that index has that value. What containers do by a seccomp filter. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static int number(const char* text) { return (int)strtol(text, NULL, 10); }

int main(int argc, char** argv) {
  const int with_argument = argc > 4 && argv[3][0] >= '0' && argv[3][0] <= '5';
  const int first = with_argument ? 5 : 3;
  if (argc <= first) return 2;
  const unsigned offset = with_argument ? (unsigned)(offsetof(struct seccomp_data, args) + 8 * (size_t)number(argv[3]))
                                        : offsetof(struct seccomp_data, nr);
  const unsigned value = (unsigned)number(argv[with_argument ? 4 : 1]);
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number(argv[1]), 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)number(argv[2])),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof code / sizeof *code, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    perror("prctl");
    return 3;
  }
  execvp(argv[first], argv + first);
  perror(argv[first]);
  return 3;
}
