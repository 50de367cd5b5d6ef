// The measurements behind a calibration: a series of trials for each kind of copy, over the same memory, between two processors.
// Series, not trials in turn: what a copy costs depends on the state in which the one before left its lines. A line that one side
// wrote and the other one read is in both caches, and the next plain store to it is slow (Zen 4: 9 GB/s); after a streaming store
// only the reader has it, and a plain store is as fast as it never is in a program (27 GB/s).
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <thread>
#include <vector>

#include "runtime/calibration.hpp"
#include "runtime/clock.hpp"
#include "runtime/copy_engine.hpp"
#include "runtime/copy_pair.hpp"
#include "runtime/page_guard_signal.hpp"
#include "runtime/posix.hpp"
#include "runtime/processors.hpp"

namespace sluice {
namespace {

using Job = CopyPair::Job;

constexpr std::uint64_t limit_ns = 20'000'000;
constexpr std::array<std::size_t, 4> lengths{std::size_t{4} << 10, std::size_t{16} << 10, std::size_t{64} << 10,
                                             std::size_t{256} << 10};
constexpr std::size_t longest = lengths.back();
constexpr std::array all_stores{Stores::library, Stores::string, Stores::vector, Stores::streaming};
constexpr int first_trials = 2;  // of a series, which do not count
constexpr int trials = 9;
constexpr int round_trips = 100;
/// Another way than the ordinary one must take less than this share of its time.
constexpr double clearly = 0.9;
/// What one side copies before it looks at control messages.
constexpr double chunk_ns = 10'000;
constexpr std::size_t chunk_step = std::size_t{32} << 10;
/// What the receiver reads is soon used by its processor: shorter pieces than this are to stay in its cache.
constexpr std::size_t least_streaming_read_bytes = std::size_t{64} << 10;
/// Round trips that a second side costs: it must see that there is a copy to share, and both say when they have done.
constexpr double coop_round_trips = 3;

using Times = std::vector<double>;

/// The lower quartile: what disturbs a trial only ever makes it longer.
double typical(Times& times) {
  const auto quarter = times.begin() + static_cast<Times::difference_type>(times.size() / 4);
  std::nth_element(times.begin(), quarter, times.end());
  return *quarter;
}

/// Thrown where the other side has not answered in time.
struct TooBusy {};

class Trials {
 public:
  explicit Trials(int processor) : shared_(pool(MAP_SHARED)), own_(pool(MAP_PRIVATE)), pair_(processor, now_ns() + limit_ns) {}

  double round_trip() {
    Times times;
    for (int i = 0; i < round_trips; ++i) times.push_back(timed([&] { answer({}); }));
    return typical(times);
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
    const std::size_t half = longest / 2;
    const Job other{.what = Job::What::copy,
                    .memory = shared_.start() + half,
                    .source = own_.start() + half,
                    .bytes = half,
                    .copy = copy_variant(read).copy};
    return typical_of_series([&] {
      pair_.begin(other);
      copy_variant(write).copy(shared_.start(), own_.start(), half);
      if (!pair_.await()) throw TooBusy();
      answer({.what = Job::What::read, .memory = shared_.start(), .bytes = longest});
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
    void* memory = ::mmap(nullptr, longest, PROT_READ | PROT_WRITE, sort | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) throw_errno("mmap");
    return {memory, longest};
  }

  template <class Work>
  static double timed(Work&& work) {
    const std::uint64_t start = now_ns();
    work();
    return static_cast<double>(now_ns() - start);
  }

  void answer(const Job& job) {
    if (!pair_.run(job)) throw TooBusy();
  }

  template <class Trial>
  static double typical_of_series(Trial&& trial) {
    Times times;
    for (int i = 0; i < first_trials; ++i) trial();
    for (int i = 0; i < trials; ++i) times.push_back(timed(trial));
    return typical(times);
  }

  Mapping shared_;
  Mapping own_;
  CopyPair pair_;  // last: its thread may still use the memory when the time is over
};

using Costs = std::array<double, kinds_of_stores>;

double& cost(Costs& costs, Stores stores) { return costs[static_cast<std::size_t>(stores)]; }

/// The best of those that go through the caches; the string instruction where they are alike.
Stores best_plain(Costs& costs) {
  Stores best = copy_variant(Stores::string).stores;
  for (const Stores other : {Stores::library, Stores::vector}) {
    if (cost(costs, other) < clearly * cost(costs, best)) best = other;
  }
  return best;
}

Calibration calibrate(Trials& pair) {
  Calibration made;
  made.source = Calibration::Source::measured;
  const double round_trip = pair.round_trip();
  made.round_trip_ns = static_cast<std::uint32_t>(round_trip);

  Costs costs{};
  made.copies.streaming_bytes = shared_copy::never;
  for (std::size_t i = lengths.size(); i-- > 0;) {
    Costs now{};
    for (const Stores stores : all_stores) cost(now, stores) = pair.one_side(stores, lengths[i]);
    if (lengths[i] == longest) costs = now;
    if (cost(now, Stores::streaming) >= clearly * cost(now, best_plain(now))) break;
    made.copies.streaming_bytes = lengths[i];
  }
  made.copies.pieces = best_plain(costs);

  const Stores write = made.copies.streaming_bytes <= longest ? Stores::streaming : made.copies.pieces;
  const double alone = cost(costs, write);
  const double both_plain = pair.both_sides(write, made.copies.pieces);
  const double both_streaming = pair.both_sides(write, Stores::streaming);
  const bool streams_back = both_streaming < clearly * both_plain;
  made.copies.streaming_read_bytes = streams_back ? least_streaming_read_bytes : shared_copy::never;

  const double won_per_byte = (alone - std::min(both_plain, both_streaming)) / static_cast<double>(longest);
  const double paid = coop_round_trips * round_trip;
  const bool pays = won_per_byte * static_cast<double>(Calibration::most_coop_bytes) > paid;
  made.coop_bytes = pays ? static_cast<std::size_t>(paid / won_per_byte) : Calibration::most_coop_bytes;
  const double bytes_per_ns = static_cast<double>(longest) / std::max(pair.copy_alone(write), 1.0);
  made.chunk_bytes = static_cast<std::size_t>(chunk_ns * bytes_per_ns) / chunk_step * chunk_step;
  return clamped(made);
}

}  // namespace

std::optional<Calibration> measure_calibration() {
  const ProcessorPair processors = two_processors();
  if (!processors.found) return std::nullopt;
  std::optional<Calibration> made;
  const sigset_t before = fault_signal::block_for_own_threads();
  try {
    // The caller stays where it is allowed to be: both sides are threads of their own.
    std::thread([&] {
      stay_on(processors.first);
      try {
        Trials pair(processors.second);
        made = calibrate(pair);
      } catch (const TooBusy&) {
      } catch (const std::system_error&) {
      }
    }).join();
  } catch (const std::system_error&) {  // no thread, no measurement
  }
  fault_signal::restore_mask(before);
  return made;
}

}  // namespace sluice
