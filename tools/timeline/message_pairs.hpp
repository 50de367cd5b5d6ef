// Finds the two ends of each message in a stream of the events of all ranks. Either may come first: a record is written when what
// it tells of is over, and clocks of different hosts agree up to their error only.
//
// Memory: ends that wait for their other one, at most so many; of more, the oldest are given up. There are many when
// records were overwritten or ranks have no file.
//
// Threading: one thread for each object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>

#include "tools/timeline/pieces.hpp"

namespace sluice::timeline {

/// As docs/trace-format.md numbers messages.
struct MessageName {
  std::uint64_t job = 0;
  std::int32_t from = 0;
  std::int32_t to = 0;
  std::uint32_t number = 0;  // numbers of more bits are told by their lower 32
  bool is_put = false;

  bool operator==(const MessageName&) const = default;
};

class MessagePairs {
 public:
  static constexpr std::size_t usual_most_waiting = std::size_t{1} << 18;
  explicit MessagePairs(std::size_t most_waiting = usual_most_waiting) : most_waiting_(most_waiting) {}

  /// `end`: an arrow of which only this end is filled in. The whole arrow when the other end has come.
  std::optional<Arrow> sent(const MessageName& name, const Arrow& end) { return add(name, end, true); }
  std::optional<Arrow> received(const MessageName& name, const Arrow& end) { return add(name, end, false); }

  /// Messages of which one end was told only, so far.
  [[nodiscard]] std::uint64_t unpaired() const { return given_up_ + waiting_.size(); }

 private:
  struct Hash {
    std::size_t operator()(const MessageName& name) const;
  };
  struct End {
    Arrow arrow;
    bool is_sender = false;
    std::uint64_t serial = 0;
  };
  struct Turn {
    MessageName name;
    std::uint64_t serial = 0;
  };
  std::optional<Arrow> add(const MessageName& name, const Arrow& end, bool is_sender);
  void give_up_the_oldest();

  std::size_t most_waiting_;
  std::unordered_map<MessageName, End, Hash> waiting_;
  std::deque<Turn> turns_;  // the oldest in front; some were paired since
  std::uint64_t serial_ = 0;
  std::uint64_t given_up_ = 0;
};

}  // namespace sluice::timeline
