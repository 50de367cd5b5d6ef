// Which send a receive's message came from, by the numbers of messages (docs/trace-format.md), in a stream of the records of all
// ranks. Either end may come first: a record is written when what it tells of is over, and clocks of different hosts agree up to
// their error only.
//
// Memory: ends that wait for their other one, at most so many; of more, the oldest are given up. There are many when records were
// overwritten or ranks have no file.
//
// Threading: one thread for each object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "runtime/trace/format.hpp"

namespace sluice {

struct MessageName {
  std::uint64_t job = 0;
  std::int32_t from = 0;
  std::int32_t to = 0;
  std::uint64_t number = 0;  // of puts the lower 16 bits are known
  bool is_put = false;       // answers an announcement, and bears its number

  bool operator==(const MessageName&) const = default;
};

/// True of records of messages that collective calls consist of.
[[nodiscard]] bool is_message_of_collective(const trace::Record& record);
/// True of records that tell that a message of the program's left for its receiver, or met its receive there.
[[nodiscard]] bool is_end_of_message(const trace::Record& record);
/// Whether such a record is the sender's.
[[nodiscard]] bool tells_of_send(const trace::Record& record);
/// Of such a record, of `rank` in `job`.
[[nodiscard]] MessageName name_of_message(const trace::Record& record, std::uint64_t job, std::int32_t rank);

/// What MessagePairs needs of names.
class MessageNumbers {
 public:
  /// The name with the whole number of a put: they are announced in 16 bits, and answered nearly in the order of their numbers.
  MessageName whole(const MessageName& name, bool is_sent);

  struct Hash {
    std::size_t operator()(const MessageName& name) const;
  };

 private:
  std::map<std::tuple<std::uint64_t, std::int32_t, std::int32_t, bool>, std::uint64_t> last_put_;  // job, from, to, is_sent
};

/// `End`: what is to be known of an end.
template <class End>
class MessagePairs {
 public:
  struct Pair {
    End sent;
    End received;
  };

  static constexpr std::size_t usual_max_waiting = std::size_t{1} << 18;
  explicit MessagePairs(std::size_t max_waiting = usual_max_waiting) : max_waiting_(max_waiting) {}

  /// Both ends, once the second has come.
  std::optional<Pair> add(const MessageName& numbered, bool is_sent, const End& end) {
    const MessageName name = numbers_.whole(numbered, is_sent);
    const auto [place, is_first] = waiting_.try_emplace(name);
    Waiting& other = place->second;
    if (is_first || other.is_sent == is_sent) {
      // The same end twice: numbers of another run in the same directory.
      if (!is_first) ++given_up_;
      other = {end, is_sent, ++serial_};
      turns_.push_back({name, serial_});
      give_up_the_oldest();
      return std::nullopt;
    }
    const Pair pair = is_sent ? Pair{end, other.end} : Pair{other.end, end};
    waiting_.erase(place);
    return pair;
  }

  /// Messages of which one end was told only, so far.
  [[nodiscard]] std::uint64_t unpaired() const { return given_up_ + waiting_.size(); }

 private:
  struct Waiting {
    End end;
    bool is_sent = false;
    std::uint64_t serial = 0;
  };
  struct Turn {
    MessageName name;
    std::uint64_t serial = 0;
  };

  void give_up_the_oldest() {
    const auto is_over = [this](const Turn& turn) {
      const auto place = waiting_.find(turn.name);
      return place == waiting_.end() || place->second.serial != turn.serial;
    };
    for (; waiting_.size() > max_waiting_; turns_.pop_front()) {
      if (is_over(turns_.front())) continue;
      waiting_.erase(turns_.front().name);
      ++given_up_;
    }
    if (turns_.size() > 2 * max_waiting_) std::erase_if(turns_, is_over);
  }

  std::size_t max_waiting_;
  MessageNumbers numbers_;
  std::unordered_map<MessageName, Waiting, MessageNumbers::Hash> waiting_;
  std::deque<Turn> turns_;  // the oldest in front; some were paired since
  std::uint64_t serial_ = 0;
  std::uint64_t given_up_ = 0;
};

}  // namespace sluice
