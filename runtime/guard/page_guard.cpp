#include "runtime/guard/page_guard.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>
#include <system_error>

#include "runtime/alias/arena.hpp"
#include "runtime/alias/forked_blocks.hpp"
#include "runtime/alias/gate.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/fatal.hpp"
#include "runtime/guard/mprotect.hpp"
#include "runtime/guard/signal.hpp"
#include "runtime/guard/slots.hpp"
#include "runtime/guard/userfaultfd.hpp"
#include "runtime/process/stall_clock.hpp"
#include "runtime/trace/resource_events.hpp"
#include "runtime/trace/sites.hpp"

namespace sluice {

std::atomic<std::size_t> detail::guarded_releases{0};

namespace {

/// How long the application's signals may be kept waiting by a thread that waits for a page.
constexpr std::uint64_t signal_latency_ns = 1'000'000;
/// A change of protection splits one mapping in three at most.
constexpr std::size_t mappings_per_protection = 2;

/// The fault that this thread tried again last. In the static TLS block: the handler must not allocate it.
struct Retry {
  std::uintptr_t address = 0;
  std::uint64_t generation = 0;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local Retry last_retry;

/// The wait of this thread for a page that it left last for the sake of signals. It waits as patiently when it comes back.
struct Interrupted {
  std::uintptr_t page = 0;
  unsigned attempts = 0;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local Interrupted last_interrupted;

}  // namespace

/// A thread's wait for a page, with the releases that close it.
class TracedTouch {
 public:
  TracedTouch(GuardedSlots& slots, const fault_signal::Fault& fault) : fault_(fault) {
    if (!trace::on()) [[likely]]
      return;
    const std::uintptr_t page = fault.address / page_bytes;
    slots.any_overlapping({page, page + 1}, [&](const Guarded& guarded) {
      if (guarded.keeps_from(fault.access)) operations_[count_++] = guarded.operation.load(std::memory_order_relaxed);
      return count_ == operations_.size();
    });
    started_ = trace::now();
  }
  ~TracedTouch() {
    if (count_ == 0) [[likely]]
      return;
    const std::uint32_t site = fault_.instruction == 0 ? 0 : trace::site_of_touch(fault_.instruction, fault_.on_stack);
    for (std::size_t i = 0; i < count_; ++i) {
      trace::fault_waited(operations_[i], fault_.address, fault_.access, site, started_);
    }
  }
  TracedTouch(const TracedTouch&) = delete;
  TracedTouch& operator=(const TracedTouch&) = delete;

 private:
  const fault_signal::Fault& fault_;
  std::array<std::uint32_t, 4> operations_{};
  std::size_t count_ = 0;
  std::uint64_t started_ = 0;
};

struct PageGuard::State final : fault_signal::Answerer, TouchAnswerer {
  State(FaultWaiter& fault_waiter, AliasArena* alias_arena) : waiter(fault_waiter), arena(alias_arena) {}

  FaultWaiter& waiter;
  AliasArena* arena;
  mutable GuardedSlots slots;
  mutable std::mutex protection_lock;  // the mechanism, and writing slots

  std::uint64_t releases = 0;  // under protection_lock
  std::uint64_t refused = 0;
  std::atomic<std::uint64_t> faults{0};
  std::atomic<std::uint64_t> nanoseconds_waited{0};
  std::unique_ptr<GuardMechanism> mechanism;  // its threads call back: first to go

  void make_mechanism(GuardEngine engine);
  bool is_closed(PageRange pages, Access access) const;
  void note_touch(std::uintptr_t page, Access access);
  bool advance(Guarded& guarded, std::uintptr_t first);
  bool open_free(PageRange pages, const Guarded* except);
  bool open_run(PageRange pages);
  bool admit_writers(PageRange pages, const Guarded* except);
  bool set_protection(PageRange pages, int protection);

  // Touches that raise SIGSEGV.
  bool answer(const fault_signal::Fault& fault) override;
  void wait_for(const fault_signal::Fault& fault);

