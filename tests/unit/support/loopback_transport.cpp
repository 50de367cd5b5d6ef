#include "tests/unit/support/loopback_transport.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <stdexcept>

#include "runtime/alias/arena.hpp"

namespace sluice {

namespace {

struct Parcel {
  Peer from{};
  WireHeader header;
  std::vector<std::byte> payload;
  std::uint64_t due = 0;  // number of the receiver's poll that may deliver it
};

std::size_t index(Peer peer) { return static_cast<std::size_t>(peer); }

}  // namespace

/// What the network knows of one process. Everything but the atomics is protected by Shared::queues.
struct Station {
  std::vector<std::deque<Parcel>> from;  // by sender
  std::vector<bool> sender_wants_room;
  std::vector<bool> room_at;  // receivers that have room again for this sender
  std::uint64_t polls = 0;
  bool lost = false;

  std::atomic<WakeMask> wake_mask{WakeMask::none};
  std::condition_variable sleeper;
  bool poked = false;
  std::condition_variable helper;
  bool helper_woken = false;
  std::size_t wakes = 0;
  std::size_t sent_while_away = 0;
  std::atomic<std::size_t> moments{0};

  std::vector<std::atomic<std::uint64_t>> slots;
  std::vector<std::atomic<std::uint64_t>> claims;  // by slot
  std::vector<bool> slot_in_use;
  std::vector<std::atomic<std::uint64_t>> expected;  // bytes of copies, by who expects them
  std::atomic<std::uint64_t> copied{0};
  std::atomic<int> adapter_work{0};

  std::atomic<std::size_t> written{0};
  std::atomic<std::size_t> read{0};
  std::atomic<bool> write_refused{false};
  std::atomic<bool> read_refused{false};
  std::atomic<TargetLines> lines{};  // of the last block that it has read
  std::atomic<SourceLines> source_lines{};
  using BytesByLines = std::array<std::atomic<std::size_t>, 4>;
  BytesByLines written_into{};
  BytesByLines read_into{};  // of blocks
};

struct LoopbackNetwork::Shared {
  Shared(std::size_t size, const LoopbackKnobs& the_knobs) : knobs(the_knobs), stations(size) {
    for (Station& station : stations) {
      station.from.resize(size);
      station.sender_wants_room.resize(size);
      station.room_at.resize(size);
      station.slots = std::vector<std::atomic<std::uint64_t>>(knobs.progress_slots);
      station.claims = std::vector<std::atomic<std::uint64_t>>(knobs.progress_slots);
      station.slot_in_use.resize(knobs.progress_slots);
      station.expected = std::vector<std::atomic<std::uint64_t>>(size);
    }
  }

  /// Called with `queues` held: something of this kind arrived at `station`.
  static void attend(Station& station, EventMask events) {
    const WakeMask level = station.wake_mask.load();
    if (!asks_for(level, events)) return;
    station.wake_mask.store(WakeMask::none);
    station.wakes++;
    if (level == WakeMask::sleeper) {
      station.poked = true;
      station.sleeper.notify_all();
    } else {
      station.helper_woken = true;
      station.helper.notify_all();
    }
  }

  const LoopbackKnobs knobs;
  std::atomic<bool> others_come{false};
  std::atomic<std::uint32_t> line_takes_ns{50};
  std::atomic<std::uint32_t> message_line_takes_ns{50};
  std::mutex queues;
  std::vector<Station> stations;
  std::atomic<Peer> vanished{Peer{-1}};
  LoopbackRegistrations registrations;
};

class LoopbackTransport final : public Transport {
 public:
  LoopbackTransport(LoopbackNetwork::Shared& shared, Peer self)
      : adapter(shared.knobs.adapter, shared.registrations), shared_(shared), self_(self), mine_(shared.stations[index(self)]) {}

  [[nodiscard]] std::size_t max_payload(Peer) const override { return shared_.knobs.max_payload; }

  std::byte* reserve(Peer to, std::size_t payload_bytes) override {
    if (payload_bytes > max_payload(to)) throw std::logic_error("reserve: larger than max_payload");
    if (reserved_) throw std::logic_error("reserve: the one before was not committed");
    const std::lock_guard lock(shared_.queues);
    Station& station = shared_.stations[index(to)];
    if (!station.lost && station.from[index(self_)].size() >= shared_.knobs.room) {
      station.sender_wants_room[index(self_)] = true;
      LoopbackNetwork::Shared::attend(station, EventMask::room);
      return nullptr;
    }
    reserved_ = true;
    outgoing_.resize(std::max<std::size_t>(payload_bytes, 1));
    return outgoing_.data();
  }

