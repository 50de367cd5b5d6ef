// Time in the model of an adapter: events in order of a clock of their own, and wires that are busy for as long as what goes over
// them takes. Two ways to make time pass:
//
//   by itself   a thread runs one event after the other, with `pace` of real time between two of them
//   by hand     `step` runs the next one: nothing happens meanwhile, so every figure is exact and the same in each run
//
// Threading: events run with `mutex` held, and whoever adds one holds it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
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
  /// The adapter sends for that long, from when it is free; when it begins.
  Nanoseconds occupy(std::size_t adapter, Nanoseconds duration);
  /// Runs the next event; false when there is none. Only by hand.
  bool step();
  /// By itself: nothing happens until `go_on`.
  void hold() { held_ = true; }
  void go_on();

  std::mutex mutex;

 private:
  void run_next();
  void run();

  Nanoseconds now_ = 0;
  std::uint64_t count_ = 0;
  std::map<std::pair<Nanoseconds, std::uint64_t>, std::function<void()>> events_;
  std::vector<Nanoseconds> free_at_;
  const std::chrono::microseconds pace_;
  std::condition_variable changed_;
  bool held_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace sluice