  // Touches that userfaultfd tells.
  bool answer_touch(std::uintptr_t page) override;
  [[nodiscard]] bool is_closed_page(std::uintptr_t page) const override { return is_closed({page, page + 1}, Access::read); }
  void progress(unsigned attempt) override { waiter.wait_a_little(attempt); }
  void note_wait(std::uint64_t began, std::uint64_t now) override {
    detail::stall_clock.end(began, now);
    nanoseconds_waited.fetch_add(now - began, std::memory_order_relaxed);
  }
  void map_free(PageRange pages) override;
};

void PageGuard::State::make_mechanism(GuardEngine engine) {
  std::string missing;
  if (engine == GuardEngine::userfaultfd && arena) {
    try {
      if (FaultDescriptor descriptor = FaultDescriptor::open(missing)) {
        mechanism = std::make_unique<UserfaultMechanism>(std::move(descriptor), *arena, *this);
        return;
      }
    } catch (const std::system_error& error) {
      report("warning: no threads for SLUICE_GUARD=userfaultfd (%s); mprotect is used", error.what());
    }
  }
  mechanism = std::make_unique<MprotectMechanism>(arena);
}

// The SIGSEGV handler is installed whatever the mechanism: threads that write to a range while it becomes a block wait there.
PageGuard::PageGuard(FaultWaiter& waiter, AliasArena* arena, GuardEngine engine)
    : state_(std::make_unique<State>(waiter, arena)) {
  fault_signal::install(*state_);
  state_->make_mechanism(engine);
}

PageGuard::~PageGuard() {
  state_->slots.any_overlapping({0, ~std::uintptr_t{0}}, [&](Guarded& guarded) {
    finish(&guarded);
    return false;
  });
  fault_signal::remove();
}

GuardEngine PageGuard::engine() const {
  return dynamic_cast<const UserfaultMechanism*>(state_->mechanism.get()) ? GuardEngine::userfaultfd : GuardEngine::mprotect;
}

bool PageGuard::handler_installed() const { return state_->mechanism->hears_touches(); }

bool PageGuard::hears_writers() { return fault_signal::installed(); }

bool PageGuard::holds_writers_up() {
#ifdef __SANITIZE_THREAD__
  return fault_signal::in_place();  // a thread of the sanitizer's blocks every signal, and writes to no buffer
#else
  return fault_signal::installed();
#endif
}

bool PageGuard::hears_this_thread() { return fault_signal::reaches_this_thread(); }

bool PageGuard::kernel_waits() const { return state_->mechanism->kernel_waits(); }

void PageGuard::abandon() { state_->mechanism->abandon(); }

std::uint64_t PageGuard::first_touch_after(const Guarded& guarded) {
  return guarded.touched_after.load(std::memory_order_acquire);
}

std::uint64_t PageGuard::ran_on_for(const Guarded& guarded, std::uint64_t now) {
  const std::uint64_t touched = first_touch_after(guarded);
  const std::uint64_t lasted = touched != 0 ? touched : now - guarded.protected_at;
  const std::uint64_t stalled = touched != 0 ? guarded.stalled_until_touch.load(std::memory_order_relaxed)
                                             : detail::stall_clock.passed(guarded.stalled_before, now);
  return lasted - std::min(stalled, lasted);
}

std::uint64_t PageGuard::protected_at(const Guarded& guarded) { return guarded.protected_at; }

void PageGuard::note_touch(Guarded& guarded) {
  std::uint64_t never = 0;
  if (guarded.touched_after.load(std::memory_order_relaxed) != never) return;
  const std::uint64_t now = now_ns();
  guarded.stalled_until_touch.store(detail::stall_clock.passed(guarded.stalled_before, now), std::memory_order_relaxed);
  const std::uint64_t after = std::max<std::uint64_t>(now - guarded.protected_at, 1);
  guarded.touched_after.compare_exchange_strong(never, after, std::memory_order_release, std::memory_order_relaxed);
}

bool PageGuard::covers(ByteRange bytes) const {
  return active() != 0 && state_->is_closed(PageRange::covering(bytes), Access::write);
}

PageGuard::Statistics PageGuard::statistics() const {
  const std::lock_guard lock(state_->protection_lock);
  return {state_->releases, state_->faults.load(std::memory_order_relaxed),
          state_->nanoseconds_waited.load(std::memory_order_relaxed), state_->refused};
}

// --- closing and opening ----------------------------------------------------------------------------------------------

Guarded* PageGuard::protect(ByteRange buffer, std::size_t completed, KeptOut kept_out, std::uint32_t operation) {
  State& state = *state_;
  const std::lock_guard lock(state.protection_lock);
  const bool for_writers = kept_out == KeptOut::writers;
  const std::size_t mappings = for_writers ? mappings_per_protection : state.mechanism->mappings_per_release();
  const bool fits = !state.arena || state.arena->has_budget(mappings * (active() + 1));
  Guarded* guarded = fits ? state.slots.take() : nullptr;
  if (!guarded) {
    ++state.refused;
    return nullptr;
  }
  const PageRange pages = PageRange::covering({std::min(buffer.begin + completed, buffer.end), buffer.end});
  guarded->buffer = buffer;
  guarded->protected_at = now_ns();
  guarded->stalled_before = detail::stall_clock.read(guarded->protected_at);
  guarded->touched_after.store(0, std::memory_order_relaxed);
  guarded->kept_out.store(kept_out, std::memory_order_relaxed);
  guarded->operation.store(operation, std::memory_order_relaxed);
  guarded->first.store(pages.begin, std::memory_order_release);
  guarded->last.store(pages.end, std::memory_order_release);
  detail::guarded_releases.fetch_add(1, std::memory_order_relaxed);
  const bool closed = pages.empty() || (for_writers ? state.set_protection(pages, PROT_READ) : state.mechanism->close(pages));
  alias_gate::note_change();
  if (!closed) {
    // A part may have been closed before the kernel ran out of mappings.
    if (!state.advance(*guarded, pages.end)) fatal("cannot undo the protection of a buffer (errno %d)", errno);
    detail::guarded_releases.fetch_sub(1, std::memory_order_relaxed);
    state.slots.give_back(*guarded);
    ++state.refused;
    return nullptr;
  }
  ++state.releases;
  return guarded;
}

void PageGuard::open(Guarded& guarded, std::size_t completed) {
  const std::uintptr_t byte = guarded.buffer.begin + completed;
  const bool all = byte >= guarded.buffer.end;
  if (!all && byte / page_bytes <= guarded.first.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(state_->protection_lock);
  const PageRange closed = guarded.closed();
  // A run that the kernel does not let us open alone (too many mappings) opens with the next one.
  if (!closed.empty()) state_->advance(guarded, all ? closed.end : std::min(byte / page_bytes, closed.end));
}

void PageGuard::finish(Guarded* guarded) {
  const std::lock_guard lock(state_->protection_lock);
  const PageRange closed = guarded->closed();
  if (!closed.empty() && !state_->advance(*guarded, closed.end)) {
    fatal("cannot open %zu pages of a complete message (errno %d)", closed.size(), errno);
  }
  detail::guarded_releases.fetch_sub(1, std::memory_order_relaxed);
  state_->slots.give_back(*guarded);
}

/// Opens the release's pages before `first`, except those that another release keeps closed.
bool PageGuard::State::advance(Guarded& guarded, std::uintptr_t first) {
  const PageRange all{guarded.first.load(std::memory_order_relaxed), first};
  if (all.empty()) return true;
  if (!(guarded.keeps_out(KeptOut::writers) ? admit_writers(all, &guarded) : open_free(all, &guarded))) return false;
  guarded.first.store(first, std::memory_order_release);
  if (trace::on()) [[unlikely]]
    trace::opened(guarded.operation.load(std::memory_order_relaxed), all.bytes());
  return true;
}

/// Opens those of `pages` that no receive but `except` holds.
bool PageGuard::State::open_free(PageRange pages, const Guarded* except) {
  return slots.for_each_run(pages, KeptOut::everybody, except, [&](PageRange run, bool held) { return held || open_run(run); });
}

bool PageGuard::State::open_run(PageRange pages) {
  if (!mechanism->closes_by_protection()) return mechanism->open(pages, Access::write);
  return slots.for_each_run(pages, KeptOut::writers, nullptr,
                            [&](PageRange run, bool sent) { return mechanism->open(run, sent ? Access::read : Access::write); });
}

/// Lets writers into those of `pages` that no send but `except` holds.
bool PageGuard::State::admit_writers(PageRange pages, const Guarded* except) {
  return slots.for_each_run(pages, KeptOut::writers, except,
                            [&](PageRange run, bool held) { return held || set_protection(run, PROT_READ | PROT_WRITE); });
}

/// Where protection is what keeps a page closed, it stays so.
bool PageGuard::State::set_protection(PageRange pages, int protection) {
  if (!mechanism->closes_by_protection()) return set_protection_in_place(arena, pages, protection);
  return slots.for_each_run(pages, KeptOut::everybody, nullptr, [&](PageRange run, bool closed) {
    return closed || set_protection_in_place(arena, run, protection);
  });
}

// --- faults -----------------------------------------------------------------------------------------------------------

bool PageGuard::State::is_closed(PageRange pages, Access access) const {
  return slots.any_overlapping(pages, [access](Guarded& guarded) { return guarded.keeps_from(access); });
}

void PageGuard::State::note_touch(std::uintptr_t page, Access access) {
  faults.fetch_add(1, std::memory_order_relaxed);
  slots.any_overlapping({page, page + 1}, [access](Guarded& guarded) {
    if (guarded.keeps_from(access)) PageGuard::note_touch(guarded);
    return false;
  });
}

/// Returns when the page is open, or when signals want to be let in: the instruction touches the page once more after that.
void PageGuard::State::wait_for(const fault_signal::Fault& fault) {
  const PageRange page{fault.address / page_bytes, fault.address / page_bytes + 1};
  note_touch(page.begin, fault.access);
  const TracedTouch traced(slots, fault);
  const std::uint64_t start = now_ns();
  detail::stall_clock.begin(start);
  std::uint64_t looked = start;
  std::uint64_t now = start;
  const Interrupted before = std::exchange(last_interrupted, {});
  unsigned attempt = before.page == page.begin ? before.attempts : 0;
  for (; is_closed(page, fault.access); ++attempt) {
    waiter.wait_a_little(attempt);
    now = now_ns();
    if (now - looked < signal_latency_ns) continue;
    looked = now;
    if (!fault_signal::signals_wait(fault)) continue;
    last_interrupted = {page.begin, attempt};
    break;
  }
  note_wait(start, now);
}

/// Under the lock, so that nothing comes to be closed between the look and the mapping.
bool PageGuard::State::answer_touch(std::uintptr_t page) {
  const std::lock_guard lock(protection_lock);
  if (is_closed_page(page)) {
    note_touch(page, Access::read);
    return false;
  }
  mechanism->open({page, page + 1}, Access::write);
  return true;
}

void PageGuard::State::map_free(PageRange pages) {
  const std::lock_guard lock(protection_lock);
  open_free(pages, nullptr);
}

/// Runs in the SIGSEGV handler. A fault whose page is neither closed nor being migrated may still have been ours: the page
/// opened between the fault and the look-up. So the instruction is tried again, once; when it faults a second time and nothing
/// was closed in between (alias/gate.hpp says why the generation tells), the fault is the application's own.
bool PageGuard::State::answer(const fault_signal::Fault& fault) {
  if (arena && arena->forks().bring_to_child()) return true;
  const std::uintptr_t page = fault.address / page_bytes;
  for (;;) {
    const std::uint64_t generation = alias_gate::generation();
    if (is_closed({page, page + 1}, fault.access)) {
      wait_for(fault);
      return true;
    }
    if (alias_gate::wait_if_closed(fault.address)) return true;
    if (alias_gate::generation() != generation) continue;
    if (last_retry.address == fault.address && last_retry.generation == generation) return false;
    last_retry = {fault.address, generation};
    return true;
  }
}

}  // namespace sluice
