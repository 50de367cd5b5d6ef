// How much memory adapters have pinned for Sluice itself. The kernel counts what is pinned for a process (VmPin) and does not
// tell for whom; what is left without this is others': an adapter that the host uses, buffers of io_uring, a GPU's driver that
// accounts.
//
// Registrations of messages are counted as the kernel counts them, in whole pages. Of queues, whose memory the adapter's library
// allocates and pins by itself, the growth of VmPin is taken.
//
// Threading: with the engine lock held, or before there is an engine.
#pragma once

#include <cstdint>

#include "runtime/base/types.hpp"

namespace sluice::own_pins {

void add(ByteRange registered);
void remove(ByteRange registered);

/// What is pinned while it lives is Sluice's.
class Making {
 public:
  Making();
  ~Making();
  Making(const Making&) = delete;
  Making& operator=(const Making&) = delete;

 private:
  std::uint64_t before_kb_;
};

/// Whether others have pinned memory since the baseline was taken.
class Others {
 public:
  /// `pinned_kb`: VmPin.
  explicit Others(std::uint64_t pinned_kb);
  bool have_pinned(std::uint64_t pinned_kb);

 private:
  std::int64_t baseline_kb_;
};

}  // namespace sluice::own_pins
