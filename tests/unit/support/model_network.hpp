// What lies between the transports of the model of an adapter: processes, what is registered, and what is on its way.
//
// Everything here belongs to the wire's mutex.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <random>

#include "tests/unit/support/model_adapter.hpp"

namespace sluice::model {

using Nanoseconds = ModelWire::Nanoseconds;

/// A transfer is placed in segments of a page, or in this many if it has more pages.
inline constexpr std::size_t max_segments = 64;

inline std::size_t index(Peer peer) { return static_cast<std::size_t>(peer); }

[[noreturn]] inline void wrong(const char* what) {
  std::fprintf(stderr, "model of an adapter: %s\n", what);
  std::abort();
}

struct Parcel {
  Peer from{};
  WireHeader header;
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
};

struct Process {
  std::vector<Pair> to;
  std::deque<Parcel> inbox;
  std::deque<std::uint64_t> completions;
  std::vector<Peer> room_at;
  AdapterCounts counts;
  bool lost = false;

  WakeMask wake_mask = WakeMask::none;
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

class Network {
 public:
  Network(std::size_t size, const AdapterKnobs& the_knobs) : knobs(the_knobs), processes(size) {
    for (Process& process : processes) process.to.resize(size);
  }

  [[nodiscard]] std::size_t adapter_of(Peer peer) const { return index(peer) / knobs.processes_per_adapter; }
  [[nodiscard]] Nanoseconds duration(std::size_t bytes) const {
    return static_cast<Nanoseconds>(static_cast<double>(bytes) / knobs.bytes_per_ns);
  }
  [[nodiscard]] bool occupies_wire(Peer a, Peer b) const { return knobs.own_node_on_wire || adapter_of(a) != adapter_of(b); }
  [[nodiscard]] bool connected(Peer a, Peer b) const { return !processes[index(a)].lost && !processes[index(b)].lost; }

  /// A completion queue wakes for whatever comes. Only small messages that need no answer may come without an entry, by a ring.
  static constexpr EventMask an_entry = EventMask::end | EventMask::match | EventMask::request | EventMask::room;

