// Turns the events of one rank into slices of its lanes and ends of messages. The ranks' events come in order of time, merged.
//
// Memory: what is known of operations, at most `operations` of them; of more, those that began first are forgotten. A slice that
// names an operation which is not known is shown all the same, without what would have been told about it.
//
// Threading: one thread for each object.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>

#include "tools/timeline/pieces.hpp"
#include "tools/trace/message_pairs.hpp"

namespace sluice::timeline {

/// Where slices and messages go.
class Sink {
 public:
  Sink() = default;
  virtual ~Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  virtual void add(const Slice& slice) = 0;
  virtual void sent(const MessageName& name, const Arrow& end) = 0;
  virtual void received(const MessageName& name, const Arrow& end) = 0;
};

class RankLanes {
 public:
  /// `file` is the `number`-th of the trace. `lanes` and `sink` must outlive this. `start_ns`: time 0.
  RankLanes(const TraceFile& file, std::size_t number, const Lanes& lanes, std::int64_t start_ns, std::size_t operations,
            Sink& sink);

  void add(const Event& event);
  /// When there are no more: what was not over. `end_ns`: of the whole trace, since its start.
  void finish(std::int64_t end_ns);

 private:
  /// Told when the operation is forgotten: who waited on its pages writes his record after it was over.
  struct Release {
    enum class State : std::uint8_t { none, under_way, over };
    State state = State::none;
    Slice slice;
  };
  struct Waiting {
    std::int64_t since_ns = -1;  // -1: it does not wait
    std::uint32_t lane = 0;
    std::uint32_t site = 0;
  };
  struct Operation {
    About about;
    bool posted = false;
    bool complete = false;
    std::uint32_t lane = 0;
    std::uint32_t site = 0;
    std::uint16_t how = 0;         // matched
    std::int64_t out_ns = -1;      // of a send: its first message
    std::int64_t matched_ns = -1;  // of a receive, until it is complete
    MessageName message;
    Release release;
    Waiting waiting;
    bool is_entered = false;  // of a collective call that is not over
    Slice collective;
  };
  static constexpr int max_passed_over = 16;
  static constexpr std::size_t max_rows = 4;  // of releases and nonblocking calls at the same time

  void post(const Event& event, Operation& operation);
  void post_at_once(const Event& event);
  void message_out(const Event& event, Operation& operation);
  void match(const Event& event, Operation& operation);
  void complete(const Event& event, Operation& operation);
  void begin_part(const Event& event, Operation& operation);
  void begin_collective(const Event& event, Operation& operation);
  void end_collective(Operation& operation, std::int64_t end_ns);
  void wait_on_pages(const Event& event, Operation& operation, SliceKind kind);
  void begin_release(const Event& event, Operation& operation);
  void end_release(const Event& event, Operation& operation);
  void tell_release(Operation& operation);
  void send_left(const Operation& operation);
  void received(Operation& operation, std::int64_t complete_ns);
  void end(Operation& operation, std::int64_t end_ns);

  /// The one that a record names, also if nothing was told of it before.
  Operation& operation(std::uint32_t number);
  void forget_one();
  /// A row of the lane in which nothing is shown.
  std::uint8_t take_row(std::uint32_t lane, std::uint32_t operation);
  void give_back_row(const Slice& shown);
  [[nodiscard]] Slice slice(const Event& event, SliceKind kind) const;
  [[nodiscard]] std::uint32_t lane(const Event& event) const { return lanes_->number(number_, event.thread); }
  [[nodiscard]] MessageName name(const Event& event) const {
    return name_of_message(event.record, file_->header().job, event.rank);
  }

  const TraceFile* file_;
  std::size_t number_;
  const Lanes* lanes_;
  std::int64_t start_ns_;
  std::size_t max_operations_;
  Sink* sink_;
  std::unordered_map<std::uint32_t, Operation> operations_;
  std::deque<std::uint32_t> first_met_;  // operations, in this order
  std::unordered_map<std::uint32_t, std::array<std::uint32_t, max_rows>>
      rows_;  // by lane: the operation of which something is shown there
};

}  // namespace sluice::timeline
