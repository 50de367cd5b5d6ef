#include "runtime/release/released_memory.hpp"

#include <algorithm>

#include "runtime/guard/page_guard.hpp"

namespace sluice {
namespace {

bool keeps(const Request& released, ByteRange bytes, Access access) {
  return (access == Access::write || !released.is_send()) && released.range().overlaps(bytes);
}

/// The rules of docs/host-calls.md.
bool keeps(const Request& released, const HostNeeds& needs) {
  const auto overlaps = [&](const HostNeeds::Buffer& buffer) { return keeps(released, buffer.bytes, buffer.access); };
  const std::span<const HostNeeds::Buffer> buffers = needs.buffers();
  if (std::any_of(buffers.begin(), buffers.end(), overlaps)) return true;
  switch (needs.reach()) {
    case HostNeeds::Reach::local:
      return false;
    case HostNeeds::Reach::copied:
      return released.is_send() || released.unknown;
    case HostNeeds::Reach::everything:
      break;
  }
  return true;
}

}  // namespace

bool ReleasedMemory::keeps_from(const HostNeeds& needs) const {
  for (const Request* request = released_.first(); request; request = Causality::Released::next(request)) {
    if (keeps(*request, needs)) return true;
  }
  return false;
}

bool ReleasedMemory::keeps_from(ByteRange bytes, Access access) const {
  for (const Request* request = released_.first(); request; request = Causality::Released::next(request)) {
    if (keeps(*request, bytes, access)) return true;
  }
  return false;
}

void ReleasedMemory::note_need(ByteRange bytes, Access access) const {
  if (access != Access::write) return;
  for (const Request* send = released_.first(); send; send = Causality::Released::next(send)) {
    if (send->is_send() && send->range().overlaps(bytes)) PageGuard::note_touch(*send->guarded);
  }
}

bool ReleasedMemory::data_is_moving() const {
  for (const Request* request = released_.first(); request; request = Causality::Released::next(request)) {
    if (!request->is_send() && !request->unknown) return true;
  }
  return false;
}

void ReleasedMemory::tell(trace::Settling& traced, ByteRange bytes, Access access) const {
  tell(traced, [&](const Request& request) { return keeps(request, bytes, access); });
}

void ReleasedMemory::tell(trace::Settling& traced, const HostNeeds& needs) const {
  tell(traced, [&](const Request& request) { return keeps(request, needs); });
}

}  // namespace sluice
