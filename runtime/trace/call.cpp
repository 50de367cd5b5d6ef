#include "runtime/trace/call.hpp"

#include <atomic>
#include <utility>

namespace sluice::trace {
namespace detail {
[[gnu::tls_model("initial-exec")]] constinit thread_local CurrentCall current_call;
}

namespace {

/// Blocking calls of the process are numbered from 1, and only their being different matters: each thread takes so many at once,
/// as a word that all write to would cost every call.
constexpr std::uint32_t numbers_at_once = 1024;
constinit std::atomic<std::uint32_t> numbers_taken{0};
[[gnu::tls_model("initial-exec")]] constinit thread_local std::uint32_t last_number = 0;

std::uint32_t next_number() {
  if (last_number % numbers_at_once == 0) last_number = numbers_taken.fetch_add(numbers_at_once, std::memory_order_relaxed);
  return ++last_number;
}

}  // namespace

void Call::begin(std::uintptr_t return_address, const void* frame, const char* function) {
  outer_ = current_call();
  current_call() = {site_of_call(return_address, frame, function), blocks_ ? next_number() : 0};
  started_ = now();
}

void Call::end() {
  const CurrentCall call = current_call();
  const std::uint64_t started = std::exchange(started_, 0);
  current_call() = outer_;
  if (!blocks_) return;
  const bool just_told = call.over_ns != 0 && call.over_ns == last_record_ns();
  write({.kind = static_cast<std::uint16_t>(Kind::call),
         .detail = static_cast<std::uint16_t>(by_),
         .value = call.waited_ns,
         .site = call.site,
         .extra = call.number},
        started, just_told ? with_last : 0);
}

void Span::begin() { started_ = now(); }

void Span::end() { write({.kind = static_cast<std::uint16_t>(kind_)}, started_); }

}  // namespace sluice::trace
