// What arrives, by kind: to matching, to who announces receives, or to the operation that it names.
//
// Owns nothing. Belongs to the engine lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/engine/application_now.hpp"
#include "runtime/engine/matcher.hpp"
#include "runtime/engine/outbox.hpp"
#include "runtime/engine/requests.hpp"
#include "runtime/rendezvous/offload.hpp"
#include "runtime/rendezvous/put_receiver.hpp"
#include "runtime/rendezvous/put_sender.hpp"
#include "runtime/rendezvous/rdma_transfers.hpp"
#include "runtime/rendezvous/rdma_way.hpp"
#include "runtime/rendezvous/replies.hpp"
#include "runtime/rendezvous/stream_way.hpp"
#include "runtime/transport/message_sink.hpp"

namespace sluice {

class alignas(cache_line) Arrivals final : public MessageSink {
 public:
  struct Parts {
    PutReceiver& put_receiver;  // first what an eager message needs
    Matcher& matcher;
    const ApplicationNow& application;
    const Requests& requests;
    Outbox& outbox;
    PutSender& put_sender;
    Replies& replies;
    RdmaTransfers& transfers;
    Offload& offload;
    StreamWay& stream_way;
    RdmaWay& rdma_way;
  };
  explicit Arrivals(const Parts& parts) : parts_(parts) {}

  // --- as MessageSink says
  void on_message(Peer from, const WireHeader& header, std::span<const std::byte> payload) override;
  Begun begin(Peer from, const WireHeader& header, std::span<const std::byte> head) override {
    return parts_.matcher.begin(from, header, head);
  }
  /// Where one message is waited for, the next has no receive yet, and would be kept in a copy.
  [[nodiscard]] bool takes_another() const override {
    return parts_.application.awaits_many && parts_.requests.counts().open_receives != 0;
  }
  std::span<std::byte> place(Peer from, const WireHeader& header, std::size_t max_bytes) override {
    return parts_.replies.place(from, header, max_bytes);
  }
  void on_placed(Peer from, const WireHeader& header, std::size_t bytes) override {
    parts_.replies.on_placed(from, header, bytes);
  }
  void on_room(Peer peer) override;
  void on_transferred(std::uint64_t token) override { parts_.transfers.on_transferred(token); }
  void on_transfer_failed(std::uint64_t token) override { parts_.offload.failed(token); }

 private:
  const Parts parts_;
};

}  // namespace sluice
