#include "tests/unit/support/model_adapter.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <random>
#include <stdexcept>

namespace sluice {
namespace {

using Nanoseconds = ModelWire::Nanoseconds;

/// A transfer is placed in pieces of a page, or in this many if it has more pages.
constexpr std::size_t most_pieces = 64;

std::size_t index(Peer peer) { return static_cast<std::size_t>(peer); }

[[noreturn]] void wrong(const char* what) {
  std::fprintf(stderr, "model of an adapter: %s\n", what);
  std::abort();
}

struct Parcel {
  Peer from{};
  MessageHeader header;
  std::vector<std::byte> payload;
};

struct Registered {
  Peer owner{};
  ByteRange bytes;
};

/// What one process exchanges with one other, in its own direction.
struct Pair {
  std::size_t messages = 0;   // under way
  std::size_t transfers = 0;  // likewise
  std::size_t reads = 0;      // of those
  bool wants_room = false;
  Nanoseconds last_arrival = 0;
};

struct Process {
  std::vector<Pair> to;
  std::deque<Parcel> inbox;
  std::deque<std::uint64_t> completions;
  std::vector<Peer> room_at;
  AdapterCounts counts;
  bool lost = false;

  Attention attention = Attention::none;
  std::condition_variable sleeper;
  bool poked = false;
  std::condition_variable helper;
  bool helper_woken = false;
};

struct Transfer {
  Peer by{};  // whoever posted it
  Peer at{};  // and the other side
  std::uint64_t source = 0;
  std::uint64_t target = 0;
  std::size_t bytes = 0;
  std::uint32_t local_key = 0;
  std::uint32_t remote_key = 0;
  bool is_read = false;
  std::uint64_t token = 0;
};

}  // namespace

struct ModelAdapters::Shared {
  Shared(std::size_t size, const AdapterKnobs& the_knobs) : knobs(the_knobs), processes(size) {
    for (Process& process : processes) process.to.resize(size);
  }

  [[nodiscard]] std::size_t adapter_of(Peer peer) const { return index(peer) / knobs.processes_per_adapter; }
  [[nodiscard]] Nanoseconds duration(std::size_t bytes) const {
    return static_cast<Nanoseconds>(static_cast<double>(bytes) / knobs.bytes_per_ns);
  }
  [[nodiscard]] bool connected(Peer a, Peer b) const { return !processes[index(a)].lost && !processes[index(b)].lost; }

  static void attend(Process& process, bool is_eager) {
    const Attention level = process.attention;
    if (level == Attention::none || (level == Attention::rendezvous && is_eager)) return;
    process.attention = Attention::none;
    if (level == Attention::sleeper) {
      process.poked = true;
      process.sleeper.notify_all();
    } else {
      process.helper_woken = true;
      process.helper.notify_all();
    }
  }

  void check(std::uint32_t key, Peer owner, std::uint64_t address, std::size_t bytes) const {
    const auto found = registered.find(key);
    if (found == registered.end()) wrong("a transfer by a key that is not registered (any more)");
    if (found->second.owner != owner) wrong("a transfer by somebody else's key");
    const ByteRange memory = found->second.bytes;
    if (address < memory.begin || address > memory.end || bytes > memory.end - address)
      wrong("a transfer beyond its registration");
  }

  void give_room(Peer to, Peer at) {
    Process& process = processes[index(to)];
    Pair& pair = process.to[index(at)];
    if (!pair.wants_room) return;
    pair.wants_room = false;
    process.room_at.push_back(at);
    attend(process, false);
  }

  void place(const Transfer& transfer, std::size_t begin, std::size_t end) {
    if (!connected(transfer.by, transfer.at)) return;
    const std::uint64_t local = transfer.is_read ? transfer.target : transfer.source;
    const std::uint64_t remote = transfer.is_read ? transfer.source : transfer.target;
    check(transfer.local_key, transfer.by, local + begin, end - begin);
    check(transfer.remote_key, transfer.at, remote + begin, end - begin);
    auto* const target = reinterpret_cast<std::byte*>(transfer.target);
    const auto* const source = reinterpret_cast<const std::byte*>(transfer.source);
    std::memcpy(target + begin, source + begin, end - begin - 1);
    std::atomic_ref(target[end - 1]).store(source[end - 1], std::memory_order_release);
    if (to_place == AdapterKnobs::unlimited) return;
    if (to_place > end - begin) {
      to_place -= end - begin;
    } else {
      to_place = AdapterKnobs::unlimited;
      wire->hold();
    }
  }

