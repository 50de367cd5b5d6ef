// The registration cache of a job: made on first use, and told of what the arena does to memory.

#include "runtime/engine/state.hpp"

namespace sluice {

RegistrationCache& Engine::State::registration_cache(Rdma& rdma) {
  if (!registrations) {
    registrations = std::make_unique<RegistrationCache>(rdma, RegistrationCache::Limits{config.reg_bytes, config.reg_entries});
    if (arena) arena->watch_registrations(registrations.get());
  }
  return *registrations;
}

const RegistrationCache* Engine::registrations() const { return state_->registrations.get(); }

}  // namespace sluice
