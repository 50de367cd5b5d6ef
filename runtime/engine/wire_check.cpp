#include "runtime/engine/wire_check.hpp"

namespace sluice {

const char* rts_fault(std::uint8_t flags, const ReadyToSend& rts) {
  if ((flags & flag_registered) == 0) return nullptr;
  constexpr std::uint8_t where = flag_rdma | flag_contiguous | flag_block;
  const bool beside_copies = (flags & where) == (flag_contiguous | flag_block);
  if (!beside_copies && (flags & where) != flag_rdma) return "says two things of where its data is";
  const std::uint64_t address = beside_copies ? rts.registered_address : rts.sender_address;
  return wraps(address, rts.message_bytes) ? "announces memory that no address space has" : nullptr;
}

}  // namespace sluice
