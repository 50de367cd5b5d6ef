// The measurements behind a calibration: a series of trials for each kind of copy, over the same memory, between two processors.
// Series, not trials in turn: what a copy costs depends on the state in which the one before left its lines. A line that one side
// wrote and the other one read is in both caches, and the next plain store to it is slow (Zen 4: 9 GB/s); after a streaming store
// only the reader has it, and a plain store is as fast as it never is in a program (27 GB/s).
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>
#include <vector>

#include "runtime/calibration.hpp"
#include "runtime/clock.hpp"
#include "runtime/copy_engine.hpp"
#include "runtime/copy_pair.hpp"
#include "runtime/page_guard_signal.hpp"
#include "runtime/peer_distance.hpp"
#include "runtime/posix.hpp"
#include "runtime/processors.hpp"

namespace sluice {
namespace {

using Job = CopyPair::Job;

constexpr std::uint64_t limit_ns = 40'000'000;
/// 32 KB is what one side copies of a message of 64 KB.
constexpr std::array<std::size_t, 5> lengths{std::size_t{4} << 10, std::size_t{16} << 10, std::size_t{32} << 10,
                                             std::size_t{64} << 10, std::size_t{256} << 10};
constexpr std::size_t longest = lengths.back();
/// Where a receiver that reads alone may be as fast as both sides.
constexpr std::array<std::size_t, 5> own_lengths{std::size_t{64} << 10, std::size_t{128} << 10, std::size_t{256} << 10,
                                                 std::size_t{512} << 10, std::size_t{1} << 20};
constexpr std::size_t pool_bytes = own_lengths.back();
/// Large enough that what a copy costs is not what its jobs cost.
constexpr std::size_t shared_length = std::size_t{64} << 10;
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
/// What must be taken out of the peer's cache costs the same for each line, and so does what must be written back.
constexpr std::size_t least_streaming_shared_bytes = std::size_t{4} << 10;
constexpr std::size_t least_handing_back_bytes = std::size_t{4} << 10;
/// Gathered from seven on two processors, µs for all where the receiver reads, where the senders copy, and where both do: 192 KB
/// 64, 60, 68; 256 KB 79 to 92, 73 to 85, 84; 384 KB 110, 100, 114; 512 KB 209, 138, 181; 1 MB 550, 291, 455; 4 MB 2290, 1901,
/// 2236. From three, and from five, one is like the other.
/// Where a copy by a sender was the slower one, 1 MB from seven had 372, 557, 404.
constexpr std::size_t least_gathered_bytes = std::size_t{256} << 10;

/// Round trips that a second side costs: it must see that there is a copy to share, take chunks of it, and both say when they
/// have done. (With three, 60 to 140 KB were found where the processors are far from each other and 256 KB would be right.)
constexpr double coop_round_trips = 5;
/// ... beyond those in which a trial's partner is told and has done, which the receiver that reads alone has as well.
constexpr double more_coop_round_trips = 2;

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
  explicit Trials(int processor)
      : shared_(pool(MAP_SHARED)),
        own_(pool(MAP_PRIVATE)),
        alone_ns_(compute_alone_ns()),
        pair_(processor, now_ns() + limit_ns) {}

  double round_trip() {
    Times times;
    for (int i = 0; i < round_trips; ++i) times.push_back(timed([&] { answer({}); }));
    return typical(times);
  }

