#include "runtime/blocked_threads.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime/signal_mask.hpp"

namespace sluice {
namespace {

/// The mask of a thread that ended meanwhile is empty.
signal_mask::Bits mask_of(const char* thread) {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/self/task/%s/status", thread);
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

}  // namespace

bool other_threads_block(int signal) {
  DIR* threads = opendir("/proc/self/task");
  if (!threads) return false;
  const long self = syscall(SYS_gettid);
  bool found = false;
  while (const dirent* entry = readdir(threads)) {
    const long thread = std::strtol(entry->d_name, nullptr, 10);
    if (thread > 0 && thread != self && (mask_of(entry->d_name) & signal_mask::bit(signal)) != 0) found = true;
  }
  closedir(threads);
  return found;
}

}  // namespace sluice
