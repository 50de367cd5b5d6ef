// The measurements behind a calibration: a series of trials for each kind of copy, over the same memory, between two processors.
// Series, not trials in turn: what a copy costs depends on the state in which the one before left its lines. A line that one side
// wrote and the other one read is in both caches, and the next plain store to it is slow (Zen 4: 9 GB/s); after a streaming store
// only the reader has it, and a plain store is as fast as it never is in a program (27 GB/s).
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "runtime/base/clock.hpp"
#include "runtime/base/posix.hpp"
#include "runtime/base/types.hpp"
#include "runtime/copy/copy_engine.hpp"
#include "runtime/machine/copy_pair.hpp"
#include "runtime/machine/peer_distance.hpp"

namespace sluice::calibration_trials {

using Job = CopyPair::Job;

/// All takes 60 ms where nobody disturbs it (Emerald Rapids), and longer where a line takes longer.
inline constexpr std::uint64_t limit_ns = 160'000'000;
/// Of a trial whose length is not given, and of the memory of all.
inline constexpr std::size_t longest = std::size_t{256} << 10;
inline constexpr std::size_t pool_bytes = std::size_t{1} << 20;
/// Large enough that what a copy costs is not what its jobs cost.
inline constexpr std::size_t shared_length = std::size_t{64} << 10;
inline constexpr std::size_t ring_bytes = std::size_t{128} << 10;
inline constexpr int first_trials = 2;  // of a series, which do not count
inline constexpr int trials = 9;
inline constexpr int round_trips = 100;

using Times = std::vector<double>;

/// The lower quartile: what disturbs a trial only ever makes it longer.
inline double typical(Times& times) {
  const auto quarter = times.begin() + static_cast<Times::difference_type>(times.size() / 4);
  std::nth_element(times.begin(), quarter, times.end());
  return *quarter;
}

/// Thrown where the other side has not answered in time.
struct TooBusy {};

/// The trials, in ns; this thread is one side, and a thread on `processor` the other one. Any may throw TooBusy. For one thread.
class Trials {
 public:
  explicit Trials(int processor) : shared_(pool(MAP_SHARED)), own_(pool(MAP_PRIVATE)), pair_(processor, now_ns() + limit_ns) {}

  double round_trip() {
    Times times;
    for (int i = 0; i < round_trips; ++i) times.push_back(timed([&] { answer({}); }));
    return typical(times);
  }

  bool share_a_core() {
    const std::optional<bool> found = sluice::share_a_core(pair_);
    if (!found) throw TooBusy();
    return *found;
  }

  /// ns that a copy to the other side takes, and that side to read it.
  double one_side(Stores stores, std::size_t bytes) {
    return typical_of_series([&] {
      copy_variant(stores).copy(shared_.start(), own_.start(), bytes);
      answer({.what = Job::What::read, .memory = shared_.start(), .bytes = bytes});
    });
  }

  /// The same for a copy of which either side makes one half: this side writes its own, the other one reads.
  double both_sides(Stores write, Stores read) {
    return typical_of_series([&] { halves(write, read, longest); });
  }

  /// The same of what this side has just written, as a program does: by both sides, and by the other one alone.
  double both_sides_anew(Stores write, Stores read, std::size_t bytes) {
    return typical_of_series([&] { halves(write, read, bytes); }, [&] { write_lines(own_.start(), bytes); });
  }
  double other_side_anew(Stores read, std::size_t bytes) {
    return typical_of_series([&] { other_side(read, bytes); }, [&] { write_lines(own_.start(), bytes); });
  }

  /// The same into memory that this side has read since, so that its lines are in both caches.
  double other_side_shared(Stores read, std::size_t bytes) {
    return typical_of_series([&] { other_side(read, bytes); }, [&] { read_lines(shared_.start(), bytes); });
  }

  /// The same, and that this side writes it, as the other one has read it since.
  double other_side_and_writing(Stores read, std::size_t bytes) {
    return typical_of_series([&] {
      write_lines(own_.start(), bytes);
      other_side(read, bytes);
    });
  }

