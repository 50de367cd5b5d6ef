#include "script.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "prng.hpp"

namespace random_program {

namespace {

constexpr std::size_t event_count = 64;
constexpr std::size_t byte_budget = std::size_t{20} << 20;  // of one script, all messages together
constexpr int tags_per_lane = 10000;
constexpr int first_unique_tag = 100;

class ScriptWriter {
 public:
  explicit ScriptWriter(const ScriptOptions& options)
      : options_(options),
        random_(combine(combine(options.seed, static_cast<std::uint64_t>(options.lane)), 0x5eed)),
        buffered_bytes_(static_cast<std::size_t>(options.ranks)),
        buffered_messages_(static_cast<std::size_t>(options.ranks)) {}

  Script write();

 private:
  Event write_event(EventKind kind);
  EventKind choose_kind();
  std::size_t choose_communicator(int min_members);
  void choose_communicators();

  Transfer make_transfer(std::size_t communicator, int source, int destination);
  void choose_size(Transfer& transfer, std::size_t max_bytes);
  LayoutSpec choose_layout(const Transfer& transfer);
  void choose_calls(Transfer& transfer);
  void choose_selectors(Transfer& transfer);
  int ordinary_tag() { return tag_base() + random_.rank_below(4); }
  int unique_tag() { return tag_base() + first_unique_tag + unique_tags_++; }
  [[nodiscard]] int tag_base() const { return options_.lane * tags_per_lane; }
  std::vector<int> some_group(std::size_t communicator, int min_members);

  void write_transfer(Event& event);
  void write_to_self(Event& event);
  void write_shift(Event& event);
  void write_chain(Event& event);
  void write_overwrite(Event& event);
  void write_ready(Event& event);
  void write_repeat(Event& event);
  void write_handed_on(Event& event);
  void write_wild(Event& event);
  void write_collective(Event& event);
  void write_call(Event& event);

