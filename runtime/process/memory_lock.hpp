// How much memory this process may lock, and how to be allowed more: adapters lock all that they use.
#pragma once

#include <array>

namespace sluice {

/// One sentence for an error that lack of lockable memory may have caused. Allocates nothing.
class MemoryLockAdvice {
 public:
  MemoryLockAdvice();
  [[nodiscard]] const char* text() const { return text_.data(); }

 private:
  std::array<char, 320> text_{};
};

}  // namespace sluice