  /// The data leaves at `from`; when the last of it is in place.
  Nanoseconds schedule_pieces(const Transfer& transfer, Nanoseconds from) {
    const std::size_t most = std::max(page_bytes, (transfer.bytes / most_pieces / page_bytes + 1) * page_bytes);
    std::vector<std::size_t> begins;
    const std::uint64_t first_end = (transfer.target / page_bytes + 1) * page_bytes;  // pages of the target, as it may be odd
    for (std::size_t begin = 0; begin < transfer.bytes;) {
      begins.push_back(begin);
      begin = begin == 0 ? std::min<std::size_t>(transfer.bytes, first_end - transfer.target) : begin + most;
    }
    std::vector<std::size_t> order(begins.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    if (knobs.shuffled) std::shuffle(order.begin(), order.end(), random);
    const Nanoseconds all = duration(transfer.bytes);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::size_t piece = order[i];
      const std::size_t end = piece + 1 < begins.size() ? begins[piece + 1] : transfer.bytes;
      wire->at(from + knobs.latency + all * (i + 1) / order.size(),
               [this, transfer, begin = begins[piece], end] { place(transfer, begin, end); });
    }
    return from + knobs.latency + all;
  }

  void complete(const Transfer& transfer) {
    if (!connected(transfer.by, transfer.at)) return;
    Process& by = processes[index(transfer.by)];
    Pair& pair = by.to[index(transfer.at)];
    --pair.transfers;
    pair.reads -= transfer.is_read ? 1 : 0;
    give_room(transfer.by, transfer.at);
    if (transfer.token == 0) return;
    ++by.counts.notifications;
    by.completions.push_back(transfer.token);
    attend(by, false);
  }

  bool post(const Transfer& transfer) {
    Process& by = processes[index(transfer.by)];
    Pair& pair = by.to[index(transfer.at)];
    if (pair.transfers >= knobs.queue_depth) {
      pair.wants_room = true;
      return false;
    }
    if (transfer.bytes == 0 || transfer.bytes > knobs.largest_transfer) wrong("a transfer of a size that cannot be posted");
    check(transfer.local_key, transfer.by, transfer.is_read ? transfer.target : transfer.source, transfer.bytes);
    ++pair.transfers;
    ++(transfer.is_read ? by.counts.reads : by.counts.writes);
    if (transfer.is_read) {
      by.counts.most_reads = std::max(by.counts.most_reads, ++pair.reads);
      const Nanoseconds asked = wire->occupy(adapter_of(transfer.by), knobs.per_message) + knobs.per_message;
      wire->at(asked + knobs.latency, [this, transfer] {
        const Nanoseconds from = wire->occupy(adapter_of(transfer.at), duration(transfer.bytes));
        wire->at(schedule_pieces(transfer, from) + knobs.notification, [this, transfer] { complete(transfer); });
      });
    } else {
      const Nanoseconds from = wire->occupy(adapter_of(transfer.by), duration(transfer.bytes));
      const Nanoseconds placed = schedule_pieces(transfer, from);
      pair.last_arrival = std::max(pair.last_arrival, placed);
      wire->at(placed + knobs.latency + knobs.notification, [this, transfer] { complete(transfer); });
    }
    return true;
  }

  void send(Peer from, Peer to, const MessageHeader& header, std::vector<std::byte> payload) {
    Pair& pair = processes[index(from)].to[index(to)];
    ++processes[index(from)].counts.messages[static_cast<std::size_t>(header.kind)];
    ++pair.messages;
    const Nanoseconds busy = knobs.per_message + duration(payload.size());
    pair.last_arrival = std::max(pair.last_arrival, wire->occupy(adapter_of(from), busy) + busy + knobs.latency);
    wire->at(pair.last_arrival, [this, to, parcel = Parcel{from, header, std::move(payload)}] {
      Process& target = processes[index(to)];
      if (!connected(parcel.from, to)) return;
      target.inbox.push_back(parcel);
      attend(target, parcel.header.kind == MessageKind::eager);
    });
  }

  const AdapterKnobs knobs;
  std::vector<Process> processes;
  std::map<std::uint32_t, Registered> registered;  // by key
  std::uint32_t last_key = 0;
  std::mt19937 random{1};
  ModelWire* wire = nullptr;
  std::atomic<Peer> vanished{Peer{-1}};
  bool helpers_may_run = true;
  std::size_t to_place = AdapterKnobs::unlimited;  // bytes, before everything is held
};

class ModelTransport final : public Transport, public Rdma {
 public:
  ModelTransport(ModelAdapters::Shared& shared, Peer self) : shared_(shared), self_(self), mine_(shared.processes[index(self)]) {}

