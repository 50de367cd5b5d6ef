// Collective calls that go by messages, as a thread sees them that makes one (collective_calls.hpp).

#include <optional>
#include <utility>

#include "runtime/collective_call.hpp"
#include "runtime/engine_impl.hpp"
#include "runtime/trace/call.hpp"

namespace sluice {
namespace {

/// A blocking call, which is carried on by others when its thread ends in it.
class BlockingCall {
 public:
  BlockingCall(Engine::Impl& impl, Context& context, CollectiveOrder order, CallSite site)
      : impl_(impl),
        lock_(impl.mutex),
        inside_(std::in_place, impl.progress, lock_),
        call_(impl.collective_calls.begin(context, std::move(order), site)),
        site_(site) {}
  ~BlockingCall() {
    if (has_ended_) return;
    if (!lock_.owns_lock()) lock_.lock();
    impl_.collective_calls.leave(call_);
  }
  BlockingCall(const BlockingCall&) = delete;
  BlockingCall& operator=(const BlockingCall&) = delete;

  Outcome carry_out() {
    go_to_last_round();
    if (!call_.is_over()) wait_for_last_round();
    has_ended_ = true;
    return impl_.collective_calls.end(call_);
  }

 private:
  void go_to_last_round() {
    const bool is_traced = call_.traced().has_value();
    trace::IdleTime idle;
    Waiter waiter(impl_.progress, Waiter::Who::application);
    for (;;) {
      bool moved = call_.advance();
      if (call_.is_over() || call_.run().is_last_wait()) break;
      if (call_.run().has_work()) {
        call_.work(lock_);
        moved = true;
      }
      if (call_.run().awaits_program()) {
        call_program();
        continue;
      }
      moved |= impl_.progress.round(lock_);
      if (is_traced) moved ? idle.ends() : idle.begins();
      if (moved) continue;
      waiter.step(lock_);
      waiter.let_cancellation_act(lock_);
    }
    impl_.statistics.waited_ns += waiter.waited_ns();
    if (is_traced) tell(idle);
  }

  void tell(trace::IdleTime& idle) {
    idle.ends();
    call_.traced()->has_waited(idle.sum_ns());
    trace::current_call().waited_ns += idle.sum_ns();
  }

  void wait_for_last_round() {
    const std::uint64_t before = trace::current_call().waited_ns;
    impl_.request_waits.all(lock_, call_.run().open(), site_);
    if (call_.traced()) call_.traced()->has_waited(trace::current_call().waited_ns - before);
  }

  /// As if it ran between two calls of MPI.
  void call_program() {
    inside_.reset();
    lock_.unlock();
    call_.run().call_program();
    lock_.lock();
    inside_.emplace(impl_.progress, lock_);
  }

  Engine::Impl& impl_;
  Lock lock_;
  std::optional<Inside> inside_;
  CollectiveCall& call_;
  const CallSite site_;
  bool has_ended_ = false;
};

}  // namespace

Outcome Engine::Collectives::carry_out(Context& context, CollectiveOrder order, CallSite site) {
  return BlockingCall(*impl_, context, std::move(order), site).carry_out();
}

std::optional<std::uint32_t> Engine::Collectives::make_persistent(Context& context) {
  const Lock lock(impl_->mutex);
  return impl_->collective_calls.make_persistent(context);
}

void Engine::Collectives::unmake_persistent(Context& context) {
  const Lock lock(impl_->mutex);
  impl_->collective_calls.unmake_persistent(context);
}

Request* Engine::Collectives::start(Context& context, CollectiveOrder order, CallSite site) {
  Lock lock(impl_->mutex);
  Inside inside(impl_->progress, lock);
  return impl_->collective_calls.start(lock, context, std::move(order), site);
}

}  // namespace sluice
