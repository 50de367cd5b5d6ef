#include "runtime/process/blocked_threads.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "runtime/process/process_threads.hpp"
#include "runtime/process/signal_mask.hpp"

namespace sluice {
namespace {

/// The C library blocks everything in a thread that begins or ends, for a moment; so the question is asked so often, 1.5 ms in
/// all.
constexpr int looks = 5;

/// The mask of a thread that ended meanwhile is empty.
signal_mask::Bits mask_of(int thread) {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/self/task/%d/status", thread);
  const int file = open(path.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  std::array<char, 4096> text{};
  const auto bytes = syscall(SYS_read, file, text.data(), text.size() - 1);  // read() is intercepted
  close(file);
  constexpr const char* label = "SigBlk:";
  const char* line = bytes > 0 ? std::strstr(text.data(), label) : nullptr;
  constexpr int hexadecimal = 16;
  return line ? std::strtoull(line + std::strlen(label), nullptr, hexadecimal) : 0;
}

bool any_other_blocks(int signal) {
  const auto self = static_cast<int>(syscall(SYS_gettid));
  bool found = false;
  for_each_thread([&](int thread) {
    if (thread != self && (mask_of(thread) & signal_mask::bit(signal)) != 0) found = true;
  });
  return found;
}

}  // namespace

bool other_threads_block(int signal) {
  timespec pause{.tv_sec = 0, .tv_nsec = 50'000};
  for (int look = 0; look < looks; ++look) {
    if (!any_other_blocks(signal)) return false;
    syscall(SYS_nanosleep, &pause, nullptr);
    pause.tv_nsec *= 2;
  }
  return true;
}

}  // namespace sluice
