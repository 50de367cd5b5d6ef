// Receives that are announced to their senders (putnr, put): the receiver's side of receiver_initiated.hpp.
//
// Owns the receives that are announced, those that are to be announced once more, and what is known of their senders. It matches
// nothing: who does asks `before_matching` first, and `leave` for the receive that a message has met.
//
// Belongs to the engine lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/engine/causality.hpp"
#include "runtime/engine/job.hpp"
#include "runtime/engine/match_trace.hpp"
#include "runtime/engine/outbox.hpp"
#include "runtime/engine/peer_numbers.hpp"
#include "runtime/engine/requests.hpp"
#include "runtime/engine/statistics.hpp"
#include "runtime/rendezvous/rdma_way.hpp"
#include "runtime/rendezvous/receiver_initiated.hpp"

namespace sluice {

class PutReceiver {
 public:
  struct Parts {
    const Job& job;
    Outbox& outbox;
    Requests& requests;
    Causality& causality;
    MatchTrace& matches;
    RdmaWay& way;
    RdmaTransfers& transfers;
    std::span<PeerNumbers> numbers;  // by peer
    EngineStatistics& statistics;
  };
  explicit PutReceiver(const Parts& parts);

  /// A receive that has just been posted: if it may be, and if that is asked for or worth it.
  void send_rtr(Request& receive) {
    if (receive.bytes > announced_above_ && may_send_rtr(receive) && (is_asked_ || is_worth_rtr(receive))) [[unlikely]]
      begin(receive);
  }
  /// When all that has arrived is handled: what a message crossed. More may have been on the way before.
  void resend_rtrs() {
    if (!to_resend_.empty()) resend_all_rtrs();
  }
  /// Before an eager or rts message is matched. `known`: how many announcements had come to its sender.
  void before_matching(Peer from, std::uint16_t known) {
    ++parts_.numbers[index(from)].arrived;
    if (!open_rtrs_.empty()) [[unlikely]]
      take_back_crossed(from, known);
  }
  /// A message of the sender's matched it, or it is over.
  void leave(Request& receive) {
    if (receive.rtrs_sent != 0 && (receive.rtr_open || receive.rtr_link.linked)) [[unlikely]]
      leave_list(receive);
  }
  /// A receive that is not matched yet. The sender may be writing to one that is announced: it is asked first.
  void cancel(Request& receive);
  /// The receive is no longer to be written to, and not announced again.
  void withdraw(Request& receive);

  void on_put_end(Request& receive, const PutEnd& end);
  void on_withdrawn(Peer from, std::uint64_t subject);

  /// Looks at last bytes. Whether anything came.
  bool work() { return !open_rtrs_.empty() && poll(); }
  [[nodiscard]] bool has_work() const { return !open_rtrs_.empty() || !to_resend_.empty(); }
  /// Receives that may be written to at any moment.
  [[nodiscard]] const std::size_t& open_rtrs() const { return open_rtr_count_; }
  /// What was asked of senders, and is not answered yet.
  [[nodiscard]] const std::size_t& withdrawals() const { return withdrawals_; }

 private:
  using List = IntrusiveList<Request, &Request::rtr_link>;
  struct Sender {
    std::uint16_t rtrs_sent = 0;
    bool withdrawing = false;  // all of them
  };

  static std::size_t index(Peer peer) { return static_cast<std::size_t>(peer); }
  [[nodiscard]] bool may_send_rtr(const Request& receive) const;
  [[nodiscard]] bool is_worth_rtr(const Request& receive);
  [[nodiscard]] bool shares_memory(const Request& receive) const;  // with one that is announced
  void begin(Request& receive);
  void send_ready_to_receive(Request& receive);
  void resend_all_rtrs();
  void leave_list(Request& receive);
  void remove(Request& receive);
  void close_rtr(Request& receive);
  void conclude(Request& receive, std::size_t bytes, bool seen);
  bool poll();
  void take_back_crossed(Peer from, std::uint16_t known);
  template <class Which>
  std::size_t take_back(Peer from, Which which);
  void end_cancelled(Request& receive);

  // First what every poll looks at, behind what it has looked at before.
  List open_rtrs_;  // in order of announcement
  List to_resend_;  // again, as a message crossed
  std::size_t open_rtr_count_ = 0;
  std::size_t withdrawals_ = 0;
  const bool is_asked_;                // all receives are announced that may be
  const std::size_t announced_above_;  // bytes; none is where another protocol is asked for
  const Parts parts_;
  std::vector<Sender> senders_;  // by peer
};

}  // namespace sluice
