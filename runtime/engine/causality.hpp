// Causality (page-guard rule 1; ER section 2.5): from the release of a receive whose message is not known until it is, what the
// program causes after it stays in the process. That is sends, clearances and acknowledgements. What belongs to receives that
// were posted before the release leaves: the process would have given it while blocked.
//
// Owns the released operations, in order of release, and what is held back, in order of the calls. It releases nothing
// (release/releases.hpp) and sends nothing.
//
// Belongs to the engine lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "runtime/base/intrusive_list.hpp"
#include "runtime/engine/pending.hpp"
#include "runtime/engine/request.hpp"

namespace sluice {

class Causality {
 public:
  using Released = IntrusiveList<Request, &Request::release_link>;

  /// Does what was held back.
  class Sink {
   public:
    virtual void send_held(Request& send) = 0;
    virtual void begin_held(Request& receive) = 0;
    /// The operation's number in the trace goes along.
    virtual void acknowledge_held(Peer peer, std::uint64_t subject, std::uint32_t traced) = 0;

   protected:
    ~Sink() = default;
  };

  /// Is told what becomes of released operations.
  class Watcher {
   public:
    /// The message of the receive, which was released before, is known.
    virtual void matched(Request& receive) = 0;
    /// It is complete; the watcher removes it.
    virtual void ended(Request& request) = 0;

   protected:
    ~Watcher() = default;
  };

  explicit Causality(Sink& sink) : sink_(sink) {}
  void watch(Watcher* watcher) { watcher_ = watcher; }

  /// It is released. A receive is `unknown` when its message is, and its `release_mark` is the number of the last operation then.
  void add(Request& request);
  void remove(Request& request) { released_.remove(&request); }
  /// The message of the receive is known; whether it was released or not.
  void matched(Request& receive) {
    if (receive.unknown) [[unlikely]]
      note_match(receive);
  }
  /// A released operation is complete.
  void ended(Request& request) { watcher_->ended(request); }

  [[nodiscard]] const Released& released() const { return released_; }
  /// Receives that were released and whose messages are not known. A reference, as every send looks at it.
  [[nodiscard]] const std::size_t& unmatched() const { return unmatched_; }

  /// An operation of that number began after the release of a receive whose message is still unknown.
  [[nodiscard]] bool must_hold(std::uint64_t operation) const;
  void hold(HeldBack item);
  [[nodiscard]] const std::deque<HeldBack>& held() const { return held_; }

 private:
  void note_match(Request& receive);
  void let_go();
  void do_held(const HeldBack& item);

  std::size_t unmatched_ = 0;
  Released released_;
  std::deque<HeldBack> held_;
  Sink& sink_;
  Watcher* watcher_ = nullptr;
};

}  // namespace sluice
