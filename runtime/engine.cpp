// Construction, contexts, and the end.

#include "runtime/engine.hpp"

#include "runtime/engine_impl.hpp"

namespace sluice {

Engine::Engine(const Parts& parts)
    : impl_(std::make_unique<Impl>(parts)),
      contexts_(impl_.get()),
      completion_(impl_.get()),
      probes_(impl_.get()),
      memory_(impl_.get()),
      host_calls_(impl_.get()),
      collectives_(impl_.get()),
      reports_(impl_.get()) {}

Engine::~Engine() = default;

Context* Engine::Contexts::adopt(ContextId id, std::vector<Peer> group, Rank self) {
  const Lock lock(impl_->mutex);
  return &impl_->matcher.adopt(id, std::move(group), self);
}

void Engine::Contexts::retire(Context* context) {
  const Lock lock(impl_->mutex);
  if (context->channel) impl_->matcher.retire(context->channel);
  impl_->matcher.retire(context);
}

void Engine::Contexts::keep(Context& context) {
  const Lock lock(impl_->mutex);
  Matcher::keep(context);
}

void Engine::Contexts::let_go(Context& context) {
  const Lock lock(impl_->mutex);
  impl_->matcher.let_go(&context);
}

void Engine::Contexts::choose_rendezvous(Context& context, Rendezvous rendezvous) {
  const Lock lock(impl_->mutex);
  context.rendezvous = rendezvous;
}

void Engine::Contexts::let_errors_return(Context& context, bool may_return) {
  const Lock lock(impl_->mutex);
  context.errors_return = may_return;
  if (context.channel) context.channel->errors_return = may_return;
}

const EngineStatistics& Engine::statistics() const { return impl_->statistics; }

std::vector<ReleasePolicy::Report> Engine::Reports::call_sites() const {
  const Lock lock(impl_->mutex);
  return impl_->releases.policy().reports();
}

const PageGuard* Engine::Reports::guard() const { return impl_->memory_users.guard(); }

const RegistrationCache* Engine::Reports::registrations() const { return impl_->job_registrations.cache().get(); }

void Engine::abandon() {
  impl_->background.abandon();
  held_signals::let_go();  // the lock is never given back here
  static_cast<void>(impl_.release());
}

}  // namespace sluice
