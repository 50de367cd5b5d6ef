// Looks now and then whether memory that became alias blocks has been freed: nothing tells of that, and a program that computes
// without MPI calls would hold it twice when it allocates anew.
//
// A thread of its own, asleep for ever while there are no blocks. How often it looks follows from what a look can save and costs:
//
//   bytes that may be held in vain   the more, the sooner; of few there is no hurry
//   time that the last look took     a small share of all time at most
//   the process computes             if it does not, it frees nothing: ever more rarely
//
// Freed memory is held in vain only once there is new memory in its place. So between two looks that are far apart it glances at
// the size of the process, which costs next to nothing, and looks as soon as that has grown.
//
// `state`, a futex:   resting ──rouse──> awake ──before each look──> resting;   any ──end of the object──> ended
// A thread that has looked and found something makes it awake itself, and sleeps for its interval. What a look finds is guarded
// by the lock that it takes, and so is whatever is done before `rouse`: the word orders nothing but the sleep.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>

namespace sluice {

class SweepPace {
 public:
  /// Until the next look: after one that took `took_ns` of its processor and found `bytes` in blocks, with `computed_ns` of the
  /// process's processor time since the look before.
  std::uint64_t next_ns(std::size_t bytes, std::uint64_t took_ns, std::uint64_t computed_ns);
  /// Between two glances at the size of the process, until then. Of few bytes there are none.
  [[nodiscard]] std::uint64_t glance_ns() const { return glance_ns_; }

 private:
  std::uint64_t last_ns_ = 0;
  std::uint64_t glance_ns_ = 0;
  std::uint64_t idle_factor_ = 1;
};

class Sweeper {
 public:
  /// `look`, from the sweeper's thread: how many bytes there are to look for; 0: none until it is roused.
  explicit Sweeper(std::function<std::size_t()> look);
  ~Sweeper();
  Sweeper(const Sweeper&) = delete;
  Sweeper& operator=(const Sweeper&) = delete;

  /// There may be blocks from now on. [any thread]
  void rouse();
  /// In a child of fork, which has no such thread.
  void abandon();

 private:
  void run();
  void sleep(std::uint32_t while_it_is, std::uint64_t nanoseconds);
  void sleep_until_grown(std::uint64_t max_ns, std::uint64_t glance_ns);
  bool change(std::uint32_t from, std::uint32_t to);

  static constexpr std::uint32_t resting = 0;
  static constexpr std::uint32_t awake = 1;
  static constexpr std::uint32_t ended = 2;

  std::function<std::size_t()> look_;
  std::atomic<std::uint32_t> state_{awake};
  std::thread thread_;
};

}  // namespace sluice