  [[nodiscard]] std::size_t max_payload() const override { return shared_.knobs.max_payload; }

  std::byte* reserve(Peer to, std::size_t payload_bytes) override {
    if (payload_bytes > max_payload() || reserved_) throw std::logic_error("reserve");
    const std::lock_guard lock(shared_.wire->mutex);
    Pair& pair = mine_.to[index(to)];
    if (pair.messages >= shared_.knobs.room) {
      pair.wants_room = true;
      return nullptr;
    }
    reserved_ = true;
    outgoing_.resize(std::max<std::size_t>(payload_bytes, 1));
    return outgoing_.data();
  }

  void commit(Peer to, const MessageHeader& header) override {
    if (!reserved_ || header.payload_bytes > outgoing_.size()) throw std::logic_error("commit");
    reserved_ = false;
    outgoing_.resize(header.payload_bytes);
    const std::lock_guard lock(shared_.wire->mutex);
    shared_.send(self_, to, header, std::move(outgoing_));
    outgoing_.clear();
  }

  int poll(MessageSink& sink) override {
    std::deque<Parcel> parcels;
    std::deque<std::uint64_t> completions;
    std::vector<Peer> room;
    {
      const std::lock_guard lock(shared_.wire->mutex);
      parcels.swap(mine_.inbox);
      completions.swap(mine_.completions);
      for (const Parcel& parcel : parcels) {
        --shared_.processes[index(parcel.from)].to[index(self_)].messages;
        shared_.give_room(parcel.from, self_);
      }
      room.swap(mine_.room_at);
    }
    for (const Peer peer : room) sink.on_room(peer);
    for (const std::uint64_t token : completions) sink.on_transferred(token);
    for (const Parcel& parcel : parcels) sink.on_message(parcel.from, parcel.header, parcel.payload);
    return static_cast<int>(parcels.size() + completions.size());
  }

  [[nodiscard]] bool pending() const override {
    const std::lock_guard lock(shared_.wire->mutex);
    return !mine_.inbox.empty() || !mine_.completions.empty() || !mine_.room_at.empty();
  }

  [[nodiscard]] bool can_write(Peer) const override { return false; }
  [[nodiscard]] bool can_read_blocks(Peer) const override { return false; }
  [[nodiscard]] bool can_read(Peer) const override { return false; }
  bool write(Peer, std::uint64_t, std::span<const std::byte>) override { return false; }
  bool read_block(Peer, std::uint64_t, std::span<std::byte>) override { return false; }
  std::size_t read(Peer, std::uint64_t, std::span<std::byte>) override { return 0; }

  [[nodiscard]] Rdma* rdma(Peer) override { return this; }

  bool register_memory(ByteRange bytes, Registration& registration) override {
    const std::lock_guard lock(shared_.wire->mutex);
    const auto& refused = shared_.knobs.refused_processes;
    if (mine_.counts.registered >= shared_.knobs.registrations ||
        std::find(refused.begin(), refused.end(), index(self_)) != refused.end()) {
      errno = ENOMEM;
      return false;
    }
    ++mine_.counts.registrations;
    ++mine_.counts.registered;
    const std::uint32_t key = ++shared_.last_key;
    shared_.registered[key] = {self_, bytes};
    registration = {.bytes = bytes, .local_key = key, .remote_key = key};
    return true;
  }

  void deregister(const Registration& registration) override {
    const std::lock_guard lock(shared_.wire->mutex);
    if (shared_.registered.erase(registration.local_key) != 1) wrong("deregistered twice");
    --mine_.counts.registered;
  }

  bool write(Peer peer, std::span<const std::byte> local, std::uint32_t local_key, RemoteMemory remote,
             std::uint64_t token) override {
    const std::lock_guard lock(shared_.wire->mutex);
    return shared_.post({.by = self_,
                         .at = peer,
                         .source = reinterpret_cast<std::uint64_t>(local.data()),
                         .target = remote.address,
                         .bytes = local.size(),
                         .local_key = local_key,
                         .remote_key = remote.key,
                         .token = token});
  }

