#include "interpose/session/session_use.hpp"

#include <sched.h>

#include <atomic>
#include <chrono>

#include "interpose/session/engaged.hpp"

namespace sluice {
namespace {

std::atomic<long> uses{0};
std::atomic<bool> ending{false};
// Of the calling thread. In the static TLS block, as allocators' calls come here.
[[gnu::tls_model("initial-exec")]] constinit thread_local long own_uses = 0;
[[gnu::tls_model("initial-exec")]] constinit thread_local bool ends_it = false;

/// Far longer than a thread needs to leave, on any machine that still works.
constexpr std::chrono::seconds max_wait{1};

void wait_for_uses() {
  const auto begun = std::chrono::steady_clock::now();
  while (uses.load(std::memory_order_seq_cst) > own_uses && std::chrono::steady_clock::now() - begun < max_wait) sched_yield();
}

}  // namespace

bool SessionUse::begin() {
  ++own_uses;
  uses.fetch_add(1, std::memory_order_seq_cst);
  return detail::engaged.load(std::memory_order_seq_cst);
}

void SessionUse::end() {
  uses.fetch_sub(1, std::memory_order_release);
  --own_uses;
}

void SessionUse::wait_until_ended() {
  while (ending.load(std::memory_order_acquire) && !ends_it) sched_yield();
}

void SessionUse::forget_ending() { ending.store(false, std::memory_order_relaxed); }

SessionEnd::SessionEnd() {
  ends_it = true;
  ending.store(true, std::memory_order_relaxed);
  detail::engaged.store(false, std::memory_order_seq_cst);
  wait_for_uses();
}

SessionEnd::~SessionEnd() {
  ending.store(false, std::memory_order_release);
  ends_it = false;
}

}  // namespace sluice
