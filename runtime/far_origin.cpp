#include "runtime/far_origin.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/datatype/layout_wire.hpp"

namespace sluice {
namespace {

using Kind = FarMessage::Kind;

/// What a message with data has besides, as a rule.
constexpr std::size_t head_bytes = 256;

FarMessage describe(Kind kind, std::size_t bytes) {
  FarMessage message;
  message.kind = kind;
  message.bytes = bytes;
  return message;
}

}  // namespace

/// The message comes with a request for the lock if there has been none. A target's memory without gaps needs no layout.
void FarOrigin::issue(std::size_t target, FarMessage message, const UserBuffer* place, std::span<const UserBuffer> data) {
  Target& to = targets_[target];
  if (to.lock == LockState::wanted) {
    message.lock = to.use == LockWord::Use::shared ? FarMessage::Lock::shared : FarMessage::Lock::exclusive;
    to.lock = LockState::asked;
  }
  std::vector<std::byte> layout;
  if (place) {
    const bool has_gaps = !place->is_contiguous();
    if (has_gaps) write_layout(*place->layout, layout);
    message.layout_bytes = static_cast<std::uint32_t>(layout.size());
    message.address = reinterpret_cast<std::uintptr_t>(has_gaps ? place->base : place->data());
    message.count = has_gaps ? place->count : place->bytes();
  }
  std::size_t bytes = sizeof message + FarMessage::aligned(layout.size());
  const std::size_t data_at = bytes;
  for (const UserBuffer& part : data) bytes += part.bytes();
  auto copy = std::make_unique_for_overwrite<std::byte[]>(bytes);
  std::memcpy(copy.get(), &message, sizeof message);
  std::copy(layout.begin(), layout.end(), copy.get() + sizeof message);
  std::byte* next = copy.get() + data_at;
  for (const UserBuffer& part : data) next += LayoutCursor(part).pack({next, part.bytes()});
  messenger_.send(static_cast<Rank>(target), FarMessage::tag_in_order, std::move(copy), bytes);
}

bool FarOrigin::goes_along(std::size_t target, const UserBuffer& data, const UserBuffer& place) const {
  const std::size_t runs = place.is_contiguous() ? 0 : place.layout->runs().size();
  constexpr std::size_t run_bytes = 64;
  return data.bytes() + head_bytes + runs * run_bytes <= messenger_.most_at_once(static_cast<Rank>(target));
}

void FarOrigin::expect_result(std::size_t target, const FarMessage& message, const UserBuffer& result) {
  targets_[target].open.push_back(messenger_.receive(static_cast<Rank>(target), message.gotten_tag(), result));
}

void FarOrigin::put(std::size_t target, const UserBuffer& origin, const UserBuffer& place) {
  FarMessage message = describe(Kind::put, origin.bytes());
  targets_[target].is_behind = true;
  if (goes_along(target, origin, place)) return issue(target, message, &place, {&origin, 1});
  message.data_follows = true;
  message.serial = serials_++;
  issue(target, message, &place, {});
  targets_[target].open.push_back(messenger_.send(static_cast<Rank>(target), message.given_tag(), origin));
}

void FarOrigin::get(std::size_t target, const UserBuffer& result, const UserBuffer& place) {
  FarMessage message = describe(Kind::get, result.bytes());
  message.serial = serials_++;
  expect_result(target, message, result);
  issue(target, message, &place, {});
}

void FarOrigin::accumulate(std::size_t target, Combination combination, const UserBuffer* operand, const UserBuffer* result,
                           const UserBuffer& place) {
  FarMessage message = describe(Kind::accumulate, place.bytes());
  message.operation = combination.name;
  message.packs_pairs = combination.packs_pairs;
  message.wants_result = result;
  message.serial = serials_++;
  targets_[target].is_behind |= !result;
  if (result) expect_result(target, message, *result);
  if (!operand) return issue(target, message, &place, {});
  if (goes_along(target, *operand, place)) return issue(target, message, &place, {operand, 1});
  message.data_follows = true;
  issue(target, message, &place, {});
  targets_[target].open.push_back(messenger_.send(static_cast<Rank>(target), message.given_tag(), *operand));
}

void FarOrigin::compare_and_swap(std::size_t target, const UserBuffer& compared, const UserBuffer& new_value,
                                 const UserBuffer& result, const UserBuffer& place) {
  FarMessage message = describe(Kind::compare_and_swap, place.bytes());
  message.serial = serials_++;
  const UserBuffer both[] = {compared, new_value};
  issue(target, message, &place, both);
  expect_result(target, message, result);
}

// --- requests that stand for operations

Request* FarOrigin::stand_for(std::size_t target, std::size_t open) {
  Target& to = targets_[target];
  if (to.open.size() == open) return nullptr;
  const auto first = to.open.begin() + static_cast<std::ptrdiff_t>(open);
  Request* const whole = messenger_.parts().requests.new_collective(messenger_.context(), {});
  groups_.push_back({target, {first, to.open.end()}, whole});
  to.open.erase(first, to.open.end());
  ++to.groups;
  return whole;
}

bool FarOrigin::advance() {
  const auto ended = std::erase_if(groups_, [this](Group& group) {
    if (!take_over(group.open)) return false;
    --targets_[group.target].groups;
    messenger_.parts().requests.finish(group.whole);
    return true;
  });
  return ended != 0;
}

bool FarOrigin::has_work() const {
  return std::any_of(groups_.begin(), groups_.end(), [](const Group& group) {
    return std::all_of(group.open.begin(), group.open.end(), [](const Request* open) { return FarMessenger::is_over(*open); });
  });
}

/// True: all are over.
bool FarOrigin::take_over(std::vector<Request*>& open) {
  while (!open.empty() && FarMessenger::is_over(*open.back())) {
    messenger_.take(open.back());
    open.pop_back();
  }
  return open.empty();
}

// --- locks

void FarOrigin::lock(std::size_t target, LockWord::Use use) {
  targets_[target].lock = LockState::wanted;
  targets_[target].use = use;
}

void FarOrigin::ask_for_lock(std::size_t target) {
  if (targets_[target].lock == LockState::wanted) ask(target, Asks::always);
}

void FarOrigin::unlock(std::size_t target) {
  Target& to = targets_[target];
  if (to.lock == LockState::asked) {
    to.lock = LockState::none;
    to.is_behind = false;
    FarMessage message = describe(Kind::unlock, 0);
    message.number = ++to.asked;
    issue(target, message, nullptr, {});
  }
  to.lock = LockState::none;
}

void FarOrigin::insist() {
  for (std::size_t target = 0; target < targets_.size(); ++target) {
    const Target& to = targets_[target];
    if (to.use == LockWord::Use::shared && (to.lock == LockState::asked || !is_answered(target)))
      tell_at_once(target, Kind::insist);
  }
}

// --- completion

void FarOrigin::ask(std::size_t target, Asks asks) {
  Target& to = targets_[target];
  if (!std::exchange(to.is_behind, false) && asks == Asks::if_needed) return;
  FarMessage message = describe(Kind::flush, 0);
  message.number = ++to.asked;
  issue(target, message, nullptr, {});
}

bool FarOrigin::is_over_here(std::size_t target) { return take_over(targets_[target].open) && targets_[target].groups == 0; }

bool FarOrigin::was_refused(std::size_t target) { return std::exchange(targets_[target].was_refused, false); }

void FarOrigin::take_answer(std::size_t target, const FarMessage& message) {
  targets_[target].answered = message.number;
  targets_[target].was_refused |= message.is_refused;
}

// --- synchronisation

void FarOrigin::tell(std::size_t target, FarMessage::Kind kind) {
  targets_[target].is_behind = false;
  issue(target, describe(kind, 0), nullptr, {});
}

void FarOrigin::tell_at_once(std::size_t to, FarMessage::Kind kind) {
  auto copy = std::make_unique_for_overwrite<std::byte[]>(sizeof(FarMessage));
  const FarMessage message = describe(kind, 0);
  std::memcpy(copy.get(), &message, sizeof message);
  messenger_.send(static_cast<Rank>(to), FarMessage::tag_at_once, std::move(copy), sizeof message);
}

}  // namespace sluice
