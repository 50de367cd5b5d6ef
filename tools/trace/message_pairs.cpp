#include "tools/trace/message_pairs.hpp"

#include <cstddef>

#include "runtime/trace/kinds.hpp"
#include "runtime/transport/message.hpp"

namespace sluice {

using trace::Kind;

bool is_end_of_message(const trace::Record& record) {
  if (is_message_of_collective(record)) return false;
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

bool is_message_of_collective(const trace::Record& record) {
  const auto kind = static_cast<Kind>(record.kind);
  return (kind == Kind::match || kind == Kind::message_out) && record.extra != 0;
}

bool tells_of_send(const trace::Record& record) { return static_cast<Kind>(record.kind) != Kind::match; }

MessageName name_of_message(const trace::Record& record, std::uint64_t job, std::int32_t rank) {
  switch (static_cast<Kind>(record.kind)) {
    case Kind::match:
      return {job, record.peer, rank, record.value, (record.detail & trace::match_put) != 0};
    case Kind::post_send:
      return {job, rank, record.peer, record.extra, false};
    default:
      return {job, rank, record.peer, record.value, record.detail == trace::message_put};
  }
}

MessageName MessageNumbers::whole(const MessageName& name, bool is_sent) {
  if (!name.is_put) return name;
  constexpr std::uint64_t base = std::uint64_t{1} << 32;  // so that nothing falls below 0
  MessageName whole = name;
  const auto [last, is_first] = last_put_.try_emplace({name.job, name.from, name.to, is_sent}, base + name.number);
  const auto step = static_cast<std::int16_t>(static_cast<std::uint16_t>(name.number - last->second));
  whole.number = last->second + static_cast<std::uint64_t>(static_cast<std::int64_t>(is_first ? 0 : step));
  if (whole.number > last->second) last->second = whole.number;
  return whole;
}

std::size_t MessageNumbers::Hash::operator()(const MessageName& name) const {
  return XXH3_64bits_withSeed(&name.job, offsetof(MessageName, is_put) - offsetof(MessageName, job), name.is_put ? 1 : 0);
}

}  // namespace sluice
