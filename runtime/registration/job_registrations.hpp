// The registrations of a job: one cache, as there is one adapter. It is made with its first use, and then told of what the arena
// does to memory (AliasArena::watch_registrations).
//
// Belongs to the engine lock.
#pragma once

#include <memory>

#include "runtime/registration/registration_cache.hpp"

namespace sluice {

class JobRegistrations {
 public:
  /// `arena`: nullptr where there are no blocks.
  JobRegistrations(AliasArena* arena, RegistrationCache::Limits limits) : arena_(arena), limits_(limits) {}
  ~JobRegistrations();
  JobRegistrations(const JobRegistrations&) = delete;
  JobRegistrations& operator=(const JobRegistrations&) = delete;

  /// As RegistrationCache::acquire.
  [[nodiscard]] RegisteredMemory acquire(Rdma& adapter, ByteRange bytes, Backing backing);
  /// nullptr before the first use.
  [[nodiscard]] const std::unique_ptr<RegistrationCache>& cache() const { return cache_; }

 private:
  AliasArena* arena_;
  RegistrationCache::Limits limits_;
  std::unique_ptr<RegistrationCache> cache_;
};

}  // namespace sluice
