// Calls that wait for requests: for all of some, which may be released meanwhile, or for any of them.
//
// A wait for all makes rounds of the engine's work until each request may return. Once it has lasted as long as a release would
// cost, it tries to release what is left, and again whenever it has lasted twice as long. Before that it copies sends away that
// a network takes slowly.
//
// Owns nothing. Belongs to the engine lock; the caller is inside, and the lock is given up in between.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/base/call_site.hpp"
#include "runtime/engine/request.hpp"
#include "runtime/engine/statistics.hpp"
#include "runtime/progress.hpp"
#include "runtime/release/bounced_sends.hpp"
#include "runtime/release/releases.hpp"
#include "runtime/waiter.hpp"

namespace sluice {

class RequestWaits final : public BouncedSends::Host {
 public:
  struct Parts {
    Progress& progress;
    Releases& releases;
    BouncedSends& bounced_sends;
    EngineStatistics& statistics;
  };
  explicit RequestWaits(const Parts& parts) : parts_(parts) {}

  /// Until each is complete or released. Null entries are skipped.
  void all(Lock& lock, std::span<Request* const> requests, CallSite site);
  /// Until one is complete. Null entries are skipped; not all are null.
  void any(Lock& lock, std::span<Request* const> requests);

  // --- as BouncedSends::Host says
  void progress(Lock& lock) override { parts_.progress.round(lock); }

 private:
  [[nodiscard]] std::uint64_t first_try_ns() const;

  const Parts parts_;
};

}  // namespace sluice
