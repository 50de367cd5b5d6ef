// Sends to receives that were announced, and sends that wait for that (putnr, put): the sender's side of receiver_initiated.hpp.
//
// Owns, for each peer, the receives that may be written to, and the queue of sends. It sends no message of the program's: its
// host does, when a message's turn has come, and RdmaWay writes.
//
// Belongs to the engine lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <vector>

#include "runtime/engine/eager.hpp"
#include "runtime/engine/job.hpp"
#include "runtime/engine/matcher.hpp"
#include "runtime/engine/outbox.hpp"
#include "runtime/engine/peer_numbers.hpp"
#include "runtime/engine/statistics.hpp"
#include "runtime/rendezvous/rdma_way.hpp"
#include "runtime/rendezvous/receiver_initiated.hpp"

namespace sluice {

/// A receive of the peer's that a message of this process may take.
struct OpenReceive {
  ContextId context{};
  Tag tag{};
  std::uint64_t request = 0;
  RemoteMemory memory;
  std::size_t capacity = 0;
  std::byte last_byte{};
  bool polled = false;
  std::uint16_t number = 0;  // of the announcement
};

/// rtr, of a peer to which so much was sent, and of which so many receives are kept. nullptr when all is well (reply_check.hpp).
[[nodiscard]] const char* ready_fault(const ReadyToReceive& ready, std::uint64_t sent, std::size_t kept);

class PutSender final : public RdmaWay::Writer {
 public:
  class Host {
   public:
    /// It is the next message to its peer, and goes as any other.
    virtual void send_in_turn(Request& send) = 0;

   protected:
    ~Host() = default;
  };
  struct Parts {
    const Job& job;
    Outbox& outbox;
    Matcher& matcher;
    RdmaWay& way;
    std::span<PeerNumbers> numbers;  // by peer
    EngineStatistics& statistics;
  };
  PutSender(Host& host, const Parts& parts);

  /// Whether the message need not ask here: nothing waits for its peer, and it waits for nobody.
  [[nodiscard]] bool goes_at_once(const Request& send) const {
    return parts_.numbers[index(send.peer)].plain() && (!waits_for_receivers_ || is_eager(parts_.job, send));
  }
  /// Messages of one process to one other leave in the order of the calls.
  void transmit(Request& send);
  void posted(Request& send) override;
  void on_ready_to_receive(Peer from, const WireHeader& header, const ReadyToReceive& ready);
  void on_withdraw(Peer from, std::uint64_t subject);

  /// What has waited long enough goes. Whether anything did.
  bool work() { return !waiting_queues_.empty() && advance_lines(); }
  [[nodiscard]] bool has_work() const { return !waiting_queues_.empty(); }
  /// Somebody has to look now and then, as nobody will be told: a send that waits there has a time to wait.
  [[nodiscard]] bool needs_looks() const;
  /// A peer has said that it may announce receives.
  void expect_rtrs() { expects_rtrs_ = true; }
  /// Somebody must be woken for one, and for whoever takes it back, who waits for the answer.
  [[nodiscard]] bool expects_rtrs() const { return expects_rtrs_; }

 private:
  /// There is one for every peer, so the containers are those that take nothing while they are empty.
  struct Receiver {
    std::vector<OpenReceive> open;           // in order of announcement
    std::list<Request*> send_queue;          // sends that are not sent yet; the first waits for an rtr, or is being posted
    std::vector<std::uint64_t> withdrawals;  // of the peer, to be answered when the first in the queue is posted
    bool sends_rtrs = true;                  // worth waiting for

    /// The first in the queue is being posted.
    [[nodiscard]] bool is_writing() const { return !send_queue.empty() && send_queue.front()->way == Request::Way::rdma; }
    [[nodiscard]] bool waits() const { return !send_queue.empty() && !is_writing(); }
  };

  static std::size_t index(Peer peer) { return static_cast<std::size_t>(peer); }
  [[nodiscard]] bool may_be_written(const Request& send) const;
  [[nodiscard]] bool waited_enough(const Request& send) const;
  [[nodiscard]] bool waits_for_receiver(Request& send);
  bool transmit_in_turn(Request& send);
  bool begin_put(Request& send, const OpenReceive& receive);
  void advance_queue(Peer peer);
  bool advance_lines();
  void send_withdrawn(Peer to, std::uint64_t subject);
  void note_kept(Peer peer);

  std::vector<Peer> waiting_queues_;  // peers to whom sends wait; first, as every poll looks there
  bool expects_rtrs_ = false;
  const bool waits_for_receivers_;
  const Parts parts_;
  Host& host_;
  std::vector<Receiver> receivers_;  // by peer
};

}  // namespace sluice
