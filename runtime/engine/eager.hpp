// Messages that take part in matching, as their senders write them: the header, and the payload of an eager one.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/engine/job.hpp"
#include "runtime/engine/matching.hpp"
#include "runtime/engine/request.hpp"
#include "runtime/transport/message.hpp"

namespace sluice {

/// Composed in registers: a header that was stored field by field and is then copied by whole words would have to wait for its
/// stores.
[[nodiscard]] inline WireHeader plain_eager_header(const Context& context, Tag tag, std::uint16_t rtrs, std::uint32_t bytes) {
  static_assert(std::endian::native == std::endian::little && offsetof(WireHeader, rtrs) == 2 &&
                offsetof(WireHeader, payload_bytes) == 4 && offsetof(WireHeader, tag) == 20);
  const std::uint64_t first =
      static_cast<std::uint64_t>(MessageKind::eager) | std::uint64_t{rtrs} << 16 | std::uint64_t{bytes} << 32;
  const std::uint64_t last = static_cast<std::uint32_t>(context.self()) | std::uint64_t{static_cast<std::uint32_t>(tag)} << 32;
  return std::bit_cast<WireHeader>(std::array{first, static_cast<std::uint64_t>(context.id()), last});
}

/// It leaves without being announced.
[[nodiscard]] inline bool is_eager(const Job& job, const Request& send) {
  return send.bytes <= job.eager_limit_of(send.peer) && !send.single_copy;
}

[[nodiscard]] WireHeader matching_header(const Request& send, MessageKind kind);
[[nodiscard]] WireHeader eager_header(const Request& send);

/// The first bytes of the message.
void pack(const Request& send, std::span<std::byte> target);
/// The part of an eager message after its header.
void fill_eager(const Request& send, std::byte* target);

}  // namespace sluice
