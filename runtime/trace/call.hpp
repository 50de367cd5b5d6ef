// The MPI call that a thread is in, for records of what happens on its behalf.
#pragma once

#include <cstdint>

#include "runtime/trace/sites.hpp"
#include "runtime/trace/trace.hpp"

namespace sluice::trace {

struct CurrentCall {
  std::uint32_t site = 0;
  std::uint32_t number = 0;     // of a blocking call; 0: of none
  std::uint64_t waited_ns = 0;  // so far, for Sluice's operations
  std::uint32_t completed = 0;  // the last operation that this thread completed
  std::uint64_t over_ns = 0;    // when it had nothing left but to return, unless it told something since; 0: not known
};

namespace detail {
/// Each thread's own, and its signal handlers'; a handler that makes calls may leave another site behind.
extern thread_local CurrentCall current_call;
}  // namespace detail
inline CurrentCall& current_call() { return detail::current_call; }

/// A call of MPI, from its entry to its return. Blocking ones are recorded when they return.
class Call {
 public:
  /// See site_of_call.
  Call(std::uintptr_t return_address, const void* frame, const char* function, CallClass by, bool blocks)
      : by_(by), blocks_(blocks) {
    if (on()) [[unlikely]]
      begin(return_address, frame, function);
  }
  ~Call() {
    if (started_ != 0) [[unlikely]]
      end();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

 private:
  void begin(std::uintptr_t return_address, const void* frame, const char* function);
  void end();

  CallClass by_;
  bool blocks_;
  std::uint64_t started_ = 0;
  CurrentCall outer_;
};

/// A stretch of time that is recorded when it is over.
class Span {
 public:
  explicit Span(Kind kind) : kind_(kind) {
    if (on()) [[unlikely]]
      begin();
  }
  ~Span() {
    if (started_ != 0) [[unlikely]]
      end();
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  void begin();
  void end();

  Kind kind_;
  std::uint64_t started_ = 0;
};

}  // namespace sluice::trace
