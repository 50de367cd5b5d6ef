// Early release of blocked receives (ER section 2.2) and sends: when, whether and with what result a call returns while its
// operations go on behind the guard, and what that obliges to (page-guard rules 1 to 6, 14).
//
// A blocked call first waits for as long as a release would cost. Only then are its operations released: all that are still
// incomplete, or none. So a wait that turns out short costs nothing, and one that turns out long loses at most that time twice.
//
// Owns the guard, the policy of call sites, the counts that are not known yet, and the time that the helper thread took. Which
// operations are released, and what has to be held back for them, Causality knows. It moves no message and wakes nobody.
//
// Belongs to the engine lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "runtime/alias/alias_blocks.hpp"
#include "runtime/base/call_site.hpp"
#include "runtime/engine/causality.hpp"
#include "runtime/engine/job.hpp"
#include "runtime/engine/lock.hpp"
#include "runtime/engine/request.hpp"
#include "runtime/engine/statistics.hpp"
#include "runtime/policy/release_policy.hpp"
#include "runtime/release/decision.hpp"
#include "runtime/release/helper_time.hpp"
#include "runtime/release/lazy_counts.hpp"
#include "runtime/release/released_pages.hpp"

namespace sluice {

using Lock = std::unique_lock<EngineLock>;

class Releases final : public Causality::Watcher {
 public:
  /// The ways in which messages travel.
  class Ways {
   public:
    /// Moves `offset` of a receive to the end of what an adapter has brought, where that can be seen.
    virtual void look_at_sentinels(Request& receive) = 0;
    /// Of a `write` delivery.
    [[nodiscard]] virtual std::size_t missing_bytes(const Request& receive) const = 0;
    /// This process could copy the rest of the message itself, in its call.
    [[nodiscard]] virtual bool can_read_from(const Request& receive) const = 0;
    /// Asks the sender not to write to a receive that was announced to it.
    virtual void withdraw(Request& receive) = 0;

   protected:
    ~Ways() = default;
  };
  /// Numbers of the engine's that change all the time.
  struct Counts {
    const std::size_t& busy_copies;   // chunks being copied outside the lock
    const std::size_t& open_rtrs;     // receives announced to their senders
    const std::uint64_t& operations;  // begun so far
  };

  Releases(const Job& job, AliasBlocks& blocks, Causality& causality, Ways& ways, const Counts& counts,
           EngineStatistics& statistics);

  /// From now on there is a guard, and operations may be released, unless they are not to be. The arena is usable.
  void begin(FaultWaiter& waiter);
  /// Before the rest of the engine, which the guard's threads use.
  void end() { pages_.end(); }
  [[nodiscard]] PageGuard* guard() const { return pages_.guard(); }
  /// Some operations may return early.
  [[nodiscard]] bool may_return_early() const { return pages_.may_close(); }
  [[nodiscard]] ReleasePolicy& policy() { return policy_; }

  /// Of a call that has waited for so long: true when all that are open have been released. Gives the lock up while a chunk is
  /// being copied.
  bool try_release(Lock& lock, std::span<Request* const> requests, CallSite site, std::uint64_t waited_ns);
  /// None of them that are open is released, for a reason that none of them is the cause of; counted once. Always false.
  bool refuse(std::span<Request* const> requests, Fallback reason, std::uint64_t waited_ns);

  void matched(Request& receive) override { lazy_counts_.settle(receive.lazy_token, receive.limit); }
  void ended(Request& request) override;
  /// Opens what is in place of all that is released.
  void advance();
  [[nodiscard]] const LazyCounts& lazy_counts() const { return lazy_counts_; }

  // --- the helper thread ------------------------------------------------------------------------------------------------
  void helper_wakes();
  void helper_sleeps();
  /// The calling thread has released a receive at some time.
  [[nodiscard]] static bool this_thread_released();

 private:
  bool refuse(const Request& request, Fallback reason, std::uint64_t waited_ns);
  bool have_waited_enough(std::span<Request* const> requests, std::uint64_t waited_ns) const;
  bool await_open_rtrs(std::span<Request* const> requests, std::uint64_t waited_ns);
  [[nodiscard]] BlockedReceive describe(const Request& receive) const;
  bool may_release(const Request& request, const ReleaseTerms& terms, std::size_t& migrated_pages);
  bool may_release_send(const Request& send, const ReleaseTerms& terms);
  bool is_block(const Request& receive, std::uint64_t waited_ns, std::size_t& migrated_pages);
  bool release_all(std::span<Request* const> requests, CallSite site, std::uint64_t waited_ns, std::uint64_t expected_ns);
  bool release(Request& request);
  [[nodiscard]] std::uint64_t cost_ns(ByteRange bytes) const { return policy_.cost_ns(PageRange::covering(bytes).size()); }
  [[nodiscard]] std::uint64_t price_of(const Request& request) const;

  const Job& job_;
  AliasBlocks& blocks_;
  Causality& causality_;
  Ways& ways_;
  const Counts counts_;
  EngineStatistics& statistics_;
  ReleasedPages pages_;
  HelperTime helper_time_;
  LazyCounts lazy_counts_;
  ReleasePolicy policy_;
};

}  // namespace sluice