  void attend(Process& process, EventMask events) const {
    const WakeMask level = process.wake_mask;
    if (!asks_for(level, events)) return;
    process.wake_mask = WakeMask::none;
    if (level == WakeMask::sleeper) {
      process.poked = true;
      process.sleeper.notify_all();
    } else {
      process.helper_woken = true;
      if (helpers_may_run) process.helper.notify_all();
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
    attend(process, an_entry);
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

  /// `placed` runs when the last of it is in place.
  void send_segments(const Transfer& transfer, const std::function<void()>& placed) {
    const std::size_t most = std::max(page_bytes, (transfer.bytes / max_segments / page_bytes + 1) * page_bytes);
    std::vector<std::size_t> begins;
    const std::uint64_t first_end = (transfer.target / page_bytes + 1) * page_bytes;  // pages of the target, as it may be odd
    for (std::size_t begin = 0; begin < transfer.bytes;) {
      begins.push_back(begin);
      begin = begin == 0 ? std::min<std::size_t>(transfer.bytes, first_end - transfer.target) : begin + most;
    }
    std::vector<std::size_t> order(begins.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    if (knobs.shuffled) std::shuffle(order.begin(), order.end(), random);
    const Peer from = transfer.is_read ? transfer.at : transfer.by;
    const Peer to = transfer.is_read ? transfer.by : transfer.at;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::size_t segment = order[i];
      const std::size_t begin = begins[segment];
      const std::size_t end = segment + 1 < begins.size() ? begins[segment + 1] : transfer.bytes;
      wire->send(adapter_of(from), {index(from), index(to), transfer.is_read},
                 occupies_wire(from, to) ? duration(end - begin) : 0,
                 [this, transfer, begin, end, then = i + 1 < order.size() ? std::function<void()>() : placed] {
                   const Peer taker = transfer.is_read ? transfer.by : transfer.at;
                   takes_in(taker, end - begin, [this, transfer, begin, end, then] {
                     place(transfer, begin, end);
                     if (then) then();
                   });
                 });
    }
  }

  /// What is under way arrives, and is taken when its turn comes.
  void takes_in(Peer taker, std::size_t bytes, std::function<void()> then) {
    wire->at(wire->now() + knobs.latency, [this, taker, bytes, then = std::move(then)]() mutable {
      if (knobs.receiving_bytes_per_ns == 0) return then();
      const auto busy = static_cast<Nanoseconds>(static_cast<double>(bytes) / knobs.receiving_bytes_per_ns);
      wire->send(processes.size() / knobs.processes_per_adapter + 1 + index(taker), {}, busy, std::move(then));
    });
  }

  void complete(const Transfer& transfer) {
    if (!connected(transfer.by, transfer.at)) return;
    Process& by = processes[index(transfer.by)];
    Pair& pair = by.to[index(transfer.at)];
    --pair.transfers;
    pair.reads -= transfer.is_read ? 1 : 0;
    by.counts.read_bytes -= transfer.is_read ? transfer.bytes : 0;
    give_room(transfer.by, transfer.at);
    if (transfer.token == 0) return;
    ++by.counts.notifications;
    by.completions.push_back(transfer.token);
    attend(by, an_entry);
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
      by.counts.max_reads = std::max(by.counts.max_reads, ++pair.reads);
      by.counts.read_bytes += transfer.bytes;
      by.counts.max_read_bytes = std::max(by.counts.max_read_bytes, by.counts.read_bytes);
      const Nanoseconds busy = occupies_wire(transfer.by, transfer.at) ? knobs.per_request : 0;
      wire->send(adapter_of(transfer.by), {index(transfer.by), index(transfer.at)}, busy, [this, transfer] {
        wire->at(wire->now() + knobs.latency,
                 [this, transfer] { send_segments(transfer, [this, transfer] { completes_in(0, transfer); }); });
      });
    } else {
      send_segments(transfer, [this, transfer] { completes_in(knobs.latency, transfer); });
    }
    return true;
  }

  void completes_in(Nanoseconds acknowledged, const Transfer& transfer) {
    wire->at(wire->now() + acknowledged + knobs.notification, [this, transfer] { complete(transfer); });
  }

  /// The adapter reads the payload when the message leaves it, and says so later.
  void send_sge(Peer from, Peer to, const WireHeader& header, std::span<const std::byte> payload, std::uint32_t key,
                std::uint64_t token) {
    check(key, from, reinterpret_cast<std::uint64_t>(payload.data()), payload.size());
    send(from, to, header, {payload.begin(), payload.end()}, [this, from, to, payload, key, token](Parcel& parcel) {
      check(key, from, reinterpret_cast<std::uint64_t>(payload.data()), payload.size());
      parcel.payload.assign(payload.begin(), payload.end());
      wire->at(wire->now() + knobs.latency + knobs.notification, [this, from, to, token] {
        if (!connected(from, to)) return;
        Process& by = processes[index(from)];
        ++by.counts.notifications;
        by.completions.push_back(token);
        attend(by, an_entry);
      });
    });
    ++processes[index(from)].counts.sge_sends;
  }

  using Arriving = std::function<void(Parcel&)>;
  void send(Peer from, Peer to, const WireHeader& header, std::vector<std::byte> payload, const Arriving& arriving = {}) {
    Pair& pair = processes[index(from)].to[index(to)];
    ++processes[index(from)].counts.messages[static_cast<std::size_t>(header.kind)];
    ++pair.messages;
    const Nanoseconds busy = occupies_wire(from, to) ? knobs.per_message + duration(payload.size()) : 0;
    wire->send(adapter_of(from), {index(from), index(to)}, busy,
               [this, to, arriving, parcel = Parcel{from, header, std::move(payload)}] {
                 const Nanoseconds there = wire->now() + knobs.latency;
                 takes_in(to, parcel.payload.size(), [this, to, arriving, parcel, there]() mutable {
                   if (!connected(parcel.from, to)) return;
                   if (arriving) arriving(parcel);
                   Process& target = processes[index(to)];
                   target.counts.longest_message_wait = std::max(target.counts.longest_message_wait, wire->now() - there);
                   target.inbox.push_back(std::move(parcel));
                   attend(target, events_of(target.inbox.back().header) == EventMask::eager ? EventMask::eager : an_entry);
                 });
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

}  // namespace sluice::model
