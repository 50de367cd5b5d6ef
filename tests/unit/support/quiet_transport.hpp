// A transport on which nothing comes and nothing leaves, for classes that only ask what it can.
#pragma once

#include "tests/unit/support/minimal_transport.hpp"

namespace sluice {

class QuietTransport final : public MinimalTransport {
 public:
  [[nodiscard]] std::size_t max_payload(Peer) const override { return 16384; }
  [[nodiscard]] bool streams_directly(Peer) const override { return streams; }
  [[nodiscard]] bool can_write(Peer) const override { return writes; }
  [[nodiscard]] std::uint64_t progress(std::uint32_t) const override { return in_place; }

  bool streams = false;
  bool writes = false;
  std::uint64_t in_place = 0;  // of every progress slot
};

}  // namespace sluice
