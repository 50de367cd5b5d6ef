// How long the helper thread has had the processor of a thread that has released something: in that time the program did not go
// on, so the release has hidden nothing of it.
//
// Belongs to the engine lock.
#pragma once

#include <cstdint>

namespace sluice {

class HelperTime {
 public:
  /// A thread that runs on this processor has made a release.
  void released_on(int processor) { processor_ = processor; }
  /// The helper thread is awake on this processor from now on, while something is released; and until `sleeps`.
  void wakes_on(int processor, std::uint64_t now) {
    if (processor == processor_) since_ = now;
  }
  void sleeps(std::uint64_t now) {
    took_ns_ = taken(now);
    since_ = 0;
  }
  [[nodiscard]] bool runs() const { return since_ != 0; }
  /// In sum.
  [[nodiscard]] std::uint64_t taken(std::uint64_t now) const { return took_ns_ + (since_ == 0 ? 0 : now - since_); }

 private:
  int processor_ = -1;
  std::uint64_t took_ns_ = 0;
  std::uint64_t since_ = 0;  // 0: it sleeps, or is elsewhere
};

}  // namespace sluice
