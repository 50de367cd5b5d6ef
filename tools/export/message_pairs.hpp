// Which send a receive's message came from, by the numbers of messages (docs/trace-format.md): the two ends may come in either
// order, as clocks of different hosts are right only within an error.
//
// Memory: messages of which only one end has come; of more than `most_pending` at a time the oldest are forgotten, and are not
// paired.
//
// Threading: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "runtime/trace_format.hpp"

namespace sluice {

/// One end of a message in an export: a moment of a thread.
struct MessageEnd {
  std::int64_t at_ns = 0;
  std::uint32_t process = 0;
  std::uint32_t thread = 0;
};

struct MessagePair {
  MessageEnd sent;
  MessageEnd matched;
};

/// True of records that tell that a message left for its receiver, or met its receive there.
[[nodiscard]] bool is_end_of_message(const trace::Record& record);

class MessagePairs {
 public:
  static constexpr std::size_t most_pending = std::size_t{1} << 20;

  /// `record`: one with is_end_of_message, of `rank` in `job`. Both ends, once the second has come.
  std::optional<MessagePair> add(const trace::Record& record, std::uint64_t job, std::int32_t rank, const MessageEnd& end);

 private:
  struct Key {
    std::uint64_t job;
    std::int32_t from;
    std::int32_t to;
    std::uint64_t number;
    bool is_put;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const { return XXH3_64bits_withSeed(&key.job, 24, key.is_put ? 1 : 0); }
  };
  struct Pending {
    bool is_send;
    MessageEnd end;
  };
  using Generation = std::unordered_map<Key, Pending, Hash>;

  std::uint64_t unwrapped(const Key& key, bool is_send);

  Generation young_;
  Generation old_;  // forgotten when `young_` is full
  std::map<std::tuple<std::uint64_t, std::int32_t, std::int32_t, bool>, std::uint64_t> last_put_;  // job, from, to, sent
};

}  // namespace sluice
