#include "runtime/registration/job_registrations.hpp"

namespace sluice {

JobRegistrations::~JobRegistrations() {
  if (cache_ && arena_) arena_->watch_registrations(nullptr);
}

RegisteredMemory JobRegistrations::acquire(Rdma& adapter, ByteRange bytes, Backing backing) {
  if (!cache_) {
    cache_ = std::make_unique<RegistrationCache>(adapter, limits_);
    if (arena_) arena_->watch_registrations(cache_.get());
  }
  return cache_->acquire(bytes, backing);
}

}  // namespace sluice
