#include "runtime/guard/choice.hpp"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <functional>

namespace sluice {
namespace {

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

/// True when `check` does, in a child without privilege.
bool holds_without_privilege(const std::function<bool()>& check) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(setuid(65534) == 0 && check() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// As in a container: the system call answers EPERM.
bool refuse_userfaultfd() {
  std::array<sock_filter, 4> program{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_userfaultfd, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog filter{program.size(), program.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST(GuardChoiceTest, mprotect_is_what_it_is) {
  const GuardChoice choice = choose_guard(GuardEngine::mprotect);
  EXPECT_EQ(choice.engine, GuardEngine::mprotect);
  EXPECT_EQ(choice.reason, "SLUICE_GUARD=mprotect");
  EXPECT_TRUE(choice.warning.empty());
}

TEST(GuardChoiceTest, auto_takes_the_cheaper_one_and_tells_of_the_other) {
  const GuardChoice choice = choose_guard(GuardEngine::automatic);
  EXPECT_EQ(choice.engine, GuardEngine::mprotect);
  EXPECT_TRUE(contains(choice.reason, "userfaultfd is possible")) << choice.reason;
  EXPECT_TRUE(choice.warning.empty());
}

TEST(GuardChoiceTest, without_privilege_the_reason_says_what_system_calls_do) {
  EXPECT_TRUE(holds_without_privilege([] {
    const GuardChoice choice = choose_guard(GuardEngine::userfaultfd);
    return choice.engine == GuardEngine::userfaultfd && contains(choice.reason, "EFAULT");
  }));
}

TEST(GuardChoiceTest, what_cannot_be_had_is_warned_of_and_replaced) {
  EXPECT_TRUE(holds_without_privilege([] {
    if (!refuse_userfaultfd()) return false;
    const GuardChoice choice = choose_guard(GuardEngine::userfaultfd);
    return choice.engine == GuardEngine::mprotect && contains(choice.warning, "system call userfaultfd is refused");
  }));
}

}  // namespace
}  // namespace sluice