  void commit(Peer to, const WireHeader& header) override {
    if (!reserved_) throw std::logic_error("commit without reserve");
    if (header.payload_bytes > outgoing_.size()) throw std::logic_error("commit: more than was reserved");
    reserved_ = false;
    outgoing_.resize(header.payload_bytes);
    const std::lock_guard lock(shared_.queues);
    Station& station = shared_.stations[index(to)];
    if (station.lost) return;
    const std::uint64_t due = station.polls + 1 + shared_.knobs.delay_polls;
    station.from[index(self_)].push_back({self_, header, std::move(outgoing_), due});
    outgoing_.clear();
    if (mine_.wake_mask.load() != WakeMask::none) ++mine_.sent_while_away;
    LoopbackNetwork::Shared::attend(station, events_of(header));
  }

  int poll(MessageSink& sink) override {
    const auto parcels = collect();
    for (const Peer peer : collect_room()) sink.on_room(peer);
    for (const Parcel& parcel : parcels) sink.on_message(parcel.from, parcel.header, parcel.payload);
    return static_cast<int>(parcels.size()) + adapter.poll(sink);
  }

  [[nodiscard]] bool is_at_rest() const override { return adapter.under_way() == 0; }
  [[nodiscard]] bool is_silent() const override {
    const std::lock_guard lock(shared_.queues);
    const auto& room = mine_.room_at;
    return std::all_of(mine_.from.begin(), mine_.from.end(), [](const auto& queue) { return queue.empty(); }) &&
           std::find(room.begin(), room.end(), true) == room.end();
  }
  /// Also true for messages that are still delayed: more polls deliver them, sleep would not.
  [[nodiscard]] bool pending() const override { return adapter.under_way() != 0 || !is_silent(); }

  [[nodiscard]] bool can_write(Peer) const override { return shared_.knobs.can_write && !mine_.write_refused; }
  [[nodiscard]] bool can_read(Peer) const override { return shared_.knobs.can_read && !mine_.read_refused; }

  bool write(Peer peer, std::uint64_t file_offset, std::span<const std::byte> source, TargetLines lines) override {
    if (!can_write(peer) || shared_.vanished == peer) return false;
    if (mine_.written.fetch_add(source.size()) + source.size() > shared_.knobs.write_budget) {
      mine_.written -= source.size();
      mine_.write_refused = true;
      return false;
    }
    std::memcpy(reinterpret_cast<void*>(file_offset), source.data(), source.size());
    mine_.written_into[static_cast<std::size_t>(lines)] += source.size();
    return true;
  }

  [[nodiscard]] bool can_read_blocks(Peer peer) const override { return can_write(peer); }

  bool read_block(Peer peer, std::uint64_t file_offset, std::span<std::byte> target, TargetLines lines,
                  SourceLines source) override {
    mine_.lines = lines;
    mine_.source_lines = source;
    mine_.read_into[static_cast<std::size_t>(lines)] += target.size();
    const AliasArena* blocks = shared_.knobs.blocks;
    const std::uint64_t address = blocks ? reinterpret_cast<std::uint64_t>(blocks->alias(file_offset)) : file_offset;
    return can_read_blocks(peer) && read(peer, address, target) == target.size();
  }

  [[nodiscard]] std::uint32_t line_latency_ns(Peer /*peer*/) override { return shared_.line_takes_ns; }
  [[nodiscard]] std::uint32_t line_latency_before_ns(Peer /*peer*/, std::uint64_t /*end*/) override {
    return shared_.message_line_takes_ns;
  }

  std::size_t read(Peer peer, std::uint64_t peer_address, std::span<std::byte> target) override {
    if (!can_read(peer) || shared_.vanished == peer) return 0;
    const std::size_t before = mine_.read.fetch_add(target.size());
    const std::size_t left = shared_.knobs.read_budget - std::min(before, shared_.knobs.read_budget);
    const std::size_t bytes = std::min(target.size(), left);
    if (bytes < target.size()) {
      mine_.read -= target.size() - bytes;
      mine_.read_refused = !shared_.knobs.stops_at_page;
    }
    std::memcpy(target.data(), reinterpret_cast<const void*>(peer_address), bytes);
    return bytes;
  }

  std::uint32_t open_progress_slot() override {
    for (std::uint32_t slot = 0; slot < shared_.knobs.progress_slots; slot++) {
      if (mine_.slot_in_use[slot]) continue;
      mine_.slot_in_use[slot] = true;
      mine_.slots[slot].store(0);
      return slot;
    }
    return no_slot;
  }

