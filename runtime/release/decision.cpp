#include "runtime/release/decision.hpp"

namespace sluice {
namespace {

using Answer = ReleaseDecision::Answer;

/// What comes through sockets per microsecond: between two processes of one machine, hence more than any network brings.
constexpr std::size_t stream_bytes_per_us = 4000;
/// A span with more gaps than that is mostly other data, which would be touched.
constexpr std::size_t max_span_per_byte = 8;

ReleaseDecision refuse(Fallback reason) { return {Answer::refused, reason}; }

/// A datatype with gaps is released over its span, before its message is known: then the wait is for a late sender. Once the
/// message is there, this process has to unpack it anyhow, and may as well do it now.
bool is_spread_too_far(const BlockedReceive& receive, std::uint64_t waited_ns) {
  if (!receive.has_gaps) return false;
  return receive.matched || receive.span_bytes > max_span_per_byte * receive.bytes || waited_ns < receive.cost_ns;
}

ReleaseDecision judge_matched(const BlockedReceive& receive) {
  using Path = BlockedReceive::Path;
  if (receive.path == Path::other) return refuse(Fallback::other_copy);
  const bool is_streamed = receive.path == Path::streamed;
  const std::uint64_t rest_ns = receive.missing_bytes * 1000 / (is_streamed ? stream_bytes_per_us : copy_bytes_per_us);
  if (rest_ns < 2 * receive.cost_ns) return refuse(Fallback::not_worth);
  return {is_streamed ? Answer::if_block : Answer::yes, {}};
}

ReleaseDecision judge_unmatched(const BlockedReceive& receive, const ReleaseTerms& terms) {
  if (receive.is_wildcard) return refuse(Fallback::wildcard_unmatched);
  if (terms.mode == ReleaseMode::matched) return refuse(Fallback::mode_matched_only);
  if (terms.mode == ReleaseMode::automatic && receive.errors_return) return refuse(Fallback::errors_return);
  if (terms.concurrent_calls) return refuse(Fallback::concurrent_calls);
  if (terms.shares_memory) return refuse(Fallback::shared_window);
  if (receive.is_from_self) return {Answer::no, {}};
  if (!receive.can_go_on) return refuse(Fallback::other_copy);
  return {Answer::if_block, {}};
}

}  // namespace

ReleaseDecision judge(const BlockedReceive& receive, const ReleaseTerms& terms) {
  if (receive.bytes < smallest_release) return {Answer::no, {}};
  if (is_spread_too_far(receive, terms.waited_ns)) return refuse(Fallback::not_contiguous);
  return receive.matched ? judge_matched(receive) : judge_unmatched(receive, terms);
}

/// While the receiver has not come.
ReleaseDecision judge(const BlockedSend& send, const ReleaseTerms& terms) {
  if (!terms.releases_sends || !send.is_standard || send.bytes < smallest_release) return {Answer::no, {}};
  if (terms.concurrent_calls) return refuse(Fallback::concurrent_calls);
  if (send.is_answered) return refuse(Fallback::send_answered);
  if (!send.is_offered) return refuse(Fallback::send_not_offered);
  return {Answer::if_block, {}};
}

}  // namespace sluice
