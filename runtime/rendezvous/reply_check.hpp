// Whether what a peer says of one operation of this process is possible now: replies name an operation that waits for such a
// reply, and what they ask for lies within the message. As engine/wire_check.hpp, for messages that only the ways understand.
//
// Each check answers nullptr when all is well, otherwise what is wrong. All of them belong to the engine lock.
#pragma once

#include <cstddef>

#include "runtime/engine/request.hpp"
#include "runtime/transport/message.hpp"

namespace sluice {

/// cts, refuse, data, fin, ack, for the request that the message names.
[[nodiscard]] const char* reply_fault(const Request& request, Peer from, const WireHeader& header);

[[nodiscard]] const char* clearance_fault(const Request& send, const ClearToSend& clear);
[[nodiscard]] const char* refusal_fault(const Request& receive, std::size_t offset);

}  // namespace sluice