  bool share_a_core() {
    const std::optional<bool> found = sluice::share_a_core(pair_, alone_ns_);
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
  std::uint64_t alone_ns_;
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

/// The shortest length from which on two halves are done clearly sooner, and two more messages sent, than the receiver has read
/// all. Where the two are alike, one measurement finds this and the next one that, and programs were faster where the receiver
/// reads: gathers of 256 KB and 1 MB, four ranks on two processors, 63 and 85 µs, 171 and 239.
///
/// At the length of a processor's own cache a message has left that in part. Between processors that share another cache the two
/// are too much alike there to be told apart (0.92 to 1.10 of each other in eight measurements), while programs of two ranks were
/// faster with two halves: scatters, gathers and broadcasts of 1 MB 1.16 to 1.26 times.
std::size_t find_coop_own_bytes(Trials& pair, Stores write, Stores read, double round_trip) {
  const bool near = round_trip <= most_near_ns;
  std::size_t found = Calibration::most_coop_own_bytes;
  if (near) found = std::min(found, std::max(processor_caches().own_bytes, own_lengths.front()));
  for (std::size_t i = own_lengths.size(); i-- > 0;) {
    const double both = pair.both_sides_anew(write, read, own_lengths[i]) + more_coop_round_trips * round_trip;
    if (both > clearly * pair.other_side_anew(read, own_lengths[i])) break;
    found = own_lengths[i];
  }
  return found;
}

/// How a message is copied whose sender writes the same lines before each: by its receiver, who hands them back, or by the
/// sender. What is best here says whether the two processors share a cache.
void spare_the_senders_stores(Trials& pair, Calibration& made, Stores write, double round_trip) {
  const bool can_hand_back = copy_variant(Stores::handing_back).stores == Stores::handing_back;
  const Stores read = can_hand_back ? Stores::handing_back : made.copies.pieces;
  const double left_there = pair.other_side_and_writing(made.copies.pieces, shared_length);
  const double handed_back = pair.other_side_and_writing(read, shared_length);
  const double by_sender = pair.one_side_and_writing(write, shared_length) + more_coop_round_trips * round_trip;
  const bool handing_was_better = handed_back < clearly * left_there && handed_back <= by_sender;
  const bool sender_was_better = by_sender < clearly * std::min(handed_back, left_there);
  if (!handing_was_better && !sender_was_better) return;
  if (can_hand_back) made.copies.handing_back_bytes = least_handing_back_bytes;
  if (sender_was_better) made.gathered_bytes = least_gathered_bytes;
  made.far_ns = least_left_to_sender_ns(pair.line(), round_trip, sender_was_better);
}

Calibration calibrate(Trials& pair) {
  Calibration made;
  made.source = Calibration::Source::measured;
  const double round_trip = pair.round_trip();
  made.round_trip_ns = static_cast<std::uint32_t>(round_trip);
  made.one_core = pair.share_a_core() ? 1 : 0;

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

  const double shared_plain = pair.other_side_shared(made.copies.pieces, shared_length);
  const double shared_streaming = pair.other_side_shared(Stores::streaming, shared_length);
  if (shared_streaming < clearly * shared_plain) made.copies.streaming_shared_bytes = least_streaming_shared_bytes;
  spare_the_senders_stores(pair, made, write, round_trip);
  made.coop_own_bytes = find_coop_own_bytes(pair, write, streams_back ? Stores::streaming : made.copies.pieces, round_trip);

  const double won_per_byte = (alone - std::min(both_plain, both_streaming)) / static_cast<double>(longest);
  const double paid = coop_round_trips * round_trip;
  const bool pays = won_per_byte * static_cast<double>(Calibration::most_coop_bytes) > paid;
  made.coop_bytes = pays ? static_cast<std::size_t>(paid / won_per_byte) : Calibration::most_coop_bytes;
  const double bytes_per_ns = static_cast<double>(longest) / std::max(pair.copy_alone(write), 1.0);
  made.chunk_bytes = static_cast<std::size_t>(chunk_ns * bytes_per_ns) / chunk_step * chunk_step;
  if (pair.share_a_core()) made.one_core = 1;  // the processors may have been moved meanwhile
  return clamped(made);
}

/// What `measure` finds, given the second of two processors, in a thread on the first one; nothing where they are too busy or
/// there is no such thread. The caller stays where it is allowed to be.
template <class Measure>
auto between_two_processors(Measure&& measure) -> std::optional<decltype(measure(0))> {
  const ProcessorPair processors = two_processors();
  if (!processors.found) return std::nullopt;
  std::optional<decltype(measure(0))> found;
  const sigset_t before = fault_signal::block_for_own_threads();
  try {
    std::thread([&] {
      stay_on(processors.first);
      try {
        found = measure(processors.second);
      } catch (const TooBusy&) {
      } catch (const std::system_error&) {
      }
    }).join();
  } catch (const std::system_error&) {  // no thread, no measurement
  }
  fault_signal::restore_mask(before);
  return found;
}

}  // namespace

std::optional<Calibration> measure_calibration() {
  return between_two_processors([](int second) {
    Trials pair(second);
    return calibrate(pair);
  });
}

std::optional<bool> processors_share_a_core() {
  return between_two_processors([](int second) {
    const std::uint64_t alone = compute_alone_ns();
    CopyPair pair(second, now_ns() + limit_ns);
    const std::optional<bool> found = share_a_core(pair, alone);
    if (!found) throw TooBusy();
    return *found;
  });
}

}  // namespace sluice
