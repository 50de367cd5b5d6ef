#include "runtime/request_waits.hpp"

#include <algorithm>

#include "runtime/engine/trace_events.hpp"
#include "runtime/trace/call.hpp"

namespace sluice {
namespace {

constexpr std::uint64_t never = ~std::uint64_t{0};
/// How long a receive is waited for before it is released where the wait gives the processor to another process of the job: such
/// a release hides nothing unless the job as a whole is short of work.
constexpr std::uint64_t min_wait_oversubscribed_ns = 200'000;

bool is_open(const Request* request) { return request && !request->may_return(); }

}  // namespace

std::uint64_t RequestWaits::first_try_ns() const {
  const Job& job = parts_.progress.job();
  if (job.config.release == ReleaseMode::off) return never;
  const std::uint64_t cost_ns = parts_.releases.policy().cost_ns(0);
  return job.oversubscribed ? std::max(min_wait_oversubscribed_ns, cost_ns) : cost_ns;
}

void RequestWaits::all(Lock& lock, std::span<Request* const> requests, CallSite site) {
  std::size_t first_open = 0;
  const auto all_may_return = [&] {
    while (first_open < requests.size() && !is_open(requests[first_open])) ++first_open;
    return first_open == requests.size();
  };
  Progress& progress = parts_.progress;
  progress.note_awaited(requests);
  if (all_may_return()) return;
  trace::Wait traced(requests);
  const Counted counted(progress.waiting(), lock);
  Waiter waiter(progress, Waiter::Who::application);
  Releases& releases = parts_.releases;
  std::uint64_t next_try = first_try_ns();
  bool asked = false;  // of the call site, once a call
  do {
    if (progress.round(lock)) continue;
    waiter.step(lock, next_try);
    waiter.let_cancellation_act(lock);
    traced.lasts(waiter.waited_ns());
    if (waiter.waited_ns() < next_try) continue;
    next_try = 2 * waiter.waited_ns();
    if (!asked && !releases.policy().allows(site)) {
      releases.refuse(requests.subspan(first_open), Fallback::call_site_never_pays, waiter.waited_ns());
      next_try = never;
      continue;
    }
    asked = true;
    parts_.bounced_sends.bounce(lock, requests.subspan(first_open), waiter.waited_ns());
    if (releases.try_release(lock, requests.subspan(first_open), site, waiter.waited_ns())) break;
  } while (!all_may_return());
  parts_.statistics.waited_ns += waiter.waited_ns();
}

void RequestWaits::any(Lock& lock, std::span<Request* const> requests) {
  Progress& progress = parts_.progress;
  Waiter waiter(progress, Waiter::Who::application);
  const trace::Wait traced(requests);
  progress.note_awaited(requests);
  const auto complete = [](const Request* request) { return request && request->complete.load(std::memory_order_relaxed); };
  while (std::none_of(requests.begin(), requests.end(), complete)) {
    if (progress.round(lock)) continue;
    waiter.step(lock);
    waiter.let_cancellation_act(lock);
  }
}

}  // namespace sluice
