// Page guard: whoever touches a page of a released receive that is not complete waits until it is, and so does whoever writes to
// a page of a released send. Design section 6; ER sections 2.2 and 2.3. How the pages of receives are closed is a
// GuardMechanism's business: mprotect or userfaultfd. Those of sends are PROT_READ with either.
//
// A release covers the pages of one receive buffer. Pages are opened from the front, in runs, as the completed prefix of
// the message grows; one protection change per run. Head and tail pages may belong to several releases and carry a
// protection count: such a page opens when the last of them has completed it (rule 5).
//
// The protection count of a page is the number of releases whose closed pages contain it. It is computed from the releases
// whenever pages open, not stored, so it cannot drift: with one interval for each release that is a scan of a few words.
//
// Locks: the guard's own lock serialises protection changes. It is a leaf: no other lock is taken and no application memory is
// touched while it is held. The fault handler's look-up takes no lock at all.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/base/types.hpp"
#include "runtime/config/config.hpp"

namespace sluice {

class AliasArena;

namespace detail {
/// Releases under guard in this process. Written under the guard's lock.
extern std::atomic<std::size_t> guarded_releases;
}  // namespace detail

/// Brings the pages of releases nearer to completion on behalf of a thread that touched one; implemented by the engine.
class FaultWaiter {
 public:
  /// Progresses communication once; sleeps a while when nothing moves. Called from the fault handler and from a thread of the
  /// guard's: takes no lock that is held across a touch of a closed page, allocates nothing from the application's heap.
  virtual void wait_a_little(unsigned attempt) = 0;

 protected:
  ~FaultWaiter() = default;
};

/// Whom a release keeps away from its pages: everybody from what is not received yet, writers from what is not sent yet.
enum class KeptOut : std::uint8_t { everybody, writers };

/// One release; owned by the guard, named by its address.
struct Guarded;

class PageGuard {
 public:
  /// At most this many releases are protected at once; further receives are completed before they return.
  static constexpr std::size_t max_guarded = 1024;

  /// With an arena, protection is changed only where the arena's blocks still are, and within its map budget. Without one
  /// (tests), whatever lies at the addresses is protected.
  /// userfaultfd needs an arena, made before the guard and outliving it; where it cannot be had, mprotect takes its place.
  explicit PageGuard(FaultWaiter& waiter, AliasArena* arena = nullptr, GuardEngine engine = GuardEngine::mprotect);
  ~PageGuard();  // opens everything, restores the previous signal handler
  PageGuard(const PageGuard&) = delete;
  PageGuard& operator=(const PageGuard&) = delete;

  /// The mechanism that was had: mprotect or userfaultfd.
  [[nodiscard]] GuardEngine engine() const;

  /// Touches still reach this guard: with mprotect, the SIGSEGV handler is still its own. Asked before every release.
  [[nodiscard]] bool handler_installed() const;

  /// Writes to PROT_READ pages reach this guard. Asked before every release of a send.
  [[nodiscard]] static bool hears_writers();

  /// Writes to a range that is on its way into a block reach this guard. Asked before every migration.
  [[nodiscard]] static bool holds_writers_up();

  /// Every fault of the calling thread reaches this guard, also in a child that it forks.
  [[nodiscard]] static bool hears_this_thread();

  /// System calls that touch a closed page wait; otherwise they fail with EFAULT.
  [[nodiscard]] bool kernel_waits() const;

  /// Protects the pages of `buffer` that lie beyond its first `completed` bytes.
  /// nullptr when the kernel refuses or too many are protected; then nothing is protected.
  /// A page that is partly complete counts as incomplete.
  /// `operation`: its number in the trace.
  Guarded* protect(ByteRange buffer, std::size_t completed, KeptOut kept_out = KeptOut::everybody, std::uint32_t operation = 0);

  /// The first `completed` bytes of the release's buffer are in place: opens their pages. [any thread]
  void open(Guarded& guarded, std::size_t completed);

  /// Everything is in place (or will never be): opens the rest and forgets the release. [any thread]
  void finish(Guarded* guarded);

  /// The application cannot go on without what is released there.
  static void note_touch(Guarded& guarded);
  /// When the first thread touched one of its closed pages, in nanoseconds after protect; 0 when none did (yet).
  [[nodiscard]] static std::uint64_t first_touch_after(const Guarded& guarded);
  /// For how long since protect the application went on, until that touch or, if there was none, until `now`; without the time in
  /// which it waited for other data under guard.
  [[nodiscard]] static std::uint64_t ran_on_for(const Guarded& guarded, std::uint64_t now);

  /// When protect began, by now_ns().
  [[nodiscard]] static std::uint64_t protected_at(const Guarded& guarded);

  /// Number of releases under guard. One relaxed load. [any thread]
  [[nodiscard]] static std::size_t active() { return detail::guarded_releases.load(std::memory_order_relaxed); }

  /// Some page of `bytes` is under guard, of a receive or a send. [any thread]
  [[nodiscard]] bool covers(ByteRange bytes) const;

  /// In a child of a fork: the guard's threads and what they answer are the parent's. Nothing else may be called afterwards.
  void abandon();

  struct Statistics {
    std::uint64_t releases = 0;
    std::uint64_t faults = 0;
    std::uint64_t nanoseconds_waited = 0;  // by threads that touched closed pages
    std::uint64_t refused = 0;
  };
  [[nodiscard]] Statistics statistics() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sluice
