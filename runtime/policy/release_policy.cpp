#include "runtime/policy/release_policy.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/base/clock.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace sluice {
namespace {

/// Median time to protect and open `pages` present pages.
double time_protection(void* memory, std::size_t pages) {
  std::array<std::uint64_t, 5> times{};
  for (auto& time : times) {
    const std::uint64_t start = now_ns();
    mprotect(memory, pages * page_bytes, PROT_NONE);
    mprotect(memory, pages * page_bytes, PROT_READ | PROT_WRITE);
    time = now_ns() - start;
  }
  std::sort(times.begin(), times.end());
  return static_cast<double>(times[times.size() / 2]);
}

}  // namespace

ReleasePolicy::Cost ReleasePolicy::measure_cost() {
  // Of a few pages the processor forgets each translation by itself, of more all at once: what a page costs shows in the latter.
  constexpr std::size_t few = 4;
  constexpr std::size_t many = 64;
  constexpr std::size_t most = 256;
  Cost cost;
  void* memory = mmap(nullptr, most * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return cost;
  std::memset(memory, 1, most * page_bytes);
  const double time_few = time_protection(memory, few);
  const double time_many = time_protection(memory, many);
  const double time_most = time_protection(memory, most);
  munmap(memory, most * page_bytes);
  cost.page_ns = std::max(0.0, (time_most - time_many) / (most - many));
  cost.base_ns = std::max(1000.0, time_few - few * cost.page_ns);
  return cost;
}

std::uint64_t ReleasePolicy::cost_ns(std::size_t pages) const {
  return static_cast<std::uint64_t>(slowness_ * (cost_.base_ns + cost_.page_ns * static_cast<double>(pages)));
}

ReleasePolicy::Entry& ReleasePolicy::entry(CallSite site) {
  const std::uintptr_t address = site.return_address();
  Entry& found = entries_[XXH3_64bits(&address, sizeof address) % entries_.size()];
  if (found.site.return_address() != address) found = {.site = site};
  return found;
}

bool ReleasePolicy::allows(CallSite site) {
  Entry& found = entry(site);
  if (found.resting == 0) return true;
  --found.resting;
  return false;
}

ReleasingCall& ReleasePolicy::begin(CallSite site) {
  if (free_calls_.empty()) {
    free_calls_.push_back(&calls_.emplace_back());
    free_calls_.reserve(calls_.size());  // a call may end in the fault handler, where nothing should be allocated
  }
  ReleasingCall& call = *free_calls_.back();
  free_calls_.pop_back();
  call = {.site = site};
  return call;
}

/// A thread that loses its processor meanwhile must not make a release look expensive for good: up by a quarter at most.
void ReleasePolicy::closed(ReleasingCall& call, std::uint64_t closing_ns, std::uint64_t expected_ns) {
  call.closing_ns = closing_ns;
  const double now =
      slowness_ * 2 * static_cast<double>(closing_ns) / static_cast<double>(std::max<std::uint64_t>(expected_ns, 1));
  slowness_ += (std::clamp(now, 1.0, 2 * slowness_) - slowness_) / 4;
}

void ReleasePolicy::end(ReleasingCall& call, std::uint64_t hidden_ns, std::uint64_t price_ns) {
  call.hidden_ns = std::max(call.hidden_ns, hidden_ns);
  call.price_ns += price_ns;
  if (--call.open != 0) return;
  learn(call);
  free_calls_.push_back(&call);
}

/// A call that pays may be an accident (the thread lost its processor before it touched the data), so it makes up for as many
/// losses as it was worth and halves the next rest, no more: a site that mostly loses soon rests again.
void ReleasePolicy::learn(const ReleasingCall& call) {
  Entry& found = entry(call.site);
  ++found.calls;
  found.hidden_ns += call.hidden_ns;
  const std::uint64_t price_ns = std::max(call.price_ns, 2 * call.closing_ns);
  if (call.hidden_ns > price_ns) {
    const std::uint64_t worth = call.hidden_ns / std::max<std::uint64_t>(price_ns, 1);
    found.losses -= static_cast<std::uint32_t>(std::min<std::uint64_t>(found.losses, worth));
    found.next_rest = std::max(found.next_rest / 2, first_rest);
    return;
  }
  ++found.all_losses;
  if (++found.losses < losses_before_rest) return;
  found.losses = losses_before_rest - 1;  // one loss at the next trial sends it back to rest
  found.resting = found.next_rest;
  found.next_rest = std::min(found.next_rest * 2, longest_rest);
}

std::vector<ReleasePolicy::Report> ReleasePolicy::reports() const {
  std::vector<Report> reports;
  for (const Entry& entry : entries_) {
    if (entry.calls == 0) continue;
    reports.push_back({entry.site, entry.calls, entry.all_losses, entry.hidden_ns, entry.resting != 0});
  }
  std::sort(reports.begin(), reports.end(), [](const Report& a, const Report& b) { return a.calls > b.calls; });
  return reports;
}

}  // namespace sluice
