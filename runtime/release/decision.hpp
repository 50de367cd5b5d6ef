// Whether a blocked operation may be released now: a pure function of what is known of it and of the terms (page-guard rules 1,
// 2, 4, 14). It knows no request, asks nobody and changes nothing; releases.cpp describes an operation to it.
//
// A blocked call waits for as long as a release would cost first (release_policy.hpp). What is judged here is the rest: whether
// the message can go on behind the guard, whether it takes longer than the release, and whether the rules allow it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/config/config.hpp"
#include "runtime/engine/statistics.hpp"

namespace sluice {

/// What holds for all operations of a call.
struct ReleaseTerms {
  ReleaseMode mode{};
  bool releases_sends = false;
  bool concurrent_calls = false;  // other threads may be in calls
  bool shares_memory = false;     // peers see at once what this process stores
  std::uint64_t waited_ns = 0;
};

struct BlockedReceive {
  /// How its message comes, as far as a release can go on with it.
  enum class Path : std::uint8_t { other, written, streamed, moved_to_alias };

  std::size_t bytes = 0;       // capacity
  std::size_t span_bytes = 0;  // of the memory that it may touch, gaps included
  bool has_gaps = false;
  std::uint64_t cost_ns = 0;  // of closing the pages that it would have under guard
  bool matched = false;

  // matched
  Path path = Path::other;
  std::size_t missing_bytes = 0;

  // not matched
  bool is_wildcard = false;
  bool errors_return = false;  // the program would be told of an error in its call
  bool is_from_self = false;
  bool can_go_on = false;  // whatever way the sender takes
};

struct BlockedSend {
  std::size_t bytes = 0;
  bool is_standard = false;  // SendMode::standard
  bool is_answered = false;  // what is left to do is this process's own work, or done in a moment
  bool is_offered = false;   // its data is read in the memory file
};

struct ReleaseDecision {
  enum class Answer : std::uint8_t {
    yes,
    if_block,  // if its memory is a live block; that of a receive may be made one
    no,        // and that is nothing to tell of
    refused
  };
  Answer answer{};
  Fallback reason{};  // refused
};

/// Smaller operations are never released: a handful of pages arrives faster than a protection change pays.
inline constexpr std::size_t smallest_release = 16 * 1024;
/// What the sender's copy puts in place per microsecond, at least; decides whether the rest of a message is worth a release.
inline constexpr std::size_t copy_bytes_per_us = 8000;

[[nodiscard]] ReleaseDecision judge(const BlockedReceive& receive, const ReleaseTerms& terms);
[[nodiscard]] ReleaseDecision judge(const BlockedSend& send, const ReleaseTerms& terms);

/// A wait has been as long as it takes to make a block of so many pages.
[[nodiscard]] constexpr bool outlasts_migration(std::uint64_t waited_ns, std::size_t pages) {
  constexpr std::uint64_t migration_ns_per_page = 2000;
  return waited_ns >= pages * migration_ns_per_page;
}

}  // namespace sluice
