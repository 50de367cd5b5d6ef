// Whether the calling thread's signals are blocked by the fault handler, so that nobody else needs to block them.
#pragma once

namespace sluice::held_signals {

/// The fault handler runs with all signals blocked anyway.
class AlreadyBlocked {
 public:
  AlreadyBlocked();
  ~AlreadyBlocked();
  AlreadyBlocked(const AlreadyBlocked&) = delete;
  AlreadyBlocked& operator=(const AlreadyBlocked&) = delete;

 private:
  bool before_;
};

[[nodiscard]] bool are_already_blocked();

}  // namespace sluice::held_signals
