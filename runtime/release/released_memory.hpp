// What released operations keep the program from, in its memory: questions of who settles (page-guard rules 6, 8, 9, 12). Nobody
// is waited for here.
//
// Belongs to the engine lock.
#pragma once

#include "runtime/base/types.hpp"
#include "runtime/engine/causality.hpp"
#include "runtime/engine/trace_events.hpp"
#include "runtime/release/host_needs.hpp"

namespace sluice {

class ReleasedMemory {
 public:
  explicit ReleasedMemory(const Causality& causality) : released_(causality.released()) {}

  /// Some release keeps the program from this access.
  [[nodiscard]] bool keeps_from(ByteRange bytes, Access access) const;
  /// ... or the host from its call.
  [[nodiscard]] bool keeps_from(const HostNeeds& needs) const;
  /// The program needs these bytes now: a send whose buffer they are in has hidden no more than until now.
  void note_need(ByteRange bytes, Access access) const;
  /// Data of a released receive may come at any moment, without a message that tells it.
  [[nodiscard]] bool data_is_moving() const;

  /// Tells the trace which releases are waited for.
  template <class Concerned>
  void tell(trace::Settling& traced, Concerned concerned) const {
    if (!traced.wants_releases()) [[likely]]
      return;
    for (const Request* request = released_.first(); request; request = Causality::Released::next(request)) {
      if (concerned(*request)) traced.add(*request);
    }
  }
  void tell(trace::Settling& traced, ByteRange bytes, Access access) const;
  void tell(trace::Settling& traced, const HostNeeds& needs) const;

 private:
  const Causality::Released& released_;
};

}  // namespace sluice
