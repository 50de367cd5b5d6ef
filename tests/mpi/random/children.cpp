#include "children.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

extern char** environ;

namespace random_program {

namespace {

constexpr int seen = 41;
constexpr int differs = 42;
constexpr std::byte overwritten{0x5a};

std::string failure(const char* call) { return std::string(call) + ": " + std::strerror(errno); }

/// Empty when the child ended with this exit status.
std::string expect_exit(pid_t child, int expected) {
  int status = 0;
  pid_t ended = -1;
  do {
    ended = waitpid(child, &status, 0);
  } while (ended < 0 && errno == EINTR);
  if (ended != child) return failure("waitpid");
  if (WIFSIGNALED(status)) return "a child was killed by signal " + std::to_string(WTERMSIG(status));
  if (WEXITSTATUS(status) == expected) return {};
  return "a child ended with " + std::to_string(WEXITSTATUS(status)) + ", expected " + std::to_string(expected);
}

std::string run_by_system() {
  const int status = std::system("exit 7");
  if (status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 7) return {};
  return "system returned " + std::to_string(status);
}

std::string run_by_popen() {
  std::FILE* output = popen("echo said", "r");
  if (output == nullptr) return failure("popen");
  std::array<char, 16> line{};
  const bool said = std::fgets(line.data(), line.size(), output) != nullptr && std::string_view(line.data()) == "said\n";
  const int status = pclose(output);
  return said && status == 0 ? std::string() : "popen: status " + std::to_string(status) + ", read " + line.data();
}

}  // namespace

std::string child_sees(std::span<std::byte> buffer, std::span<const std::byte> expected) {
  const pid_t child = fork();
  if (child < 0) return failure("fork");
  if (child == 0) {
    const bool equal = std::ranges::equal(buffer, expected);
    std::ranges::fill(buffer, overwritten);
    const bool written = std::ranges::all_of(buffer, [](std::byte b) { return b == overwritten; });
    _exit(equal && written ? seen : differs);
  }
  return expect_exit(child, seen);
}

std::string start_program(Started how) {
  if (how == Started::system) return run_by_system();
  if (how == Started::popen) return run_by_popen();
  std::array<char, 16> name{"/bin/true"};
  const std::array<char*, 2> arguments{name.data(), nullptr};
  pid_t child = -1;
  if (how == Started::spawn) {
    const int error = posix_spawn(&child, name.data(), nullptr, nullptr, arguments.data(), environ);
    if (error != 0) return std::string("posix_spawn: ") + std::strerror(error);
  } else {
    child = fork();
    if (child < 0) return failure("fork");
    if (child == 0) {
      execv(name.data(), arguments.data());
      _exit(127);
    }
  }
  return expect_exit(child, 0);
}

}  // namespace random_program
