// The header in front of every message on a connection: fixed size, little-endian, versioned.
//
//   byte  0  mark       1   0xd0 + version
//         1  kind       1   MessageKind, or Control + 128
//         2  flags      1
//         3  payload    3   bytes that follow the header
//         6  rtrs       2   of kinds that take part in matching (eager, rts, rtr), as in transport/message.hpp; otherwise 0
//         8  subject    8   as in transport/message.hpp; of kinds that take part in matching in two parts:
//         8    context  5
//        13    source   3   rank of the sender in the context
//        16  tag        4   of kinds that take part in matching; otherwise 0
//
// Short, since on a slow link bytes are time: 8 of them are 64 ns of a ping-pong at 1 Gbit/s. The host's tcp has 22. So ranks
// have 24 bits, and contexts 40 (runtime/base/types.hpp).
//
// Nothing of a header is used before all of it was found possible: known kind, no flag that the kind does not have, a length
// that the kind can have. So a receiver never reserves memory for, or waits for, what a damaged length says. Whether `subject`
// names an operation of this process is the engine's to check, which knows them.
//
// Threading: none of its own; allocates nothing (`explain` does, for the one line that ends a connection).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "runtime/transport/message.hpp"

namespace sluice::frame {

inline constexpr std::size_t header_bytes = 20;
inline constexpr std::uint8_t format_version = 3;  // up to 15
/// Longest payload of a `data` message: these go straight into user memory, so their length costs no memory.
inline constexpr std::size_t max_data_bytes = std::size_t{1} << 20;

using Header = std::array<std::byte, header_bytes>;

/// What one transport says to the other, without the engines. No payload.
enum class Control : std::uint8_t {
  none = 0,
  goodbye = 1,  // this process ends the job: the end of the connection that follows is no fault
  ping = 2,     // to be answered with a pong with the same subject
  pong = 3,
};

/// What is wrong with a header; the first that was found.
enum class Fault : std::uint8_t { none, mark, version, kind, flags, length, tag, reserved };

struct Decoded {
  Fault fault = Fault::none;
  Control control = Control::none;  // otherwise `header` is a message for the engine, or for control its subject
  WireHeader header;

  [[nodiscard]] bool good() const { return fault == Fault::none; }
};

void encode(const WireHeader& message, std::span<std::byte, header_bytes> target);
void encode(Control control, std::uint64_t subject, std::span<std::byte, header_bytes> target);

/// `max_payload`: longest payload of kinds other than `data`, in bytes.
[[nodiscard]] Decoded decode(std::span<const std::byte, header_bytes> bytes, std::size_t max_payload);

/// What decode found wrong with these bytes, with the values: "its frame announces 70000 bytes of kind eager, at most ...".
[[nodiscard]] std::string explain(std::span<const std::byte, header_bytes> bytes, std::size_t max_payload);

}  // namespace sluice::frame
