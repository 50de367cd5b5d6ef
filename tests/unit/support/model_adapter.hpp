// A model of RDMA adapters inside one process, with knobs, so that protocols are tested without hardware: what they exchange is
// counted, what they cost follows from the knobs, and what they get wrong about memory ends the test: transfers outside of what
// is registered at the moment, on either side, and transfers to somebody else's key.
//
//   ModelAdapters network(2, {.shuffled = true});
//   Transport& t = network.transport(Peer{0});
//
// Each transport may belong to an engine in a thread of its own. All state is behind one lock, which is never held while a sink
// is called. Peers share an address space, so what a peer registers is memory of this process.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/transport/transport.hpp"
#include "tests/unit/support/model_wire.hpp"

namespace sluice {

class ModelTransport;

struct AdapterKnobs {
  static constexpr std::size_t unlimited = ~std::size_t{0};
  using Nanoseconds = ModelWire::Nanoseconds;

  Nanoseconds latency = 1000;     // of anything, one way
  Nanoseconds per_message = 100;  // for which a control message occupies the wire
  Nanoseconds per_request = 100;  // the same of the request of a read, which is no more than a packet
  double bytes_per_ns = 6.0;      // of payload
  /// What the receiving end of each process takes, one thing after the other; 0: whatever comes.
  double receiving_bytes_per_ns = 0;
  Nanoseconds notification = 300;  // from the last byte in place until the processor sees the completion
  std::size_t processes_per_adapter = 1;
  bool own_node_on_wire = true;  // what processes of one adapter send each other occupies its wire as well

  /// Segments of a transfer are placed in any order, and the adapter says so. What follows a write still comes after it.
  bool shuffled = false;
  std::size_t max_payload = 4096;
  std::size_t largest_transfer = std::size_t{1} << 30;
  /// Reads and writes that one process may have under way to another.
  std::size_t queue_depth = unlimited;
  /// Messages that may be under way from one process to another.
  std::size_t room = unlimited;
  /// How many registrations each process may have; by_process: which of them may have none.
  std::size_t registrations = unlimited;
  std::vector<std::size_t> refused_processes = {};

  bool by_hand = false;
  std::chrono::microseconds pace{0};
};

/// What one process has done.
struct AdapterCounts {
  std::array<std::uint64_t, message_kinds> messages{};  // sent, by MessageKind
  std::size_t sge_sends = 0;                            // of these, with a payload from registered memory
  std::size_t writes = 0;
  std::size_t reads = 0;
  std::size_t notifications = 0;
  std::size_t registrations = 0;
  std::size_t registered = 0;                       // now
  std::size_t max_reads = 0;                        // under way at a time to one peer
  std::size_t read_bytes = 0;                       // under way to all peers now
  std::size_t max_read_bytes = 0;                   // at a time
  ModelWire::Nanoseconds longest_message_wait = 0;  // of a message that came, at the receiving end
  int told_work = 0;                                // what the others are told of its work now

  [[nodiscard]] std::size_t of(MessageKind kind) const { return messages[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] std::size_t control() const {
    return of(MessageKind::rts) + of(MessageKind::cts) + of(MessageKind::fin) + of(MessageKind::refuse) + of(MessageKind::rtr) +
           of(MessageKind::withdraw) + of(MessageKind::withdrawn);
  }
};

class ModelAdapters {
 public:
  explicit ModelAdapters(std::size_t size, const AdapterKnobs& knobs = {});
  ~ModelAdapters();
  ModelAdapters(const ModelAdapters&) = delete;
  ModelAdapters& operator=(const ModelAdapters&) = delete;

  Transport& transport(Peer peer);
  [[nodiscard]] AdapterCounts counts(Peer peer);
  void forget_counts();

  /// The process is gone: nothing to or from it completes any more, everybody is told.
  void lose(Peer peer);

  /// By itself: everything stands still once that many bytes more are in place, until `go_on`.
  void hold_after(std::size_t bytes);
  void go_on();

  /// By hand: the next event, and the clock. The helper threads of engines sleep until they are let go, which they must be before
  /// their engines end.
  bool step() { return wire_->step(); }
  [[nodiscard]] AdapterKnobs::Nanoseconds now() const { return wire_->now(); }
  /// There is an event at that time, if only for somebody to look at the clock.
  void remind_at(AdapterKnobs::Nanoseconds time);
  void let_helpers_go();

 private:
  friend class ModelTransport;
  struct Shared;
  std::unique_ptr<Shared> shared_;
  std::vector<std::unique_ptr<ModelTransport>> transports_;
  std::unique_ptr<ModelWire> wire_;  // ends first: its events use the rest
};

}  // namespace sluice