  void close_progress_slot(std::uint32_t slot) override { mine_.slot_in_use.at(slot) = false; }

  [[nodiscard]] std::uint64_t progress(std::uint32_t slot) const override {
    return mine_.slots.at(slot).load(std::memory_order_acquire);
  }

  void report_progress(Peer to, std::uint32_t slot, std::uint64_t bytes) override {
    shared_.stations[index(to)].slots.at(slot).store(bytes, std::memory_order_release);
  }

  std::atomic<std::uint64_t>& claims(std::uint32_t slot) override { return mine_.claims.at(slot); }

  std::atomic<std::uint64_t>* claims_at(Peer peer, std::uint32_t slot) override {
    return slot < shared_.knobs.progress_slots ? &shared_.stations[index(peer)].claims[slot] : nullptr;
  }

  [[nodiscard]] CopyLoad copy_load(Peer peer) const override {
    const Station& station = shared_.stations[index(peer)];
    CopyLoad load{.expected = 0, .made = station.copied};
    for (const auto& expected : station.expected) load.expected += expected;
    return load;
  }
  void expect_copy(Peer by, std::int64_t bytes) override {
    shared_.stations[index(by)].expected[index(self_)] += static_cast<std::uint64_t>(bytes);
  }
  [[nodiscard]] Rdma* loopback(Peer peer) override { return peer != self_ && adapter.usable() ? &adapter : nullptr; }
  void note_adapter_work(int transfers) override { mine_.adapter_work += transfers; }
  [[nodiscard]] std::size_t adapter_work() const override {
    std::size_t transfers = shared_.knobs.adapter.foreign_work;
    for (const Station& station : shared_.stations) transfers += static_cast<std::size_t>(station.adapter_work);
    return transfers;
  }
  void copied(std::size_t bytes) override { mine_.copied += bytes; }
  [[nodiscard]] bool is_attentive(Peer peer) const override {
    const WakeMask level = shared_.stations[index(peer)].wake_mask;
    return level == WakeMask::none || level == WakeMask::sleeper;
  }

  [[nodiscard]] bool is_attentive_soon(Peer peer) const override {
    ++mine_.moments;
    while (shared_.others_come && !is_attentive(peer)) std::this_thread::yield();
    return is_attentive(peer);
  }

  [[nodiscard]] bool is_asleep(Peer peer) const override { return shared_.stations[index(peer)].wake_mask == WakeMask::sleeper; }

  void tell_of_waiting() override {
    const std::lock_guard lock(shared_.queues);
    for (Station& station : shared_.stations) {
      if (station.wake_mask.load() != WakeMask::sleeper) LoopbackNetwork::Shared::attend(station, EventMask::waiting);
    }
  }
  void flush_wakeups() override {}

  void set_wake_mask(WakeMask level) override { mine_.wake_mask.store(level); }

  void sleep(std::chrono::microseconds limit) override {
    std::unique_lock lock(shared_.queues);
    mine_.sleeper.wait_for(lock, limit, [&] { return mine_.poked || mine_.wake_mask.load() != WakeMask::sleeper; });
    mine_.poked = false;
  }

  void poke() override {
    const std::lock_guard lock(shared_.queues);
    mine_.poked = true;
    mine_.wake_mask.store(WakeMask::none);
    mine_.sleeper.notify_all();
  }

  void sleep_helper() override {
    std::unique_lock lock(shared_.queues);
    mine_.helper.wait(lock, [&] { return mine_.helper_woken; });
    mine_.helper_woken = false;
  }

  void wake_helper() override {
    const std::lock_guard lock(shared_.queues);
    mine_.helper_woken = true;
    mine_.helper.notify_all();
  }

  [[nodiscard]] Peer vanished() const override { return shared_.vanished == self_ ? Peer{-1} : shared_.vanished.load(); }

  LoopbackAdapter adapter;

 private:
  /// Takes out what is due, and tells senders that asked for room.
  std::vector<Parcel> collect() {
    std::vector<Parcel> due;
    const std::lock_guard lock(shared_.queues);
    mine_.polls++;
    for (std::size_t sender = 0; sender < mine_.from.size(); sender++) {
      auto& queue = mine_.from[sender];
      for (int n = 0; n < shared_.knobs.messages_per_poll && !queue.empty() && queue.front().due <= mine_.polls; n++) {
        due.push_back(std::move(queue.front()));
        queue.pop_front();
      }
      if (!mine_.sender_wants_room[sender] || queue.size() >= shared_.knobs.room) continue;
      mine_.sender_wants_room[sender] = false;
      shared_.stations[sender].room_at[index(self_)] = true;
      LoopbackNetwork::Shared::attend(shared_.stations[sender], EventMask::room);
    }
    return due;
  }

