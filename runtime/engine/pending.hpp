// What waits in the engine before it leaves the process.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/types.hpp"
#include "runtime/transport/message.hpp"

namespace sluice {

class Request;

/// Something that would leave the process while a released receive is not matched yet.
struct HeldBack {
  enum class What : std::uint8_t { send, transfer, acknowledgement } what;
  std::uint64_t operation = 0;
  Request* request = nullptr;  // send, transfer
  Peer peer{};                 // acknowledgement
  std::uint64_t subject = 0;
  std::uint32_t traced = 0;  // the operation's number in the trace, and since when it is held
  std::uint64_t since_ns = 0;
};

}  // namespace sluice
