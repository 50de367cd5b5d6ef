// Calls of the host's, as the engine has to know of them: while one lasts, the helper thread answers peers, and no page is
// replaced.
//
// Threading: any thread. The words say whose they are.
#pragma once

#include <atomic>

namespace sluice {

namespace detail {
/// Peers get their answers from the helper thread. For wrappers, which hold no lock. Written under the engine lock; a thread
/// reads what it wrote itself, so relaxed is enough.
extern std::atomic<bool> host_call_prepared;
/// The frame of the calling thread's innermost `InHostCall`.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local const void* in_host_call;
}  // namespace detail

/// The calling thread is in a call of the host's, which may call back into the program; what is prepared for it holds until
/// the call returns.
class InHostCall {
 public:
  /// Not its own address, which a sanitizer may have put elsewhere than on the stack.
  InHostCall() : outer_(detail::in_host_call) { detail::in_host_call = __builtin_frame_address(0); }
  ~InHostCall() { detail::in_host_call = outer_; }
  InHostCall(const InHostCall&) = delete;
  InHostCall& operator=(const InHostCall&) = delete;

 private:
  const void* outer_;
};

}  // namespace sluice