  std::vector<Peer> collect_room() {
    std::vector<Peer> peers;
    const std::lock_guard lock(shared_.queues);
    for (std::size_t peer = 0; peer < mine_.room_at.size(); peer++) {
      if (!mine_.room_at[peer]) continue;
      mine_.room_at[peer] = false;
      peers.push_back(Peer{static_cast<std::int32_t>(peer)});
    }
    return peers;
  }

  LoopbackNetwork::Shared& shared_;
  const Peer self_;
  Station& mine_;
  std::vector<std::byte> outgoing_;
  bool reserved_ = false;
};

LoopbackNetwork::LoopbackNetwork(std::size_t size, const LoopbackKnobs& knobs) : shared_(std::make_unique<Shared>(size, knobs)) {
  for (std::size_t peer = 0; peer < size; peer++) {
    transports_.push_back(std::make_unique<LoopbackTransport>(*shared_, Peer{static_cast<std::int32_t>(peer)}));
  }
}

LoopbackNetwork::~LoopbackNetwork() = default;

Transport& LoopbackNetwork::transport(Peer peer) { return *transports_.at(index(peer)); }

void LoopbackNetwork::lose(Peer peer) {
  const std::lock_guard lock(shared_->queues);
  shared_->vanished = peer;
  shared_->stations.at(index(peer)).lost = true;
  for (auto& queue : shared_->stations[index(peer)].from) queue.clear();
  for (Station& station : shared_->stations) {
    station.helper_woken = true;
    station.helper.notify_all();
    auto& waiting = shared_->stations[index(peer)].sender_wants_room;
    const auto sender = static_cast<std::size_t>(&station - shared_->stations.data());
    if (waiting[sender]) station.room_at[index(peer)] = true;
    waiting[sender] = false;
  }
}

std::size_t LoopbackNetwork::under_way(Peer to) {
  const std::lock_guard lock(shared_->queues);
  std::size_t messages = 0;
  for (const auto& queue : shared_->stations.at(index(to)).from) messages += queue.size();
  return messages;
}

std::size_t LoopbackNetwork::wakes(Peer peer) {
  const std::lock_guard lock(shared_->queues);
  return shared_->stations.at(index(peer)).wakes;
}

std::size_t LoopbackNetwork::sent_while_away(Peer by) {
  const std::lock_guard lock(shared_->queues);
  return shared_->stations.at(index(by)).sent_while_away;
}

std::uint64_t LoopbackNetwork::polls(Peer of) {
  const std::lock_guard lock(shared_->queues);
  return shared_->stations.at(index(of)).polls;
}

std::size_t LoopbackNetwork::moments(Peer of) { return shared_->stations.at(index(of)).moments; }
void LoopbackNetwork::have_lines_take(std::uint32_t ns, std::uint32_t of_messages_ns) {
  shared_->line_takes_ns = ns;
  shared_->message_line_takes_ns = of_messages_ns;
}
void LoopbackNetwork::have_others_come(bool they_do) { shared_->others_come = they_do; }

std::size_t LoopbackNetwork::bytes_written(Peer by) { return shared_->stations.at(index(by)).written; }
const LoopbackAdapter& LoopbackNetwork::adapter(Peer peer) const { return transports_.at(index(peer))->adapter; }
std::size_t LoopbackNetwork::adapter_work() { return transports_.at(0)->adapter_work() - shared_->knobs.adapter.foreign_work; }
std::size_t LoopbackNetwork::bytes_read(Peer by) { return shared_->stations.at(index(by)).read; }
std::size_t LoopbackNetwork::bytes_written_into(Peer by, TargetLines lines) {
  return shared_->stations.at(index(by)).written_into.at(static_cast<std::size_t>(lines));
}
std::size_t LoopbackNetwork::bytes_read_into(Peer by, TargetLines lines) {
  return shared_->stations.at(index(by)).read_into.at(static_cast<std::size_t>(lines));
}
TargetLines LoopbackNetwork::lines_read_into(Peer by) { return shared_->stations.at(index(by)).lines; }
SourceLines LoopbackNetwork::lines_read_by(Peer by) { return shared_->stations.at(index(by)).source_lines; }

}  // namespace sluice