  bool read(Peer peer, std::span<std::byte> local, std::uint32_t local_key, RemoteMemory remote, std::uint64_t token) override {
    const std::lock_guard lock(shared_.wire->mutex);
    return shared_.post({.by = self_,
                         .at = peer,
                         .source = remote.address,
                         .target = reinterpret_cast<std::uint64_t>(local.data()),
                         .bytes = local.size(),
                         .local_key = local_key,
                         .remote_key = remote.key,
                         .is_read = true,
                         .token = token});
  }

  [[nodiscard]] bool places_in_order() const override { return !shared_.knobs.shuffled; }
  [[nodiscard]] std::size_t largest_transfer() const override { return shared_.knobs.largest_transfer; }

  std::uint32_t open_progress_slot() override { return no_slot; }
  void close_progress_slot(std::uint32_t) override {}
  [[nodiscard]] std::uint64_t progress(std::uint32_t) const override { return 0; }
  void report_progress(Peer, std::uint32_t, std::uint64_t) override {}
  std::atomic<std::uint64_t>& claims(std::uint32_t) override { wrong("there are no progress slots"); }
  std::atomic<std::uint64_t>* claims_at(Peer, std::uint32_t) override { return nullptr; }
  void flush_alerts() override {}

  void set_attention(Attention level) override {
    const std::lock_guard lock(shared_.wire->mutex);
    mine_.attention = level;
  }

  void sleep(std::chrono::microseconds limit) override {
    std::unique_lock lock(shared_.wire->mutex);
    mine_.sleeper.wait_for(lock, limit, [&] { return mine_.poked || mine_.attention != Attention::sleeper; });
    mine_.poked = false;
  }

  void poke() override {
    const std::lock_guard lock(shared_.wire->mutex);
    mine_.poked = true;
    mine_.attention = Attention::none;
    mine_.sleeper.notify_all();
  }

  void sleep_helper() override {
    std::unique_lock lock(shared_.wire->mutex);
    mine_.helper.wait(lock, [&] { return mine_.helper_woken && shared_.helpers_may_run; });
    mine_.helper_woken = false;
  }

  void wake_helper() override {
    const std::lock_guard lock(shared_.wire->mutex);
    mine_.helper_woken = true;
    mine_.helper.notify_all();
  }

  [[nodiscard]] Peer vanished() const override { return shared_.vanished == self_ ? Peer{-1} : shared_.vanished.load(); }

 private:
  ModelAdapters::Shared& shared_;
  const Peer self_;
  Process& mine_;
  std::vector<std::byte> outgoing_;
  bool reserved_ = false;
};

ModelAdapters::ModelAdapters(std::size_t size, const AdapterKnobs& knobs)
    : shared_(std::make_unique<Shared>(size, knobs)),
      wire_(std::make_unique<ModelWire>(size / knobs.processes_per_adapter + 1, knobs.by_hand, knobs.pace)) {
  shared_->wire = wire_.get();
  shared_->helpers_may_run = !knobs.by_hand;
  for (std::size_t peer = 0; peer < size; ++peer) {
    transports_.push_back(std::make_unique<ModelTransport>(*shared_, static_cast<Peer>(peer)));
  }
}

ModelAdapters::~ModelAdapters() = default;

Transport& ModelAdapters::transport(Peer peer) { return *transports_.at(index(peer)); }

AdapterCounts ModelAdapters::counts(Peer peer) {
  const std::lock_guard lock(wire_->mutex);
  return shared_->processes.at(index(peer)).counts;
}

void ModelAdapters::forget_counts() {
  const std::lock_guard lock(wire_->mutex);
  for (Process& process : shared_->processes) process.counts = {.registered = process.counts.registered};
}

void ModelAdapters::lose(Peer peer) {
  const std::lock_guard lock(wire_->mutex);
  shared_->vanished = peer;
  shared_->processes.at(index(peer)).lost = true;
  for (Process& process : shared_->processes) {
    process.helper_woken = true;
    process.helper.notify_all();
  }
}

void ModelAdapters::hold_after(std::size_t bytes) {
  const std::lock_guard lock(wire_->mutex);
  shared_->to_place = bytes;
}

void ModelAdapters::go_on() {
  {
    const std::lock_guard lock(wire_->mutex);
    shared_->to_place = AdapterKnobs::unlimited;
  }
  wire_->go_on();
}

void ModelAdapters::let_helpers_go() {
  const std::lock_guard lock(wire_->mutex);
  shared_->helpers_may_run = true;
  for (Process& process : shared_->processes) process.helper.notify_all();
}

}  // namespace sluice
