#include "runtime/engine/job.hpp"

#include <algorithm>
#include <cstdint>

#include "runtime/copy/shared_copy.hpp"

namespace sluice {
namespace {

/// The tail of a synchronous eager message names its request.
constexpr std::size_t eager_trailer = sizeof(std::uint64_t);

std::vector<std::size_t> usable_eager_limits(const EngineParts& parts) {
  std::vector<std::size_t> limits(parts.job_size, parts.config.eager_limit);
  for (std::size_t peer = 0; parts.transport && peer < limits.size(); ++peer) {
    const Peer to{static_cast<std::int32_t>(peer)};
    if (to == parts.self) continue;
    const std::size_t own = parts.transport->eager_limit(to);
    limits[peer] = std::min(own != 0 ? own : limits[peer], parts.transport->max_payload(to) - eager_trailer);
  }
  return limits;
}

/// Where processes share processors, whoever announces waits for its receiver's turn, which takes longer than a second copy.
std::size_t choose_single_copy_bytes(const EngineParts& parts) {
  if (parts.config.single_copy != 0) return parts.config.single_copy;
  return parts.processors.oversubscribed() ? shared_copy::never : parts.calibration.single_copy_bytes;
}

bool streams_to_somebody(const EngineParts& parts) {
  if (!parts.transport) return false;
  for (std::size_t peer = 0; peer < parts.job_size; ++peer) {
    const Peer other{static_cast<std::int32_t>(peer)};
    if (other != parts.self && parts.transport->streams_directly(other)) return true;
  }
  return false;
}

}  // namespace

Job::Job(const EngineParts& parts)
    : self(parts.self),
      size(parts.job_size),
      transport(parts.transport),
      arena(parts.arena),
      arena_is_its_own(parts.arena_is_its_own),
      host(parts.host),
      config(parts.config),
      calibration(parts.calibration),
      caches(parts.caches),
      chunk_bytes(config.copy_chunk != 0 ? config.copy_chunk : calibration.chunk_bytes),
      processes_on_node(parts.processors.processes),
      oversubscribed(parts.processors.oversubscribed()),
      crowded(parts.processors.crowded()),
      spare_processor(parts.processors.has_spare()),
      concurrent_calls(parts.concurrent_calls),
      uses_sockets(streams_to_somebody(parts)),
      eager_limits(usable_eager_limits(parts)),
      eager_limit(*std::min_element(eager_limits.begin(), eager_limits.end())),
      single_copy_bytes(choose_single_copy_bytes(parts)) {}

}  // namespace sluice
