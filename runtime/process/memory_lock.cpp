#include "runtime/process/memory_lock.hpp"

#include <sys/resource.h>

#include <cstdio>

namespace sluice {

MemoryLockAdvice::MemoryLockAdvice() {
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  if (limit.rlim_cur == RLIM_INFINITY) {
    std::snprintf(text_.data(), text_.size(),
                  "This process may lock any amount of memory (ulimit -l), so the adapter has no more.");
    return;
  }
  std::snprintf(text_.data(), text_.size(),
                "This process may lock %llu KB of memory; `ulimit -l unlimited` in the shell that starts the job, or the line "
                "\"* - memlock unlimited\" in /etc/security/limits.conf of each node, allows more",
                static_cast<unsigned long long>(limit.rlim_cur / 1024));
}

}  // namespace sluice
