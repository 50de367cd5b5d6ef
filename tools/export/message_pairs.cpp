#include "tools/export/message_pairs.hpp"

#include "runtime/message.hpp"
#include "runtime/trace_kinds.hpp"

namespace sluice {

namespace {

using trace::Kind;

bool is_put(const trace::Record& record) {
  return static_cast<Kind>(record.kind) == Kind::match ? (record.detail & trace::match_put) != 0
                                                       : record.detail == trace::message_put;
}

bool is_match(const trace::Record& record) { return static_cast<Kind>(record.kind) == Kind::match; }

}  // namespace

bool is_end_of_message(const trace::Record& record) {
  switch (static_cast<Kind>(record.kind)) {
    case Kind::post_send:
      return (record.detail & trace::post_at_once) != 0 && record.peer >= 0;
    case Kind::message_out:
      return record.peer >= 0 &&
             (record.detail == static_cast<std::uint16_t>(MessageKind::eager) ||
              record.detail == static_cast<std::uint16_t>(MessageKind::rts) || record.detail == trace::message_put);
    case Kind::match:
      return record.peer >= 0;
    default:
      return false;
  }
}

std::optional<MessagePair> MessagePairs::add(const trace::Record& record, std::uint64_t job, std::int32_t rank,
                                             const MessageEnd& end) {
  const bool is_send = !is_match(record);
  const bool is_at_once = static_cast<Kind>(record.kind) == Kind::post_send;
  Key key{job, is_send ? rank : record.peer, is_send ? record.peer : rank, is_at_once ? record.extra : record.value,
          !is_at_once && is_put(record)};
  if (key.is_put) key.number = unwrapped(key, is_send);
  for (Generation* const generation : {&young_, &old_}) {
    const auto found = generation->find(key);
    if (found == generation->end() || found->second.is_send == is_send) continue;
    const MessageEnd other = found->second.end;
    generation->erase(found);
    return is_send ? MessagePair{end, other} : MessagePair{other, end};
  }
  if (young_.size() >= most_pending / 2) {
    old_ = std::move(young_);
    young_.clear();
  }
  young_.insert_or_assign(key, Pending{is_send, end});
  return std::nullopt;
}

/// Announcements are numbered in 16 bits; the order in which they are answered is nearly that of their numbers.
std::uint64_t MessagePairs::unwrapped(const Key& key, bool is_send) {
  constexpr std::uint64_t base = std::uint64_t{1} << 32;  // so that nothing falls below 0
  const auto [last, is_first] = last_put_.try_emplace({key.job, key.from, key.to, is_send}, base + key.number);
  if (is_first) return last->second;
  const auto step = static_cast<std::int16_t>(static_cast<std::uint16_t>(key.number - last->second));
  const std::uint64_t number = last->second + static_cast<std::uint64_t>(static_cast<std::int64_t>(step));
  if (step > 0) last->second = number;
  return number;
}

}  // namespace sluice
