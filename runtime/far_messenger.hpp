// Messages between the members of one window that is on several nodes, in a context that the program does not know.
//
// They are messages as any other: all transports carry them, and whoever progresses moves them. Nothing of them is ever released:
// that is done in calls that wait for receives only. Nor is one held back, as no receive whose message is unknown is released
// while such a window is open (docs/host-calls.md).
//
// Belongs to the engine lock. Nothing here uses the application's allocator.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "runtime/engine/job.hpp"
#include "runtime/engine/matcher.hpp"
#include "runtime/engine/requests.hpp"
#include "runtime/engine/small_sends.hpp"
#include "runtime/engine/statistics.hpp"
#include "runtime/rendezvous/put_receiver.hpp"
#include "runtime/rendezvous/sender.hpp"

namespace sluice {

class FarMessenger {
 public:
  struct Parts {
    const Job& job;
    Requests& requests;
    Matcher& matcher;
    SmallSends& small_sends;
    Sender& sender;
    PutReceiver& put_receiver;
    const Sleepers& sleepers;
    EngineStatistics& statistics;
  };
  FarMessenger(const Parts& parts, Context& context) : parts_(parts), context_(context) {}

  [[nodiscard]] const Parts& parts() const { return parts_; }
  [[nodiscard]] Context& context() const { return context_; }
  /// Of a message that is not announced first.
  [[nodiscard]] std::size_t most_at_once(Rank to) const { return parts_.job.eager_limit_of(context_.peer(to)); }

  /// Bytes of which nobody hears any more.
  void send(Rank to, Tag tag, std::span<const std::byte> bytes);
  // Their memory is theirs until they are over.
  Request* send(Rank to, Tag tag, const UserBuffer& buffer);
  Request* receive(Rank from, Tag tag, const UserBuffer& buffer);
  /// What has come, and met no receive.
  Request* receive(Unexpected* message, const UserBuffer& buffer);
  [[nodiscard]] static bool is_over(const Request& request) {
    return request.complete.load(std::memory_order_relaxed) || (request.is_send() && request.has_left());
  }
  /// Of one that is over.
  void take(Request* request) { parts_.requests.take(request); }
  /// Messages for an inbox that have come in part.
  [[nodiscard]] std::size_t announced() const { return announced_; }

 private:
  friend class FarInbox;

  const Parts parts_;
  Context& context_;
  std::size_t announced_ = 0;
};

/// Messages of one member under one tag, one after the other.
class FarInbox {
 public:
  FarInbox(Rank from, Tag tag) : from_(from), tag_(tag) {}

  /// The first one; nothing: it has not come yet, or not all of it.
  [[nodiscard]] std::optional<std::span<const std::byte>> first(FarMessenger& messenger);
  /// So many bytes of it go, and with the last ones it.
  void pop(FarMessenger& messenger, std::size_t bytes);
  /// One that was announced has come, which no other message tells of.
  [[nodiscard]] bool has_arrived() const { return receive_ && FarMessenger::is_over(*receive_); }

 private:
  Rank from_;
  Tag tag_;
  std::unique_ptr<Unexpected> message_;
  std::size_t done_ = 0;  // bytes of the first one
  // Of one that was announced.
  Request* receive_ = nullptr;
  std::unique_ptr<std::byte[]> copy_;
  std::size_t bytes_ = 0;
};

}  // namespace sluice