  ScriptOptions options_;
  Random random_;
  Script script_;
  std::size_t bytes_left_ = byte_budget;
  std::vector<std::size_t> buffered_bytes_;
  std::vector<std::size_t> buffered_messages_;
  int unique_tags_ = 0;
  bool has_huge_message_ = false;
};

Script ScriptWriter::write() {
  choose_communicators();
  for (std::size_t i = 0; i < event_count; ++i) script_.events.push_back(write_event(choose_kind()));
  script_.events.push_back(write_event(EventKind::quiesce));
  return std::move(script_);
}

void ScriptWriter::choose_communicators() {
  using Kind = CommunicatorShape::Kind;
  script_.communicators.push_back(CommunicatorShape::make(Kind::all, options_.ranks));
  if (options_.shared_communicator) return;
  for (const Kind kind : {Kind::reversed, Kind::parity, Kind::pairs, Kind::shifted, Kind::grid, Kind::alone, Kind::all}) {
    if (random_.chance(40)) script_.communicators.push_back(CommunicatorShape::make(kind, options_.ranks));
  }
}

EventKind ScriptWriter::choose_kind() {
  using enum EventKind;
  static constexpr std::array point_to_point{transfer,  transfer, transfer, transfer,  transfer, transfer,  transfer,  transfer,
                                             transfer,  to_self,  shift,    shift,     chain,    overwrite, handed_on, handed_on,
                                             handed_on, ready,    repeat,   cancelled, quiesce,  wild};
  static constexpr std::array collective{barrier, broadcast, relay_broadcast, sum, start_barrier, start_broadcast, start_sum};
  if (!options_.shared_communicator && random_.chance(18)) return call;
  if (!options_.shared_communicator && random_.chance(10)) return random_.pick<EventKind>(collective);
  return random_.pick<EventKind>(point_to_point);
}

/// A communicator in which some group has `min_members`; the first one when chance finds none.
std::size_t ScriptWriter::choose_communicator(int min_members) {
  for (int attempt = 0; attempt < 8; ++attempt) {
    const std::size_t index = random_.below(script_.communicators.size());
    for (int rank = 0; rank < options_.ranks; ++rank) {
      if (std::ssize(script_.communicators[index].members(rank)) >= min_members) return index;
    }
  }
  return 0;
}

std::vector<int> ScriptWriter::some_group(std::size_t communicator, int min_members) {
  for (;;) {
    auto members = script_.communicators[communicator].members(random_.rank_below(options_.ranks));
    if (std::ssize(members) < min_members) continue;
    random_.shuffle(members);
    return members;
  }
}

Event ScriptWriter::write_event(EventKind kind) {
  using enum EventKind;
  static constexpr std::array<unsigned, 8> delays_us{0, 0, 0, 0, 20, 100, 300, 1500};
  Event event;
  event.kind = options_.ranks == 1 && kind < cancelled ? to_self : kind;
  event.sender_delay_us = random_.pick<unsigned>(delays_us);
  event.receiver_delay_us = random_.pick<unsigned>(delays_us);
  switch (event.kind) {
    case transfer:
      write_transfer(event);
      break;
    case to_self:
      write_to_self(event);
      break;
    case shift:
      write_shift(event);
      break;
    case chain:
      write_chain(event);
      break;
    case overwrite:
      write_overwrite(event);
      break;
    case ready:
      write_ready(event);
      break;
    case repeat:
      write_repeat(event);
      break;
    case handed_on:
      write_handed_on(event);
      break;
    case wild:
      write_wild(event);
      break;
    case cancelled:
      write_to_self(event);
      break;
    case quiesce:
      break;
    case call:
      write_call(event);
      break;
    default:
      write_collective(event);
      break;
  }
  return event;
}

Transfer ScriptWriter::make_transfer(std::size_t communicator, int source, int destination) {
  static constexpr std::array bases{Base::byte, Base::byte, Base::int32, Base::int16, Base::float64, Base::float64, Base::record};
  Transfer transfer;
  transfer.source = source;
  transfer.destination = destination;
  transfer.communicator = communicator;
  transfer.tag = ordinary_tag();
  transfer.base = random_.pick<Base>(bases);
  transfer.key = random_.next();
  choose_size(transfer, std::size_t{8} << 20);
  return transfer;
}

/// Sizes from nothing to 8 MB, many small, few large, some next to a power of two; then layouts that fit the size.
void ScriptWriter::choose_size(Transfer& transfer, std::size_t max_bytes) {
  static constexpr std::array<std::size_t, 20> bounds{0,      0,      64,     64,     64,      1024,   1024,
                                                      1024,   4096,   16384,  16384,  65536,   65536,  131072,
                                                      131072, 262144, 262144, 524288, 1048576, 8388608};
  std::size_t bound = std::min(random_.pick<std::size_t>(bounds), max_bytes);
  if (bound == 8388608 && has_huge_message_) bound = 65536;
  std::size_t bytes = bound < 4096 ? random_.below(bound + 1) : random_.between(bound / 4, bound);
  if (bytes > 64 && random_.chance(20)) bytes = std::size_t{1} << random_.between(6, 17);
  bytes = std::min({bytes, bytes_left_ / 4, max_bytes});
  has_huge_message_ = has_huge_message_ || bound == 8388608;

  const std::size_t unit = packed_bytes(transfer.base);
  transfer.units = bytes / unit;
  if (transfer.units > 0 && random_.chance(15)) transfer.units += random_.below(3);
  transfer.send_layout = choose_layout(transfer);
  transfer.receive_layout = choose_layout(transfer);
  const std::size_t element = transfer.send_layout.units_per_element;
  transfer.units = (transfer.units + element - 1) / element * element;
  transfer.capacity_units = transfer.units;
  if (random_.chance(25)) transfer.capacity_units += random_.below(transfer.units / 4 + 16);
  bytes_left_ -= std::min(bytes_left_, transfer.bytes());
}

LayoutSpec ScriptWriter::choose_layout(const Transfer& transfer) {
  static constexpr std::array<std::size_t, 7> elements{1, 2, 3, 5, 8, 16, 64};
  LayoutSpec layout;
  layout.seed = random_.next();
  layout.from_bottom = random_.chance(5);
  if (random_.chance(45)) return layout;
  layout.kind = static_cast<LayoutKind>(random_.below(std::size_t{static_cast<std::size_t>(LayoutKind::resized)} + 1));
  if (layout.kind == LayoutKind::plain) return layout;
  layout.units_per_element = transfer.units > 16384 ? 512 : random_.pick<std::size_t>(elements);
  return layout;
}

void ScriptWriter::choose_calls(Transfer& transfer) {
  transfer.send_call = static_cast<SendCall>(random_.below(static_cast<std::size_t>(SendCall::sendrecv_to_null) + 1));
  transfer.receive_call = static_cast<ReceiveCall>(random_.below(static_cast<std::size_t>(ReceiveCall::sendrecv_from_null) + 1));
  if (random_.chance(30)) transfer.receive_call = ReceiveCall::recv;
  const bool buffered = transfer.send_call == SendCall::bsend || transfer.send_call == SendCall::ibsend ||
                        transfer.send_call == SendCall::bsend_init;
  if (buffered) {
    auto& bytes = buffered_bytes_[static_cast<std::size_t>(transfer.source)];
    auto& messages = buffered_messages_[static_cast<std::size_t>(transfer.source)];
    if (bytes + transfer.bytes() > buffered_limit_bytes || messages == buffered_limit_messages) {
      transfer.send_call = SendCall::isend;
    } else {
      bytes += transfer.bytes();
      ++messages;
    }
  }
  if (transfer.send_call == SendCall::isend_then_free && transfer.bytes() > 262144) transfer.send_call = SendCall::send;
}

void ScriptWriter::choose_selectors(Transfer& transfer) {
  transfer.any_tag = !options_.shared_communicator && random_.chance(20);
  if (!random_.chance(20)) return;
  transfer.any_source = true;
  transfer.any_tag = false;
  transfer.tag = unique_tag();
}

void ScriptWriter::write_transfer(Event& event) {
  event.communicator = choose_communicator(2);
  const auto group = some_group(event.communicator, 2);
  auto transfer = make_transfer(event.communicator, group[0], group[1]);
  choose_calls(transfer);
  choose_selectors(transfer);
  event.transfers.push_back(transfer);
}

void ScriptWriter::write_to_self(Event& event) {
  event.communicator = choose_communicator(1);
  const auto group = some_group(event.communicator, 1);
  auto transfer = make_transfer(event.communicator, group[0], group[0]);
  if (event.kind == EventKind::cancelled) transfer.tag = unique_tag();
  event.transfers.push_back(transfer);
}

void ScriptWriter::write_shift(Event& event) {
  event.communicator = choose_communicator(2);
  const auto group = some_group(event.communicator, 2);
  const auto model = make_transfer(event.communicator, group[0], group[1]);
  for (std::size_t i = 0; i < group.size(); ++i) {
    auto transfer = model;
    transfer.source = group[i];
    transfer.destination = group[(i + 1) % group.size()];
    transfer.key = random_.next();
    transfer.capacity_units = transfer.units;
    transfer.receive_layout = transfer.send_layout;  // as Sendrecv_replace asks for
    event.transfers.push_back(transfer);
  }
}

void ScriptWriter::write_chain(Event& event) {
  event.communicator = choose_communicator(2);
  const auto group = some_group(event.communicator, 2);
  auto transfer = make_transfer(event.communicator, group[0], group[1]);
  transfer.capacity_units = transfer.units;
  transfer.receive_layout = transfer.send_layout;
  const std::size_t hops = random_.between(2, 4);
  for (std::size_t hop = 0; hop < hops; ++hop) {
    transfer.source = group[hop % group.size()];
    transfer.destination = group[(hop + 1) % group.size()];
    choose_calls(transfer);
    transfer.send_call = random_.chance(50) ? SendCall::send : SendCall::isend;
    event.transfers.push_back(transfer);
  }
}

void ScriptWriter::write_overwrite(Event& event) {
  event.communicator = choose_communicator(2);
  const auto group = some_group(event.communicator, 2);
  auto first = make_transfer(event.communicator, group[0], group[1]);
  first.base = Base::byte;
  first.send_layout = first.receive_layout = LayoutSpec{};
  auto second = first;
  second.key = random_.next();
  second.units = random_.chance(50) ? first.units : random_.below(first.units + 1);
  if (group.size() > 2 && random_.chance(50)) second.source = group[2];
  event.transfers = {first, second};
}

void ScriptWriter::write_ready(Event& event) {
  write_transfer(event);
  event.transfers[0].any_source = false;
}

void ScriptWriter::write_repeat(Event& event) {
  event.communicator = choose_communicator(2);
  const auto group = some_group(event.communicator, 2);
  auto transfer = make_transfer(event.communicator, group[0], group[1]);
  const std::size_t rounds = random_.between(2, 5);
  for (std::size_t round = 0; round < rounds; ++round) {
    transfer.key = random_.next();
    event.transfers.push_back(transfer);
  }
}

/// Late enough, and large enough, for the receive to be released most of the time.
void ScriptWriter::write_handed_on(Event& event) {
  static constexpr std::array<std::size_t, 5> bounds{65536, 131072, 262144, 524288, 4194304};
  event.communicator = choose_communicator(2);
  const auto group = some_group(event.communicator, 2);
  auto transfer = make_transfer(event.communicator, group[0], group[1]);
  if (transfer.bytes() < 16384) {
    const std::size_t bound = std::min(random_.pick<std::size_t>(bounds), std::max<std::size_t>(bytes_left_ / 4, 32768));
    transfer.send_layout = transfer.receive_layout = LayoutSpec{};
    transfer.units = transfer.capacity_units = random_.between(bound / 4, bound) / packed_bytes(transfer.base);
    bytes_left_ -= std::min(bytes_left_, transfer.bytes());
  }
  choose_calls(transfer);
  event.sender_delay_us = static_cast<unsigned>(random_.between(500, 2500));
  event.receiver_delay_us = 0;
  event.transfers.push_back(transfer);
}

/// The destination stands in the last of the transfers as well as in all others; sources are every other member.
void ScriptWriter::write_wild(Event& event) {
  event.communicator = choose_communicator(2);
  const auto group = some_group(event.communicator, 2);
  event.any_tag = !options_.shared_communicator && random_.chance(50);
  auto model = make_transfer(event.communicator, group[1], group[0]);
  model.send_layout = model.receive_layout = LayoutSpec{};
  model.tag = unique_tag();
  const std::size_t max_units = model.units;
  const std::size_t messages = random_.between(1, 4) * (group.size() - 1);
  for (std::size_t i = 0; i < messages; ++i) {
    auto transfer = model;
    transfer.source = group[1 + random_.below(group.size() - 1)];
    transfer.units = random_.below(max_units + 1);
    transfer.capacity_units = max_units;
    transfer.key = random_.next();
    if (event.any_tag) transfer.tag = ordinary_tag();
    choose_calls(transfer);
    event.transfers.push_back(transfer);
  }
}

void ScriptWriter::write_collective(Event& event) {
  event.communicator = choose_communicator(1);
  // One transfer per group of the communicator: who is the root, and what is broadcast or summed.
  for (int rank = 0; rank < options_.ranks; ++rank) {
    const auto members = script_.communicators[event.communicator].members(rank);
    if (*std::min_element(members.begin(), members.end()) != rank) continue;
    const int root = members[random_.below(members.size())];
    const int giver = members[random_.below(members.size())];
    auto transfer = make_transfer(event.communicator, giver, root);
    transfer.send_layout = transfer.receive_layout = LayoutSpec{};
    transfer.capacity_units = transfer.units;
    event.transfers.push_back(transfer);
  }
}

void ScriptWriter::write_call(Event& event) {
  event.communicator = choose_communicator(1);
  event.call = Collective::make(random_, static_cast<std::size_t>(options_.ranks), bytes_left_ / 4);
  const std::size_t bytes = event.call.max_units * packed_bytes(event.call.base) * static_cast<std::size_t>(options_.ranks);
  bytes_left_ -= std::min(bytes_left_, bytes);
}

}  // namespace

std::size_t packed_bytes(Base base) {
  static constexpr std::array<std::size_t, 5> bytes{1, 2, 4, 8, 16};
  return bytes[static_cast<std::size_t>(base)];
}

int CommunicatorShape::color_of(Kind kind, int rank) {
  switch (kind) {
    case Kind::parity:
      return rank % 2;
    case Kind::pairs:
      return rank / 2;
    case Kind::shifted:
      return (rank + 1) / 2;
    case Kind::alone:
      return rank;
    default:
      return 0;
  }
}

CommunicatorShape CommunicatorShape::make(Kind kind, int ranks) {
  CommunicatorShape shape{kind, {}, {}};
  for (int rank = 0; rank < ranks; ++rank) {
    shape.color.push_back(color_of(kind, rank));
    shape.local.push_back(kind == Kind::reversed  ? ranks - 1 - rank
                          : kind == Kind::parity  ? rank / 2
                          : kind == Kind::pairs   ? rank % 2
                          : kind == Kind::shifted ? (rank == 0 ? 0 : (rank + 1) % 2)
                          : kind == Kind::alone   ? 0
                                                  : rank);
  }
  return shape;
}

std::vector<int> CommunicatorShape::members(int world_rank) const {
  std::vector<int> members;
  const int mine = color[static_cast<std::size_t>(world_rank)];
  for (int rank = 0; rank < std::ssize(color); ++rank) {
    if (color[static_cast<std::size_t>(rank)] == mine) members.push_back(rank);
  }
  std::ranges::sort(members, {}, [this](int rank) { return local[static_cast<std::size_t>(rank)]; });
  return members;
}

Script make_script(const ScriptOptions& options) { return ScriptWriter(options).write(); }

const char* describe(EventKind kind) {
  static constexpr std::array names{"transfer",        "to_self",   "shift",         "chain",           "overwrite", "ready",
                                    "repeat",          "handed_on", "wild",          "cancelled",       "barrier",   "broadcast",
                                    "relay_broadcast", "sum",       "start_barrier", "start_broadcast", "start_sum", "call",
                                    "quiesce"};
  return names[static_cast<std::size_t>(kind)];
}

}  // namespace random_program
