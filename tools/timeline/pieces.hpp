// What a timeline is made of: slices of time in lanes, and messages between them. Times are nanoseconds since the start of the
// trace, on rank 0's clock.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "tools/trace/trace.hpp"

namespace sluice::timeline {

/// Of a slice; page.js has the same list.
enum class SliceKind : std::uint8_t {
  call,        // a blocking call
  host_call,   // one that the host MPI carried
  wait,        // a call waited for an operation
  unfinished,  // the same, and the trace ends before the wait does
  fault,       // code touched a page under guard and waited
  settle,      // a call waited until a release was over
  release,     // a buffer was under guard
  held,        // something waited for a release before it might leave
  registration,
  migrate,
  helper,       // the helper thread was awake
  collective,   // a blocking collective call
  nonblocking,  // one that is not, until it was done
};
inline constexpr std::size_t slice_kinds = 13;

/// A number that the trace did not tell.
inline constexpr std::uint16_t not_told = 0xffff;

/// What the page tells about an operation, beside a slice or a message.
struct About {
  std::uint32_t operation = 0;  // 0: of none
  std::int32_t peer = -1;
  std::int32_t tag = -1;
  std::uint64_t bytes = 0;
  std::uint16_t protocol = not_told;      // trace::Protocol
  std::uint16_t reason = not_told;        // trace::Reason
  std::uint16_t fallback = not_told;      // a word of "fallback": the transfer could not go the way it had begun
  std::uint16_t not_released = not_told;  // a word of "fallback"
};

struct Slice {
  std::int64_t begin_ns = 0;
  std::uint64_t duration_ns = 0;
  std::uint32_t lane = 0;
  std::uint32_t site = 0;  // as the file of the lane numbers them
  SliceKind kind{};
  std::uint8_t row = 0;             // of several releases at the same time
  std::uint16_t detail = not_told;  // as the trace has it
  About about;
  std::uint64_t waited_ns = 0;         // of a call: for operations of Sluice's. Of a release: on its pages
  std::uint32_t communicator = 0;      // of a collective call
  std::uint64_t number = 0;            // likewise: with its communicator and `lanes` of `how` the same on all ranks
  std::uint32_t how = 0;               // likewise: bits of "carried"
  std::uint64_t hidden_ns = 0;         // of a release
  std::uint64_t touched_after_ns = 0;  // of a release; 0: not touched
  std::uint32_t pages = 0;             // of a release
  std::uint32_t faults = 0;            // of a release
  std::uint32_t runs = 0;              // of a release: its pages opened in so many

  [[nodiscard]] std::uint64_t length_ns() const { return duration_ns; }
  [[nodiscard]] std::uint64_t identity() const { return static_cast<std::uint64_t>(begin_ns) ^ std::uint64_t{lane} << 40; }
};

/// A message, from when it or its announcement left until its data was in place.
struct Arrow {
  std::int64_t sent_ns = 0;
  std::int64_t matched_ns = 0;
  std::int64_t complete_ns = 0;
  std::uint32_t from_lane = 0;
  std::uint32_t to_lane = 0;
  std::uint32_t from_site = 0;
  std::uint32_t to_site = 0;
  std::uint32_t send = 0;  // operation; 0: of none
  std::uint16_t how = 0;   // bits of "match"
  About about;             // of the receive

  [[nodiscard]] std::uint64_t length_ns() const {
    return static_cast<std::uint64_t>(complete_ns > sent_ns ? complete_ns - sent_ns : 0);
  }
  [[nodiscard]] std::uint64_t identity() const { return static_cast<std::uint64_t>(sent_ns) ^ std::uint64_t{from_lane} << 40; }
};

/// A thread of a rank.
struct Lane {
  std::size_t file = 0;  // of Trace::files()
  std::uint32_t thread = 0;
};

/// All lanes of a trace, by rank and thread, known from its chunks before a record is read.
class Lanes {
 public:
  explicit Lanes(const std::vector<const TraceFile*>& files) {
    for (std::size_t file = 0; file < files.size(); ++file) {
      for (const ChunkPlace& chunk : files[file]->chunks()) {
        if (numbers_.try_emplace({file, chunk.thread}, static_cast<std::uint32_t>(all_.size())).second)
          all_.push_back({file, chunk.thread});
      }
    }
  }

  [[nodiscard]] const std::vector<Lane>& all() const { return all_; }
  [[nodiscard]] std::uint32_t number(std::size_t file, std::uint32_t thread) const { return numbers_.at({file, thread}); }

 private:
  std::vector<Lane> all_;
  std::map<std::pair<std::size_t, std::uint32_t>, std::uint32_t> numbers_;
};

}  // namespace sluice::timeline
