// How much of a message an announcement to one peer brings over a byte stream.
//
// A message that comes whole costs its receiver no time to ask for the rest, and its sender none to hear of it; that pays where
// answers take long: the request waits behind what the receiver's process has sent before (160 KB take 1.3 ms at 1 Gbit/s), or
// the receiver is late. Where answers come at once, the first bytes are on their way for as long as it takes to ask, and a
// receiver that copies them while the rest is being sent is faster. So the peer's last answers decide.
//
// Unlike eager messages these are answered, which bounds what a peer that does not receive must hold.
//
// Belongs to the engine lock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace sluice {

class AnnouncementBudget {
 public:
  /// What an announcement brings of a message that it does not bring whole.
  static constexpr std::size_t head_bytes = 64 * 1024;
  /// Messages are brought whole while no more than this has been brought that is not answered.
  static constexpr std::size_t most_unanswered_bytes = 512 * 1024;
  /// Answers that take longer in the mean are slow.
  static constexpr std::uint64_t slow_ns = 200'000;

  /// Of `message_bytes`, when an announcement can hold `most` bytes of a message.
  [[nodiscard]] std::size_t share_of(std::size_t message_bytes, std::size_t most) const {
    const bool whole =
        message_bytes <= most && answer_ns_ > slow_ns && unanswered_bytes_ + message_bytes <= most_unanswered_bytes;
    return whole ? message_bytes : std::min({message_bytes, head_bytes, most});
  }
  void announced(std::size_t brought_bytes) { unanswered_bytes_ += brought_bytes; }
  void answered(std::size_t brought_bytes, std::uint64_t after_ns) {
    unanswered_bytes_ -= brought_bytes;
    answer_ns_ = (3 * answer_ns_ + std::min(after_ns, longest_counted_ns)) / 4;
  }

 private:
  /// One answer that took very long is forgotten after a few quick ones.
  static constexpr std::uint64_t longest_counted_ns = 5 * slow_ns;

  std::size_t unanswered_bytes_ = 0;
  std::uint64_t answer_ns_ = 0;  // mean in which the last ones count most
};

}  // namespace sluice
