#include "tests/unit/support/model_adapter.hpp"

#include <algorithm>
#include <cerrno>
#include <stdexcept>

#include "runtime/transport/transport.hpp"
#include "tests/unit/support/model_network.hpp"

namespace sluice {

using model::index;
using model::Pair;
using model::Parcel;
using model::Process;
using model::wrong;

struct ModelAdapters::Shared : model::Network {
  using Network::Network;
};

class ModelTransport final : public Transport, public Rdma {
 public:
  ModelTransport(ModelAdapters::Shared& shared, Peer self) : shared_(shared), self_(self), mine_(shared.processes[index(self)]) {}

  [[nodiscard]] std::size_t max_payload(Peer) const override { return shared_.knobs.max_payload; }

  std::byte* reserve(Peer to, std::size_t payload_bytes) override {
    if (payload_bytes > max_payload(to) || reserved_) throw std::logic_error("reserve");
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

  void commit(Peer to, const WireHeader& header) override {
    if (!reserved_ || header.payload_bytes > outgoing_.size()) throw std::logic_error("commit");
    reserved_ = false;
    outgoing_.resize(header.payload_bytes);
    const std::lock_guard lock(shared_.wire->mutex);
    shared_.send(self_, to, header, std::move(outgoing_));
    outgoing_.clear();
  }

  int poll(MessageSink& sink) override {
    if (!pending()) return 0;
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

  [[nodiscard]] Rdma* rdma(Peer) override { return this; }
  void note_adapter_work(int transfers) override {
    const std::lock_guard lock(shared_.wire->mutex);
    mine_.counts.told_work += transfers;
  }

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

  using NodeMemory::read;
  using NodeMemory::write;
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

  bool send_sge(Peer to, const WireHeader& header, std::span<const std::byte> payload, std::uint32_t local_key,
                std::uint64_t token) override {
    if (payload.size() > max_payload(to) || payload.size() != header.payload_bytes) throw std::logic_error("send_sge");
    const std::lock_guard lock(shared_.wire->mutex);
    if (mine_.to[index(to)].messages >= shared_.knobs.room) return false;
    shared_.send_sge(self_, to, header, payload, local_key, token);
    return true;
  }

  /// By itself: that of the machine.
  [[nodiscard]] std::uint64_t time_ns() const override {
    if (!shared_.knobs.by_hand) return Rdma::time_ns();
    const std::lock_guard lock(shared_.wire->mutex);
    return shared_.wire->now();
  }
  [[nodiscard]] bool places_in_order() const override { return !shared_.knobs.shuffled; }
  [[nodiscard]] std::size_t largest_transfer() const override { return shared_.knobs.largest_transfer; }

  void flush_wakeups() override {}

  void set_wake_mask(WakeMask level) override {
    const std::lock_guard lock(shared_.wire->mutex);
    mine_.wake_mask = level;
  }

  void sleep(std::chrono::microseconds limit) override {
    std::unique_lock lock(shared_.wire->mutex);
    mine_.sleeper.wait_for(lock, limit, [&] { return mine_.poked || mine_.wake_mask != WakeMask::sleeper; });
    mine_.poked = false;
  }

  void poke() override {
    const std::lock_guard lock(shared_.wire->mutex);
    mine_.poked = true;
    mine_.wake_mask = WakeMask::none;
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
    if (shared_.helpers_may_run) mine_.helper.notify_all();
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
      wire_(std::make_unique<ModelWire>(size / knobs.processes_per_adapter + 1 + size, knobs.by_hand, knobs.pace)) {
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
  for (Process& process : shared_->processes)
    process.counts = {.registered = process.counts.registered, .read_bytes = process.counts.read_bytes};
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

void ModelAdapters::remind_at(AdapterKnobs::Nanoseconds time) {
  const std::lock_guard lock(wire_->mutex);
  wire_->at(time, [] {});
}

void ModelAdapters::let_helpers_go() {
  const std::lock_guard lock(wire_->mutex);
  shared_->helpers_may_run = true;
  for (Process& process : shared_->processes) process.helper.notify_all();
}

}  // namespace sluice
