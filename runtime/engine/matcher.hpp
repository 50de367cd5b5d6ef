// Contexts, and the messages and receives that meet in them.
//
// It takes in eager messages and announcements, checks what they say, keeps those that find no receive, and brings an eager one
// to its end. It does not know how a large message travels, nor what hangs on a match elsewhere; it tells its host, and of a
// small message only if there is something to tell.
//
// Belongs to the engine lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "runtime/base/types.hpp"
#include "runtime/engine/causality.hpp"
#include "runtime/engine/job.hpp"
#include "runtime/engine/matching.hpp"
#include "runtime/engine/outbox.hpp"
#include "runtime/engine/requests.hpp"
#include "runtime/engine/wire_check.hpp"
#include "runtime/transport/message.hpp"
#include "runtime/transport/message_sink.hpp"

namespace sluice {

class Matcher {
 public:
  class Host {
   public:
    /// The receive has met its message: its sender is not to write to it any more.
    virtual void leave_rtrs(Request& receive) = 0;
    /// `coming`: bytes behind `offset` that came with the announcement and are still to be delivered.
    virtual void begin_transfer(Request* receive, std::size_t coming) = 0;

   protected:
    ~Host() = default;
  };

  Matcher(const Job& job, Requests& requests, Outbox& outbox, Causality& causality, MatchTrace& matches, Host& host);
  ~Matcher();  // with what nobody has received
  Matcher(const Matcher&) = delete;
  Matcher& operator=(const Matcher&) = delete;

  // --- contexts
  Context& adopt(ContextId id, std::vector<Peer> group, Rank self);
  /// No operation will be started in it any more, but those for which it is kept.
  void retire(Context* context);
  /// As long as a persistent operation may be started in it.
  static void keep(Context& context) { ++context.operations; }
  void let_go(Context* context);
  /// It is retired and unused.
  void drop(Context* context);
  /// Of a message that its sender may send there; ends the job otherwise.
  Context& context_for(Peer from, const WireHeader& header);

  // --- receives
  /// True: it met a message that was there. Otherwise it waits for one.
  bool post(Request& receive) {
    Unexpected* const message = receive.context->find_unexpected(receive.rank, receive.tag);
    if (!message) [[likely]] {
      receive.context->post(&receive);
      return false;
    }
    receive.context->remove_unexpected(message);
    consume(receive, message);
    return true;
  }
  /// Gives a receive the message that it matched earlier; the message is gone afterwards.
  void consume(Request& receive, Unexpected* message);

  // --- messages
  void on_eager(Peer from, const WireHeader& header, std::span<const std::byte> payload);
  void on_rts(Peer from, const WireHeader& header, std::span<const std::byte> payload);
  /// As MessageSink says.
  MessageSink::Begun begin(Peer from, const WireHeader& header, std::span<const std::byte> head);

 private:
  /// Describes a message to the receive that it matched.
  struct Arrival {
    Peer from;
    Rank source;
    Tag tag;
    std::size_t message_bytes;
    std::uint32_t number;     // in the trace
    bool unexpected = false;  // it was there before the receive
  };
  struct RtsMessage {
    std::uint8_t flags = 0;
    ReadyToSend rts;
    std::span<const std::byte> first_bytes;
  };

  Context& context_of(ContextId id) {
    if (last_ && last_->id() == id) [[likely]]
      return *last_;
    return look_up(id);
  }
  Context& look_up(ContextId id);
  static std::unique_ptr<Unexpected> describe(Peer from, const WireHeader& header);
  static void check_released(const Context& channel, const Unexpected& message);
  static void keep(Context& context, std::unique_ptr<Unexpected> message, std::span<const std::byte> bytes);
  static void note_arrival(Request& receive, const Arrival& arrival);
  void leave_rtrs(Request& receive) {
    if (receive.rtrs_sent != 0 && (receive.rtr_open || receive.rtr_link.linked)) [[unlikely]]
      host_.leave_rtrs(receive);
  }
  void accept_eager(Request& receive, const Arrival& arrival, std::span<const std::byte> payload, std::uint64_t acknowledge);
  void note_match(const Request& receive, const Arrival& arrival, bool brings_bytes);
  void accept_rts(Request& receive, const Arrival& arrival, const RtsMessage& sent);
  /// The next number of an eager or rts message of this peer; 0 while no trace is written.
  std::uint32_t traced_number(Peer from, const Context& context);

  const Job& job_;
  Requests& requests_;
  Outbox& outbox_;
  Causality& causality_;
  Host& host_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Context>> contexts_;
  Context* last_ = nullptr;
  TracedNumbers traced_;
  MatchTrace& matches_;
};

}  // namespace sluice
