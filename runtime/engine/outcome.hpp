// What is asked for with a send, and what a completed operation tells.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/types.hpp"

namespace sluice {

enum class SendMode : std::uint8_t {
  standard,     // also ready mode
  synchronous,  // complete once the receiver has matched it
  buffered,     // copied aside; complete at once
};

enum class Failure : std::uint8_t { none, truncated };

/// For receives and probes all fields, for sends only `failure`.
struct Outcome {
  Rank source{};
  Tag tag{};
  Failure failure = Failure::none;
  bool cancelled = false;
  std::size_t bytes = 0;
  /// Not zero: the receive was released before its message was known; `bytes` is not valid, Engine::Memory::resolve gives it.
  std::uint64_t lazy_token = 0;
};

}  // namespace sluice
