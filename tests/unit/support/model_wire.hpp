// Time in the model of an adapter: events in order of a clock of their own, and wires that are busy for as long as what goes over
// them takes. An adapter serves those that have something to send in turns, a segment of each, as adapters serve their queue
// pairs: nobody waits for the end of somebody else's long message. Two ways to make time pass:
//
//   by itself   a thread runs one event after the other, with `pace` of real time between two of them
//   by hand     `step` runs the next one: nothing happens meanwhile, so every figure is exact and the same in each run
//
// Threading: events run with `mutex` held, and whoever adds one holds it.
#pragma once

#include <chrono>
#include <compare>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace sluice {

class ModelWire {
 public:
  using Nanoseconds = std::uint64_t;

  ModelWire(std::size_t adapters, bool by_hand, std::chrono::microseconds pace);
  ~ModelWire();
  ModelWire(const ModelWire&) = delete;
  ModelWire& operator=(const ModelWire&) = delete;

  [[nodiscard]] Nanoseconds now() const { return now_; }
  void at(Nanoseconds due, std::function<void()> event);
  /// Whose segments leave in the order in which they were given.
  struct Flow {
    std::size_t from = 0;
    std::size_t to = 0;
    bool answers = false;  // to reads
    auto operator<=>(const Flow&) const = default;
  };
  /// The adapter sends a segment for that long when it is its turn; `left` runs when all of it is on the wire.
  void send(std::size_t adapter, Flow flow, Nanoseconds duration, std::function<void()> left);
  /// Runs the next event; false when there is none. Only by hand.
  bool step();
  /// By itself: nothing happens until `go_on`.
  void hold() { held_ = true; }
  void go_on();

  std::mutex mutex;

 private:
  struct Segment {
    Nanoseconds duration;
    std::function<void()> left;
  };
  struct Adapter {
    std::map<Flow, std::deque<Segment>> waiting;  // none is empty
    std::deque<Flow> turns;                       // of those that have something waiting
    bool sends = false;
  };

  void send_next(Adapter& adapter);
  void run_next();
  void run();

  Nanoseconds now_ = 0;
  std::uint64_t count_ = 0;
  std::map<std::pair<Nanoseconds, std::uint64_t>, std::function<void()>> events_;
  std::vector<Adapter> adapters_;
  const std::chrono::microseconds pace_;
  std::condition_variable changed_;
  bool held_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace sluice
