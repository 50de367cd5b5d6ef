// What the engine tells the trace: one function for each kind of record that is about a request. All but those marked
// [any thread] with the engine lock held, and only while `on()`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/base/types.hpp"
#include "runtime/engine/statistics.hpp"
#include "runtime/trace/trace.hpp"
#include "runtime/transport/message.hpp"

namespace sluice {
class Request;
class Context;
class Unexpected;
}  // namespace sluice

namespace sluice::trace {

struct Envelope {
  Peer peer{};
  Tag tag{};
  ContextId context{};
};

/// Once for each request; what is called again does nothing.
/// It is begun by the call that this thread is in.
void named(Request& request, std::uint32_t number);
/// `besides`: bits of its record that the request does not know.
void posted(Request& request, std::uint16_t besides = 0);
/// ... of what a collective call consists of: tells of its post, too.
void part_begins(const Request& part, const Request& collective);
void posted_at_once(const Envelope& to, std::span<const std::byte> message, std::uint32_t number);
void matched(const Request& receive, MessageKind kind, std::uint32_t number, bool unexpected);
void arrived(const Unexpected& message);
void chosen(const Request& receive, Protocol protocol, Reason reason, std::uint64_t at_ns);
/// `number` of those that take part in matching.
void message_left(const Request& request, MessageKind kind, std::size_t payload, std::uint32_t number = 0,
                  std::uint64_t at_ns = 0);
/// Of the kinds that name no request of this process, or one that is over.
void control(Kind kind, Peer peer, MessageKind message, std::size_t payload, std::uint32_t operation = 0);
/// A message is being written to a receive that was announced: it takes part in no matching, and no eager or rts tells of it.
void put_began(Request& send, std::uint32_t rtr_number);
void matched_put(const Request& receive, std::uint32_t rtr_number);
void answer_came(const Request& request, MessageKind kind, std::size_t payload);
void progressed(const Request& request, std::size_t in_place);
/// Since `started_ns`. Without the lock, by the thread that copied: the request is marked as being copied. [any thread]
void copied(const Request& request, std::size_t bytes, std::uint64_t started_ns);
void completed(const Request& request, std::uint64_t at_ns);
void held(std::uint32_t operation, Peer peer, Held what);
void let_go(std::uint32_t operation, Peer peer, Held what, std::uint64_t since_ns);
void set_aside(const Request& send);
void released(const Request& request, ByteRange range, std::uint64_t closing_ns);
void not_released(const Request& request, Fallback why, std::uint64_t waited_ns);
struct ReleaseEnd {
  std::uint64_t lasted_ns;
  std::uint64_t hidden_ns;
  std::uint64_t touched_after_ns;
  std::uint64_t price_ns;
};
void release_ended(const Request& request, const ReleaseEnd& end);
void fell_back(const Request& request, Fallback why);

/// A call's wait for those of these requests that are still open. The lock is held when it begins and when it is over.
class Wait {
 public:
  explicit Wait(std::span<Request* const> requests) : requests_(requests) {
    if (on()) [[unlikely]]
      begin();
  }
  ~Wait() {
    if (started_ != 0) [[unlikely]]
      end();
  }
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;

  /// It has gone on for so long.
  void lasts(std::uint64_t nanoseconds) {
    if (started_ != 0 && !written_ && nanoseconds >= long_ns) [[unlikely]]
      tell();
  }

 private:
  static constexpr std::uint64_t long_ns = 1'000'000;
  void begin();
  void tell();
  void end();

  std::span<Request* const> requests_;
  std::uint64_t started_ = 0;
  bool written_ = false;
};

/// A wait until releases are over.
class Settling {
 public:
  /// Before the engine lock is taken: it may unwind the stack.
  explicit Settling(SettleCause cause) : cause_(cause) {
    if (on()) [[unlikely]]
      begin();
  }
  ~Settling() {
    if (count_ != 0) [[unlikely]]
      end();
  }
  Settling(const Settling&) = delete;
  Settling& operator=(const Settling&) = delete;

  [[nodiscard]] bool wants_releases() const { return started_ != 0; }
  void add(const Request& released);

 private:
  struct Release {
    std::uint32_t operation = 0;
    ByteRange bytes;
  };
  void begin();
  void end();

  SettleCause cause_;
  std::uint32_t site_ = 0;
  std::uint64_t started_ = 0;
  std::size_t count_ = 0;
  std::array<Release, 32> releases_;  // more are not told of
};

}  // namespace sluice::trace
