#include "runtime/release/released_memory.hpp"

#include "runtime/guard/page_guard.hpp"

namespace sluice {
namespace {

bool keeps(const Request& released, ByteRange bytes, Access access) {
  return (access == Access::write || !released.is_send()) && released.range().overlaps(bytes);
}

}  // namespace

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

}  // namespace sluice
