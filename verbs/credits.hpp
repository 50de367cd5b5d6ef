// Who may send how much: a message uses up one receive buffer of the peer, and a process sends no more than the peer has posted
// for it. So a queue pair never meets a peer without a buffer (RNR).
//
// Each side posts `buffers(window)` receive buffers for the other, of which `window` are for messages. What the receiver has
// consumed and posted again, it grants anew, in front of every message that it sends. When nothing flows back, it sends a credit
// message as soon as it owes half a window.
//
// Slots of a ring (verbs/eager_ring.hpp) are counted in the same way, and granted beside the buffers.
//
// Credit messages need no credit, or they might wait for each other; the buffers beyond the window are theirs. Two are enough
// for what is counted: a grant that its receiver has not looked at yet is not used yet, so what is granted by credit messages
// that lie there unread is never more than the window, and each grants at least half of it. Two things are counted, hence four.
//
// Threading: engine lock.
#pragma once

#include <cstdint>
#include <utility>

namespace sluice {

class Credits {
 public:
  static constexpr std::uint32_t credit_messages = 4;
  /// Receive buffers that a side posts for a window, which is at least 2 and even.
  [[nodiscard]] static constexpr std::uint32_t buffers(std::uint32_t window) { return window + credit_messages; }

  Credits() = default;
  /// `theirs`: what the peer has buffers for. `own`: what this side has.
  Credits(std::uint32_t theirs, std::uint32_t own) : window_(theirs), available_(theirs), own_window_(own) {}

  [[nodiscard]] bool may_send() const { return available_ != 0; }
  void note_sent() { --available_; }
  /// The peer grants more. False when it grants more than it took: it does not keep count.
  [[nodiscard]] bool accept(std::uint32_t granted) {
    if (granted > window_ - available_) return false;
    available_ += granted;
    return true;
  }

  /// The buffer of a message of the peer's is posted again.
  void note_consumed() { ++owed_; }
  /// Nothing flows back, and the peer may soon have to wait.
  [[nodiscard]] bool must_tell() const { return owed_ != 0 && owed_ >= own_window_ / 2; }
  /// What the next message to the peer grants.
  [[nodiscard]] std::uint16_t grant() { return static_cast<std::uint16_t>(std::exchange(owed_, 0)); }

 private:
  std::uint32_t window_ = 0;
  std::uint32_t available_ = 0;
  std::uint32_t own_window_ = 0;
  std::uint32_t owed_ = 0;
};

}  // namespace sluice
