// What was measured of copies between two processors of this machine, and the thresholds that follow.
//
// Nothing here has to be the same on two ranks: a copy's stores are its maker's affair, and a chunk's length is told to the other
// side in the CTS. All ranks of a node get the values of its first rank all the same (interpose/session/session.cpp).
//
//   pieces            how pieces of large messages are copied (shared_copy.hpp) where they are not streamed: the string
//                     instruction, or what is clearly better
//   streaming_bytes   the shortest piece that is written to a peer, and read by it, in clearly less time by streaming stores
//   streaming_read_bytes   the same for pieces that a receiver reads while the sender writes the rest
//   streaming_shared_bytes   the same where the lines that are overwritten are in the peer's cache, too (buffer_lines.hpp)
//   handing_back_bytes   the shortest message whose lines are handed back to a sender that writes them anew (source_history.hpp)
//   far_ns            a sender whose lines take longer to read copies itself what it writes anew (peer_distance.hpp)
//   gathered_bytes    the shortest message that its blocked sender copies beside others, where many processes share a processor
//   single_copy_bytes the shortest message that is copied once, out of its sender's memory, although it would go through a ring
//   coop_bytes        the shortest message of which two halves at once, and the two more messages that they take, are worth it
//   coop_own_bytes    the same where the buffer's lines are in no other processor's cache, and the receiver may read alone
//   coop_turns_bytes  the same where processes share processors, whatever their calls
//   chunk_bytes       what one side copies in chunk_ns: control messages of others are served between chunks
//
// Bounds. Everything is clamped, whatever was measured; times are medians of trials in turn, and something else than the ordinary
// way must be better by a tenth unless calibration_measure.cpp says otherwise, here and for every longer length: a busy machine
// makes trials longer, not shorter. What takes longer than the time limit was measured on processors that others use, and counts
// for nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/copy/shared_copy.hpp"
#include "runtime/machine/peer_distance.hpp"

namespace sluice {

struct Calibration {
  enum class Source : std::uint32_t { assumed, measured, file };

  Source source = Source::assumed;
  std::uint32_t round_trip_ns = 0;  // of a cache line between the two processors; 0: not measured
  std::uint32_t one_core = 0;       // 1: they were threads of one core, of which virtual machines do not tell
  shared_copy::Thresholds copies = shared_copy::cpuid_thresholds();
  std::uint32_t far_ns = 0;  // 0: no sender does
  std::size_t gathered_bytes = shared_copy::never;
  std::size_t single_copy_bytes = shared_copy::never;
  std::size_t coop_bytes = std::size_t{32} << 10;
  std::size_t coop_own_bytes = std::size_t{64} << 10;
  std::size_t coop_turns_bytes = shared_copy::never;
  std::size_t chunk_bytes = std::size_t{128} << 10;

  /// Of coop_bytes, also where two halves at once were not found to pay. Whether they do changes with the processors that a
  /// virtual machine has at the moment, and what was measured is kept: at worst, messages below this length go as they went
  /// without it. Windows in GB/s, processors far from each other, where the receiver reads and where both copy: 64 KB 10.9 and
  /// 6.1, 128 KB 21.3 and 16.7, 192 KB 24.7 and 21.6, 256 KB 26.5 and 25.1; near to each other both are faster from 64 KB on.
  static constexpr std::size_t most_coop_bytes = std::size_t{256} << 10;
  static constexpr std::size_t least_coop_bytes = std::size_t{32} << 10;
  /// Of coop_own_bytes, likewise. Longer messages stay in no processor's own cache.
  static constexpr std::size_t most_coop_own_bytes = std::size_t{2} << 20;
  static constexpr std::size_t least_single_copy_bytes = std::size_t{16} << 10;
  static constexpr std::size_t least_coop_turns_bytes = std::size_t{128} << 10;

  /// coop_bytes and coop_own_bytes for one of several messages that come at once: the messages that two halves take are on the
  /// way of the first one only. Not where they were not found to pay. Speed-up over the better one of both sides alone: windows
  /// of 64 KB 1.15 near and 1.3 far, where one message is worth it from 102 KB on; four pieces of 256 KB into the receiver's own
  /// cache, near, 1.08, where one is from 1 MB on. What is a single chunk goes to the sender then: windows of 24 KB, near, µs a
  /// message 2.9, and 3.8 where the receiver reads.
  [[nodiscard]] std::size_t coop_bytes_at_once() const {
    return round_trip_ns != 0 && coop_bytes < most_coop_bytes ? least_at_once : coop_bytes;
  }
  [[nodiscard]] std::size_t coop_own_bytes_at_once() const {
    const bool near = round_trip_ns != 0 && round_trip_ns <= most_near_ns;
    return near && coop_own_bytes < most_coop_own_bytes ? coop_own_bytes / own_bytes_at_once_part : coop_own_bytes;
  }

  friend bool operator==(const Calibration&, const Calibration&) = default;

 private:
  static constexpr std::size_t least_at_once = std::size_t{16} << 10;
  static constexpr std::size_t own_bytes_at_once_part = 4;
};

/// Keeps every member within what is sensible on any machine.
[[nodiscard]] Calibration clamped(Calibration calibration);

/// Takes some ten milliseconds and 2 MB. Nothing when there is one processor only, or they are too busy. [any thread; uses two of
/// its own]
[[nodiscard]] std::optional<Calibration> measure_calibration();

/// Whether the two processors are threads of one core now. Takes 1 ms; nothing as above. [likewise]
[[nodiscard]] std::optional<bool> processors_share_a_core();

/// What the values hold for: model of the processor, number of processors, version of Sluice.
[[nodiscard]] std::string calibration_key();
/// Against damage and for names, not against an enemy.
[[nodiscard]] std::uint64_t calibration_hash(std::string_view text);

/// The text of a calibration file: a line for each value, and a last one with a sum of all before it.
[[nodiscard]] std::string to_text(const Calibration& calibration, std::string_view key);
/// Of a file for this key; otherwise `fault` says what is wrong with it.
struct ReadCalibration {
  std::optional<Calibration> calibration;
  std::string fault;
};
[[nodiscard]] ReadCalibration from_text(std::string_view text, std::string_view key);

}  // namespace sluice
