#include "runtime/far_origin.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/datatype/layout_wire.hpp"

namespace sluice {
namespace {

using Asked = FarMessage::Kind;

/// Of one draft: small operations that come together, and no long copies.
constexpr std::size_t most_draft_bytes = std::size_t{16} << 10;

/// What a part with data has besides, about.
std::size_t head_bytes(const UserBuffer& place) {
  constexpr std::size_t run_bytes = 64;
  return sizeof(FarMessage) + (place.is_contiguous() ? 0 : run_bytes * (1 + place.layout->runs().size()));
}

FarMessage describe(Asked kind, std::size_t bytes) {
  FarMessage message;
  message.kind = kind;
  message.bytes = bytes;
  return message;
}

}  // namespace

std::size_t FarOrigin::most_drafted(std::size_t target) const {
  return std::min(most_draft_bytes, messenger_.most_at_once(static_cast<Rank>(target)));
}

bool FarOrigin::goes_along(std::size_t target, std::size_t bytes, const UserBuffer& place) const {
  return bytes + head_bytes(place) <= messenger_.most_at_once(static_cast<Rank>(target));
}

bool FarOrigin::only_drafts(std::size_t target, std::size_t bytes, const UserBuffer& place) const {
  return targets_[target].draft.size() + bytes + head_bytes(place) <= most_drafted(target);
}

/// It comes with a request for the lock if there has been none. A target's memory without gaps needs no layout.
void FarOrigin::draft(std::size_t target, FarMessage message, const UserBuffer* place, std::span<const UserBuffer> data) {
  Target& to = targets_[target];
  if (to.lock == LockState::wanted) {
    message.lock = to.use == LockWord::Use::shared ? FarMessage::Lock::shared : FarMessage::Lock::exclusive;
    to.lock = LockState::asked;
  }
  for (const UserBuffer& part : data) message.data_bytes += part.bytes();
  std::vector<std::byte> layout;
  if (place) {
    const bool has_gaps = !place->is_contiguous();
    if (has_gaps) write_layout(*place->layout, layout);
    message.layout_bytes = static_cast<std::uint32_t>(layout.size());
    message.address = reinterpret_cast<std::uintptr_t>(has_gaps ? place->base : place->data());
    message.count = has_gaps ? place->count : place->bytes();
  }
  if (!to.draft.empty() && to.draft.size() + message.part_bytes() > most_drafted(target)) push(target);
  if (to.draft.empty()) ++drafts_;
  const std::size_t begin = to.draft.size();
  to.draft.resize(begin + message.part_bytes());
  std::byte* next = to.draft.data() + begin;
  std::memcpy(next, &message, sizeof message);
  next = std::copy(layout.begin(), layout.end(), next + sizeof message);
  next += FarMessage::aligned(layout.size()) - layout.size();
  for (const UserBuffer& part : data) next += LayoutCursor(part).pack({next, part.bytes()});
}

void FarOrigin::push(std::size_t target) {
  std::vector<std::byte>& draft = targets_[target].draft;
  if (draft.empty()) return;
  messenger_.send(static_cast<Rank>(target), FarMessage::tag_in_order, draft);
  draft.clear();
  --drafts_;
}

bool FarOrigin::push_all() {
  if (drafts_ == 0) return false;
  for (std::size_t target = 0; target < targets_.size(); ++target) push(target);
  return true;
}

void FarOrigin::expect_result(std::size_t target, const FarMessage& message, const UserBuffer& result) {
  targets_[target].open.push_back(messenger_.receive(static_cast<Rank>(target), message.gotten_tag(), result));
}

void FarOrigin::put(std::size_t target, const UserBuffer& origin, const UserBuffer& place) {
  FarMessage message = describe(Asked::put, origin.bytes());
  targets_[target].is_behind = true;
  if (goes_along(target, origin.bytes(), place)) return draft(target, message, &place, {&origin, 1});
  message.data_follows = true;
  message.serial = serials_++;
  draft(target, message, &place, {});
  push(target);
  targets_[target].open.push_back(messenger_.send(static_cast<Rank>(target), message.given_tag(), origin));
}

void FarOrigin::get(std::size_t target, const UserBuffer& result, const UserBuffer& place) {
  FarMessage message = describe(Asked::get, result.bytes());
  message.serial = serials_++;
  expect_result(target, message, result);
  draft(target, message, &place, {});
}

void FarOrigin::accumulate(std::size_t target, Combination combination, const UserBuffer* operand, const UserBuffer* result,
                           const UserBuffer& place) {
  FarMessage message = describe(Asked::accumulate, place.bytes());
  message.operation = combination.name;
  message.packs_pairs = combination.packs_pairs;
  message.wants_result = result;
  message.serial = serials_++;
  targets_[target].is_behind |= !result;
  if (result) expect_result(target, message, *result);
  if (!operand) return draft(target, message, &place, {});
  if (goes_along(target, operand->bytes(), place)) return draft(target, message, &place, {operand, 1});
  message.data_follows = true;
  draft(target, message, &place, {});
  push(target);
  targets_[target].open.push_back(messenger_.send(static_cast<Rank>(target), message.given_tag(), *operand));
}

void FarOrigin::compare_and_swap(std::size_t target, const UserBuffer& compared, const UserBuffer& new_value,
                                 const UserBuffer& result, const UserBuffer& place) {
  FarMessage message = describe(Asked::compare_and_swap, place.bytes());
  message.serial = serials_++;
  const UserBuffer both[] = {compared, new_value};
  draft(target, message, &place, both);
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
  const bool moved = push_all();
  const auto ended = std::erase_if(groups_, [this](Group& group) {
    if (!take_over(group.open)) return false;
    --targets_[group.target].groups;
    messenger_.parts().requests.finish(group.whole);
    return true;
  });
  return ended != 0 || moved;
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
    FarMessage message = describe(Asked::unlock, 0);
    message.number = ++to.asked;
    draft(target, message, nullptr, {});
    push(target);
  }
  to.lock = LockState::none;
}

void FarOrigin::insist() {
  for (std::size_t target = 0; target < targets_.size(); ++target) {
    const Target& to = targets_[target];
    if (to.use == LockWord::Use::shared && (to.lock == LockState::asked || !is_answered(target)))
      tell_at_once(target, Asked::insist);
  }
}

// --- completion

void FarOrigin::ask(std::size_t target, Asks asks) {
  Target& to = targets_[target];
  if (!std::exchange(to.is_behind, false) && asks == Asks::if_needed) return;
  FarMessage message = describe(Asked::flush, 0);
  message.number = ++to.asked;
  draft(target, message, nullptr, {});
  push(target);
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
  draft(target, describe(kind, 0), nullptr, {});
  push(target);
}

void FarOrigin::tell_at_once(std::size_t to, FarMessage::Kind kind) {
  const FarMessage message = describe(kind, 0);
  messenger_.send(static_cast<Rank>(to), FarMessage::tag_at_once, std::as_bytes(std::span(&message, 1)));
}

}  // namespace sluice
