#include "runtime/engine/eager.hpp"

#include <cstring>

#include "runtime/datatype/layout.hpp"
#include "runtime/guard/user_memory.hpp"

namespace sluice {

WireHeader matching_header(const Request& send, MessageKind kind) {
  WireHeader header;
  header.kind = kind;
  header.subject = static_cast<std::uint64_t>(send.context->id());
  header.source = send.context->self();
  header.tag = send.tag;
  return header;
}

WireHeader eager_header(const Request& send) {
  WireHeader header = matching_header(send, MessageKind::eager);
  header.payload_bytes = static_cast<std::uint32_t>(send.bytes);
  if (send.mode == SendMode::synchronous) {
    header.flags = flag_synchronous;
    header.payload_bytes += static_cast<std::uint32_t>(sizeof(RequestId));
  }
  return header;
}

void pack(const Request& send, std::span<std::byte> target) {
  if (send.has_gaps()) {
    LayoutCursor(send.layout_buffer).pack(target);
  } else {
    copy_from_user(target.data(), send.data, target.size());
  }
}

void fill_eager(const Request& send, std::byte* target) {
  pack(send, {target, send.bytes});
  if (send.mode == SendMode::synchronous) std::memcpy(target + send.bytes, &send.id, sizeof send.id);
}

}  // namespace sluice
