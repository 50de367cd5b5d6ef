// What a calibration's values are, from trials between two processors (calibration_trials.hpp): which way of copying is best from
// which length on, and by how much it must be.
#include <algorithm>
#include <array>
#include <thread>

#include "runtime/base/clock.hpp"
#include "runtime/copy/copy_engine.hpp"
#include "runtime/guard/signal.hpp"
#include "runtime/machine/calibration.hpp"
#include "runtime/machine/calibration_trials.hpp"
#include "runtime/machine/copy_pair.hpp"
#include "runtime/machine/peer_distance.hpp"
#include "runtime/process/processors.hpp"

namespace sluice {
namespace {

using calibration_trials::limit_ns;
using calibration_trials::longest;
using calibration_trials::pool_bytes;
using calibration_trials::shared_length;
using calibration_trials::TooBusy;
using calibration_trials::Trials;

/// 32 KB is what one side copies of a message of 64 KB.
constexpr std::array<std::size_t, 5> lengths{std::size_t{4} << 10, std::size_t{16} << 10, std::size_t{32} << 10,
                                             std::size_t{64} << 10, std::size_t{256} << 10};
static_assert(lengths.back() == longest);
/// Where a receiver that reads alone may be as fast as both sides.
constexpr std::array<std::size_t, 5> own_lengths{std::size_t{64} << 10, std::size_t{128} << 10, std::size_t{256} << 10,
                                                 std::size_t{512} << 10, std::size_t{1} << 20};
static_assert(own_lengths.back() <= pool_bytes);
constexpr std::array all_stores{Stores::library, Stores::string, Stores::vector, Stores::streaming};
/// Another way than the ordinary one must take less than this share of its time.
constexpr double clearly = 0.9;
/// ... and this share where trials are of one message at a time and programs are not: of these, senders that took 0.86 to 0.9 of
/// the time of receivers in a trial (Emerald Rapids; now and then 0.8) were slower. 256 KB each way 41 µs by senders, 35 read; 1
/// MB there and back 262 and 225. Where no cache is shared (Zen 5) it is 0.2.
constexpr double by_much = 0.6;
/// ... and need not take less where the gain is another one: see spare_the_senders_stores. Senders took 0.98 of the receivers'
/// time in the middle of 40 calibrations, and 0.86 to 1.18 in the single ones (Emerald Rapids); in gathers from seven of 256 KB
/// to 4 MB 0.73 to 0.78.
constexpr double hardly_slower = 1.2;
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
/// What two sides win does not always grow with the length. Emerald Rapids, where they take 0.56 to 0.83 of the time of
/// one in trials of 256 KB, for some ms this and then that: messages there and back took 0.98 of the time at 40 KB, 0.91 at 64
/// KB, 0.90 at 80, 0.89 at 96, 0.95 at 128, 0.89 at 192 KB.
constexpr double plainly = 0.85;
constexpr std::size_t least_where_plain_bytes = std::size_t{40} << 10;
/// Who announces a message is answered when it has been read.
constexpr double more_single_copy_round_trips = 1;

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

/// Of some measurements of each, one after the other, as a machine may be slow for some ms. What comes within a few hundredths of
/// a limit is found now on this side of it and now on that.
template <std::size_t times = 5, class... Measures>
std::array<double, sizeof...(Measures)> middles_of(Measures&&... measures) {
  std::array<std::array<double, times>, sizeof...(Measures)> found{};
  for (std::size_t i = 0; i < times; ++i) {
    std::size_t which = 0;
    ((found[which++][i] = measures()), ...);
  }
  std::array<double, sizeof...(Measures)> middles{};
  for (std::size_t which = 0; which < middles.size(); ++which) middles[which] = middle(found[which]);
  return middles;
}

template <std::size_t times = 5, class Measure>
double middle_of(Measure&& measure) {
  return middles_of<times>(measure).front();
}

/// What two halves take, and two more messages, of what the receiver takes to read all.
double halves_of_reading(Trials& pair, Stores write, Stores read, std::size_t bytes, double round_trip) {
  const double both = pair.both_sides_anew(write, read, bytes) + more_coop_round_trips * round_trip;
  return both / pair.other_side_anew(read, bytes);
}

/// From which length on two halves are better than that the receiver reads. It may be so clearly at the longest, 1 MB. Then a
/// shorter one's need only take less time (with a twentieth less it was from 256 KB on or from 512 KB on as often, and once from
/// 1 MB on: scatters of 64 and 256 KB took 1.05 times as long as with two halves then), and do so also where processes share
/// processors, if both sides wait. (Emerald Rapids: 1 MB 0.64 to 0.87 of the time in 24 trials, 256 KB 0.83 to 1.0, 128 KB 1.0
/// to 1.1. Two ranks, µs read and by both: 256 KB gathered 39 and 37, 1 MB broadcast in four pieces 174 and 158; four ranks on
/// two processors: 1 MB gathered 406 and 342, the broadcast 354 and 284.)
///
/// Where the two are alike there (Zen 5), one measurement finds this and the next one that, and programs were faster where the
/// receiver reads: gathers of 256 KB and 1 MB, four ranks on two processors, 63 and 85 µs, 171 and 239. But at the length of a
/// processor's own cache a message has left that in part. Between processors that share another cache the two are too much alike
/// there to be told apart (0.92 to 1.10 of each other in eight measurements), while programs of two ranks were faster with two
/// halves: scatters, gathers and broadcasts of 1 MB 1.16 to 1.26 times.
void find_where_halves_pay(Trials& pair, Calibration& made, Stores write, Stores read, double round_trip) {
  made.coop_own_bytes = Calibration::most_coop_own_bytes;
  constexpr std::size_t times_of_longest = 9;  // five found 2 times in 14 that it is not
  const auto measure = [&](std::size_t bytes) { return halves_of_reading(pair, write, read, bytes, round_trip); };
  const auto of_reading = [&](std::size_t bytes) { return middle_of([&] { return measure(bytes); }); };
  if (middle_of<times_of_longest>([&] { return measure(own_lengths.back()); }) < clearly) {
    made.coop_own_bytes = own_lengths.back();
    made.coop_turns_bytes = Calibration::least_coop_turns_bytes;
    for (std::size_t i = own_lengths.size() - 1; i-- > 0;) {
      if (of_reading(own_lengths[i]) > 1) break;
      made.coop_own_bytes = own_lengths[i];
    }
  }
  const std::size_t own_cache = std::max(processor_caches().own_bytes, own_lengths.front());
  if (round_trip <= most_near_ns) made.coop_own_bytes = std::min(made.coop_own_bytes, own_cache);
}

/// How a message is copied whose sender writes the same lines before each: by its receiver, who hands them back or does not, or
/// by the sender. What is best here says whether the two processors share a cache. Many processes on each processor write with
/// all of these what they have just written, so of them it is enough that the sender is not slower: 1 MB gathered from seven,
/// Emerald Rapids, 811 µs by senders and 992 read.
void spare_the_senders_stores(Trials& pair, Calibration& made, Stores write, double round_trip) {
  const bool can_hand_back = copy_variant(Stores::handing_back).stores == Stores::handing_back;
  const Stores read = can_hand_back ? Stores::handing_back : made.copies.pieces;
  const auto [left_there, handed_back, copied] =
      middles_of([&] { return pair.other_side_and_writing(made.copies.pieces, shared_length); },
                 [&] { return pair.other_side_and_writing(read, shared_length); },
                 [&] { return pair.one_side_and_writing(write, shared_length); });
  const double by_sender = copied + more_coop_round_trips * round_trip;
  const bool handing_was_better = handed_back < clearly * left_there && handed_back <= by_sender;
  const double by_receiver = std::min(handed_back, left_there);
  if (by_sender < hardly_slower * by_receiver) made.gathered_bytes = least_gathered_bytes;
  const bool sender_was_better = by_sender < by_much * by_receiver;
  if (!handing_was_better && !sender_was_better) return;
  // There may be other pairs of processors than this one, and nearer ones.
  if (can_hand_back && clearly * handed_back < left_there) made.copies.handing_back_bytes = least_handing_back_bytes;
  made.far_ns = least_left_to_sender_ns(pair.line(), round_trip, sender_was_better);
}

/// Whether what is sent again as it was is better copied once, by its receiver, than through a ring. Emerald Rapids, µs for 16
/// KB, 0.6 and 3.6.
void find_single_copies(Trials& pair, Calibration& made, double round_trip) {
  constexpr std::size_t bytes = Calibration::least_single_copy_bytes;
  const double by_ring = middle_of([&] { return pair.through_ring(bytes); });
  const double in_place = middle_of([&] { return pair.in_place(made.copies.pieces, bytes); });
  if (in_place + more_single_copy_round_trips * round_trip < by_much * by_ring) made.single_copy_bytes = bytes;
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
  const double both_plain = pair.both_sides(write, made.copies.pieces);
  const double both_streaming = pair.both_sides(write, Stores::streaming);
  const bool streams_back = both_streaming < clearly * both_plain;
  made.copies.streaming_read_bytes = streams_back ? least_streaming_read_bytes : shared_copy::never;

  const double shared_plain = pair.other_side_shared(made.copies.pieces, shared_length);
  const double shared_streaming = pair.other_side_shared(Stores::streaming, shared_length);
  if (shared_streaming < clearly * shared_plain) made.copies.streaming_shared_bytes = least_streaming_shared_bytes;
  spare_the_senders_stores(pair, made, write, round_trip);
  find_single_copies(pair, made, round_trip);
  const Stores read = streams_back ? Stores::streaming : made.copies.pieces;
  find_where_halves_pay(pair, made, write, read, round_trip);

  constexpr std::size_t times = 9;  // five of the one and then five of the other found 2 times in 85 that two halves do not pay
  const auto [one, both] =
      middles_of<times>([&] { return pair.one_side(write, longest); }, [&] { return pair.both_sides(write, read); });
  const double won_per_byte = (one - both) / static_cast<double>(longest);
  const double paid = coop_round_trips * round_trip;
  const bool pays = won_per_byte * static_cast<double>(Calibration::most_coop_bytes) > paid;
  made.coop_bytes = pays ? static_cast<std::size_t>(paid / won_per_byte) : Calibration::most_coop_bytes;
  if (both < plainly * one) made.coop_bytes = std::min(made.coop_bytes, least_where_plain_bytes);
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
    CopyPair pair(second, now_ns() + limit_ns);
    const std::optional<bool> found = share_a_core(pair);
    if (!found) throw TooBusy();
    return *found;
  });
}

}  // namespace sluice
