#include "runtime/far_target.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

#include "runtime/datatype/layout_wire.hpp"
#include "runtime/datatype/packed_buffer.hpp"
#include "runtime/engine/wire_check.hpp"

namespace sluice {
namespace {

/// So much is combined before others get a turn.
constexpr std::size_t most_piece_bytes = std::size_t{64} << 10;

constexpr bool is_accumulate(FarMessage::Kind kind) {
  return kind == FarMessage::Kind::accumulate || kind == FarMessage::Kind::compare_and_swap;
}

}  // namespace

/// One whose data is under way, or is being combined.
struct FarTarget::Operation {
  std::size_t origin = 0;
  FarMessage message;
  UserBuffer place;
  bool is_refused = false;
  Request* request = nullptr;  // its data's: what the origin gives, or then what it gets
  // accumulate
  std::unique_ptr<FarOperation> how;
  std::optional<LayoutCursor> target;
  ScratchPool::Block operand;  // also where data goes that is refused
  ScratchPool::Block before;
  std::size_t applied = 0;
  bool gives_result = false;  // all is applied

  [[nodiscard]] Rank rank() const { return static_cast<Rank>(origin); }
  [[nodiscard]] bool is_over_there() const { return !request || FarMessenger::is_over(*request); }
  [[nodiscard]] bool applies() const { return how && !is_refused && applied != message.bytes; }
  [[nodiscard]] std::size_t piece() const {
    return std::min(static_cast<std::size_t>(message.bytes) - applied, how->whole_elements(most_piece_bytes));
  }
  /// Of what comes in order, what is there is applied while the rest is on its way.
  [[nodiscard]] bool has_piece() const {
    return applies() && request->way == Request::Way::stream && request->offset - applied >= piece();
  }
  [[nodiscard]] bool can_go_on() const { return is_over_there() || has_piece(); }
};

FarTarget::FarTarget(FarMessenger& messenger, ScratchPool& memory, Unexposed unexposed, Host& host)
    : messenger_(messenger), host_(host), locks_(messenger.context().size()), memory_(memory), unexposed_(unexposed) {
  for (std::size_t rank = 0; rank < messenger.context().size(); ++rank) members_.emplace_back(static_cast<Rank>(rank));
}

FarTarget::~FarTarget() = default;

/// All of it lies in what is exposed.
bool FarTarget::exposes(ByteRange bytes) const {
  while (!bytes.empty()) {
    const auto after = end_of_.upper_bound(bytes.begin);
    if (after == end_of_.begin()) return false;
    const std::uintptr_t end = std::prev(after)->second;
    if (end <= bytes.begin) return false;
    bytes.begin = end;
  }
  return true;
}

FarTarget::Content FarTarget::read(std::size_t from, std::span<const std::byte> bytes) const {
  const auto refuse = [&](const char* fault) {
    damaged(messenger_.context().peer(static_cast<Rank>(from)), MessageKind::eager, fault);
  };
  Content content;
  FarMessage& message = content.message;
  if (bytes.size() < sizeof message) refuse("is no message of a window");
  std::memcpy(&message, bytes.data(), sizeof message);
  content.place = packed_buffer(reinterpret_cast<std::byte*>(message.address), message.count);
  if (message.layout_bytes > bytes.size() || message.data_bytes > bytes.size() || message.part_bytes() > bytes.size())
    refuse("brings less than it says");
  if (message.layout_bytes != 0) {
    content.place.layout = read_layout(bytes.subspan(sizeof message, message.layout_bytes));
    if (!content.place.layout) refuse("describes no memory");
  }
  std::uint64_t packed = 0;
  if (__builtin_mul_overflow(message.count, content.place.layout->size(), &packed)) refuse("describes no memory");
  content.data = bytes.subspan(sizeof message + FarMessage::aligned(message.layout_bytes), message.data_bytes);
  return content;
}

bool FarTarget::has_work() const {
  return has_news_ || seen_ != messenger_.context().kept ||
         std::any_of(operations_.begin(), operations_.end(), [](const auto& operation) { return operation->can_go_on(); }) ||
         has_arrived();
}

/// A message that was announced has come.
bool FarTarget::has_arrived() const {
  return messenger_.announced() != 0 &&
         std::any_of(members_.begin(), members_.end(), [](const Member& member) { return member.has_arrived(); });
}

bool FarTarget::advance() {
  bool moved = carry_on_operations();
  const bool has_arrivals = std::exchange(seen_, messenger_.context().kept) != messenger_.context().kept;
  if (!std::exchange(has_news_, false) && !has_arrivals && !moved && !has_arrived()) return false;
  for (std::size_t from = 0; from < members_.size(); ++from) moved |= take_in(from);
  return moved;
}

bool FarTarget::take_in(std::size_t from) {
  bool moved = false;
  Member& member = members_[from];
  while (const auto bytes = member.in_order.first(messenger_)) {
    const Content content = read(from, *bytes);
    if (!take(from, content)) break;
    member.in_order.pop(messenger_, content.message.part_bytes());
    moved = true;
  }
  while (const auto bytes = member.at_once.first(messenger_)) {
    take_at_once(from, read(from, *bytes).message);
    member.at_once.pop(messenger_, bytes->size());
    moved = true;
  }
  return moved;
}

bool FarTarget::has_lock(std::size_t from, FarMessage::Lock lock) {
  if (lock == FarMessage::Lock::none) return true;
  return locks_.lock(from, lock == FarMessage::Lock::shared ? LockQueue::Use::shared : LockQueue::Use::exclusive);
}

void FarTarget::unlock(std::size_t from) {
  if (!locks_.unlock(from).empty()) has_news_ = true;
}

void FarTarget::take_at_once(std::size_t from, const FarMessage& message) {
  if (message.kind == FarMessage::Kind::insist) {
    if (locks_.insist(from)) has_news_ = true;
  } else {
    host_.take_at_once(from, message);
  }
}

/// False: it has to wait.
bool FarTarget::take(std::size_t from, const Content& content) {
  using Kind = FarMessage::Kind;
  Member& member = members_[from];
  const FarMessage& message = content.message;
  if (!has_lock(from, message.lock)) return false;
  switch (message.kind) {
    case Kind::accumulate:
    case Kind::compare_and_swap:
      if (member.accumulates != 0) return false;
      [[fallthrough]];
    case Kind::put:
    case Kind::get:
      begin(from, content);
      return true;
    case Kind::flush:
    case Kind::unlock:
    case Kind::arrive:
    case Kind::complete:
      break;
    default:
      damaged(messenger_.context().peer(static_cast<Rank>(from)), MessageKind::eager, "is no message of a window");
  }
  if (member.operations != 0) return false;
  if (message.kind == Kind::unlock) unlock(from);
  if (message.kind == Kind::arrive) ++member.arrivals;
  if (message.kind == Kind::complete) ++member.completed;
  if (message.kind == Kind::flush || message.kind == Kind::unlock) answer(from, message.number);
  messenger_.parts().sleepers.wake();
  return true;
}

void FarTarget::answer(std::size_t to, std::uint64_t number) {
  FarMessage answer;
  answer.kind = FarMessage::Kind::answer;
  answer.number = number;
  answer.is_refused = std::exchange(members_[to].was_refused, false);
  messenger_.send(static_cast<Rank>(to), FarMessage::tag_at_once, std::as_bytes(std::span(&answer, 1)));
}

// --- operations

void FarTarget::begin(std::size_t from, const Content& content) {
  auto operation = std::make_unique<Operation>();
  operation->origin = from;
  operation->message = content.message;
  operation->place = content.place;
  operation->is_refused = content.place.bytes() < content.message.bytes || !exposes(content.place.span());
  if (operation->is_refused && unexposed_ == Unexposed::is_damage)
    damaged(messenger_.context().peer(operation->rank()), MessageKind::eager, "is for memory that is not exposed");
  members_[from].was_refused |= operation->is_refused;
  ++messenger_.parts().statistics.window_operations_served;
  switch (content.message.kind) {
    case FarMessage::Kind::put:
      begin_put(*operation, content);
      break;
    case FarMessage::Kind::get:
      begin_get(*operation);
      break;
    case FarMessage::Kind::accumulate:
      begin_accumulate(*operation, content);
      break;
    default:
      swap(*operation, content);
      break;
  }
  if (carry_on(*operation)) return;
  ++members_[from].operations;
  if (is_accumulate(content.message.kind)) ++members_[from].accumulates;
  operations_.push_back(std::move(operation));
}

/// Where it does not belong to the target's memory as it is, into memory of its own.
void FarTarget::receive_data(Operation& operation) {
  const std::size_t bytes = operation.message.bytes;
  UserBuffer buffer = operation.place;
  if (operation.is_refused || operation.message.kind != FarMessage::Kind::put) {
    operation.operand = memory_.take(bytes);
    buffer = packed_buffer(operation.operand.get(), bytes);
  }
  operation.request = messenger_.receive(operation.rank(), operation.message.given_tag(), buffer);
}

void FarTarget::begin_put(Operation& operation, const Content& content) {
  if (operation.message.data_follows) return receive_data(operation);
  if (!operation.is_refused) LayoutCursor(operation.place).unpack(content.data);
}

void FarTarget::begin_get(Operation& operation) {
  const std::size_t bytes = operation.message.bytes;
  if (operation.is_refused) return give_result(operation, 0);
  if (bytes == operation.place.bytes()) {
    operation.request = messenger_.send(operation.rank(), operation.message.gotten_tag(), operation.place);
    return;
  }
  operation.before = memory_.take(bytes);
  LayoutCursor(operation.place).pack({operation.before.get(), bytes});
  give_result(operation, bytes);
}

void FarTarget::begin_accumulate(Operation& operation, const Content& content) {
  const FarMessage& message = operation.message;
  operation.how = FarOperation::named(message.operation, message.packs_pairs);
  if (!operation.how) damaged(messenger_.context().peer(operation.rank()), MessageKind::eager, "names no operation");
  operation.target.emplace(operation.place);
  if (message.wants_result && !operation.is_refused) operation.before = memory_.take(message.bytes);
  if (message.data_follows) return receive_data(operation);
  if (!operation.how->reads_operand()) return;
  operation.operand = memory_.take(message.bytes);
  if (content.data.size() < message.bytes)
    damaged(messenger_.context().peer(operation.rank()), MessageKind::eager, "lacks its data");
  std::memcpy(operation.operand.get(), content.data.data(), message.bytes);
}

void FarTarget::swap(Operation& operation, const Content& content) {
  const std::size_t bytes = operation.message.bytes;
  if (content.data.size() < 2 * bytes) damaged(messenger_.context().peer(operation.rank()), MessageKind::eager, "lacks its data");
  operation.before = memory_.take(bytes);
  if (operation.is_refused) return give_result(operation, 0);
  LayoutCursor(operation.place).pack({operation.before.get(), bytes});
  if (std::memcmp(operation.before.get(), content.data.data(), bytes) == 0)
    LayoutCursor(operation.place).unpack(content.data.subspan(bytes, bytes));
  give_result(operation, bytes);
}

void FarTarget::give_result(Operation& operation, std::size_t bytes) {
  operation.gives_result = true;
  operation.request =
      messenger_.send(operation.rank(), operation.message.gotten_tag(), packed_buffer(operation.before.get(), bytes));
}

void FarTarget::apply_piece(Operation& operation) {
  const std::size_t piece = operation.piece();
  operation.how->apply(operation.operand ? operation.operand.get() + operation.applied : nullptr, *operation.target, piece,
                       operation.before ? operation.before.get() + operation.applied : nullptr);
  operation.applied += piece;
}

/// True: it is done.
bool FarTarget::carry_on(Operation& operation) {
  if (!operation.can_go_on()) return false;
  const bool is_over_there = operation.is_over_there();
  if (operation.applies()) {
    apply_piece(operation);
    if (!is_over_there || operation.applies()) return false;
  }
  if (operation.request) messenger_.take(std::exchange(operation.request, nullptr));
  if (!operation.message.wants_result || operation.gives_result) return true;
  give_result(operation, operation.is_refused ? 0 : operation.message.bytes);
  if (!operation.is_over_there()) return false;
  messenger_.take(std::exchange(operation.request, nullptr));
  return true;
}

bool FarTarget::carry_on_operations() {
  bool moved = false;
  std::erase_if(operations_, [&](const std::unique_ptr<Operation>& operation) {
    if (!operation->can_go_on()) return false;
    moved = true;
    if (!carry_on(*operation)) return false;
    Member& member = members_[operation->origin];
    --member.operations;
    if (is_accumulate(operation->message.kind)) --member.accumulates;
    return true;
  });
  return moved;
}

}  // namespace sluice
