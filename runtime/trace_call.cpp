#include "runtime/trace_call.hpp"

#include <atomic>
#include <utility>

namespace sluice::trace {
namespace detail {
[[gnu::tls_model("initial-exec")]] constinit thread_local CurrentCall current_call;
}

namespace {

/// Counts the blocking calls of the process; only their being different matters.
constinit std::atomic<std::uint32_t> calls{0};

}  // namespace

void Call::begin(std::uintptr_t return_address, const void* frame, const char* function) {
  outer_ = current_call();
  site_ = site_of_call(return_address, frame, function);
  current_call() = {site_, blocks_ ? calls.fetch_add(1, std::memory_order_relaxed) + 1 : 0, 0};
  started_ = now();
}

void Call::end() {
  const CurrentCall call = current_call();
  const std::uint64_t started = std::exchange(started_, 0);
  current_call() = outer_;
  if (!blocks_) return;
  write({.kind = static_cast<std::uint16_t>(Kind::call),
         .detail = static_cast<std::uint16_t>(by_),
         .value = call.waited_ns,
         .site = call.site,
         .extra = call.number},
        started);
}

void Span::begin() { started_ = now(); }

void Span::end() { write({.kind = static_cast<std::uint16_t>(kind_)}, started_); }

}  // namespace sluice::trace