  /// The same where this side copies.
  double one_side_and_writing(Stores stores, std::size_t bytes) {
    return typical_of_series([&] {
      write_lines(own_.start(), bytes);
      copy_variant(stores).copy(shared_.start(), own_.start(), bytes);
      answer({.what = Job::What::read, .memory = shared_.start(), .bytes = bytes});
    });
  }

  /// ns until the other side has what this side sends again as it was: out of a ring (shmem/ring.hpp) into which this side copies
  /// it, and from where it is.
  double through_ring(std::size_t bytes) {
    std::byte* const ring = shared_.start() + pool_bytes - ring_bytes;
    std::size_t place = 0;
    return typical_of_series([&] {
      std::memcpy(ring + place, own_.start(), bytes);
      Job job = copying(Stores::library, 0, bytes);
      job.source = ring + place;
      answer(job);
      place = (place + bytes) % ring_bytes;
    });
  }
  double in_place(Stores read, std::size_t bytes) {
    return typical_of_series([&] { answer(copying(read, 0, bytes)); });
  }

  /// ns to read a line that the other side has just written.
  double line() {
    return typical_time([&] {
      answer({.what = Job::What::write, .memory = own_.start(), .bytes = shared_length});
      const std::byte* const end = own_.start() + shared_length;
      return static_cast<double>(ns_of_lines(lines_before_end, [&](std::size_t line) {
        std::uint64_t word = 0;
        std::memcpy(&word, end - line * cache_line, sizeof word);
        return word;
      }));
    });
  }

  /// What of one_side(stores, longest) is the copy.
  double copy_alone(Stores stores) {
    Times times;
    (void)typical_of_series([&] {
      times.push_back(timed([&] { copy_variant(stores).copy(shared_.start(), own_.start(), longest); }));
      answer({.what = Job::What::read, .memory = shared_.start(), .bytes = longest});
    });
    return typical(times);
  }

 private:
  static Mapping pool(int sort) {
    void* memory = ::mmap(nullptr, pool_bytes, PROT_READ | PROT_WRITE, sort | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) throw_errno("mmap");
    return {memory, pool_bytes};
  }

  template <class Work>
  static double timed(Work&& work) {
    const std::uint64_t start = now_ns();
    work();
    return static_cast<double>(now_ns() - start);
  }

  [[nodiscard]] Job copying(Stores read, std::size_t begin, std::size_t bytes) const {
    return {.what = Job::What::copy,
            .memory = shared_.start() + begin,
            .source = own_.start() + begin,
            .bytes = bytes,
            .copy = copy_variant(read).copy};
  }

  void halves(Stores write, Stores read, std::size_t bytes) {
    pair_.begin(copying(read, bytes / 2, bytes / 2));
    copy_variant(write).copy(shared_.start(), own_.start(), bytes / 2);
    if (!pair_.await()) throw TooBusy();
    answer({.what = Job::What::read, .memory = shared_.start(), .bytes = bytes});
  }

  void other_side(Stores read, std::size_t bytes) {
    answer(copying(read, 0, bytes));
    answer({.what = Job::What::read, .memory = shared_.start(), .bytes = bytes});
  }

  void answer(const Job& job) {
    if (!pair_.run(job)) throw TooBusy();
  }

  /// `before` each trial, and not part of it.
  template <class Trial, class Before>
  static double typical_of_series(Trial&& trial, Before&& before) {
    Times times;
    for (int i = 0; i < first_trials + trials; ++i) {
      before();
      const double time = timed(trial);
      if (i >= first_trials) times.push_back(time);
    }
    return typical(times);
  }
  /// Of trials that say themselves what they took.
  template <class Trial>
  static double typical_time(Trial&& trial) {
    Times times;
    for (int i = 0; i < trials; ++i) times.push_back(trial());
    return typical(times);
  }
  template <class Trial>
  static double typical_of_series(Trial&& trial) {
    return typical_of_series(trial, [] {});
  }

  Mapping shared_;
  Mapping own_;
  CopyPair pair_;  // last: its thread may still use the memory when the time is over
};

}  // namespace sluice::calibration_trials
