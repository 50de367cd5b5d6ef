// The memory that messages travel through. Every message is one send: what stands before it, header and payload, in one slot on
// either side.
//
//   byte  0  credits   2   Credits::grant
//         2  what      1   1 a message, 2 credits alone (nothing follows byte 8)
//         3  ring      1   slots of the ring of the other direction (verbs/eager_ring.hpp), granted likewise
//         4  sequence  4   messages of either kind on this connection so far
//         8  header   20   net/frame.hpp: checked as a whole before anything of it is used
//        28  unused    4   so that the payload is aligned
//        32  payload
//
// Send slots are of the process: taken by `reserve`, given back when the adapter has read them. Receive buffers are of the
// process too, on one shared receive queue; each connection adds as many as its peer may fill (verbs/credits.hpp).
//
// Threading: engine lock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "net/frame.hpp"
#include "verbs/device.hpp"

namespace sluice {

namespace verbs_slot {

inline constexpr std::size_t prefix_bytes = 8;
inline constexpr std::size_t overhead = 32;
static_assert(overhead >= prefix_bytes + frame::header_bytes);
/// 16 KB with their trailer, in whole cache lines; longer messages always ask first, whatever SLUICE_EAGER_LIMIT says.
inline constexpr std::size_t bytes = 16512;
inline constexpr std::size_t max_payload = bytes - overhead;
static_assert(max_payload >= 16384 + sizeof(std::uint64_t));

enum class What : std::uint8_t { message = 1, credits = 2 };

}  // namespace verbs_slot

class SendSlots {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  SendSlots(const VerbsDevice& device, std::uint32_t count);

  /// `none` when all are in use.
  std::uint32_t take();
  void give_back(std::uint32_t slot) { free_.push_back(slot); }
  [[nodiscard]] bool any() const { return !free_.empty(); }
  /// Few are left: everything that holds one has to be told about at once.
  [[nodiscard]] bool scarce() const { return free_.size() < count_ / 2; }
  [[nodiscard]] std::byte* at(std::uint32_t slot) const { return memory_.start() + slot * verbs_slot::bytes; }
  [[nodiscard]] std::uint32_t local_key() const { return memory_.local_key(); }

 private:
  std::size_t count_;
  VerbsMemory memory_;
  std::vector<std::uint32_t> free_;
};

class ReceiveBuffers {
 public:
  /// `most`: buffers that may ever be posted; throws when the adapter cannot have so many.
  ReceiveBuffers(const VerbsDevice& device, std::uint32_t max_receives, std::uint32_t step);

  [[nodiscard]] ibv_srq* queue() const { return queue_.get(); }
  /// Registers and posts `step` more. Throws when that fails.
  void grow();
  [[nodiscard]] const std::byte* at(std::uint32_t buffer) const;
  /// Posts the buffer again, by the next `flush` at the latest. 0, or an error number.
  int repost(std::uint32_t buffer);
  int flush();

 private:
  static constexpr std::size_t batch = 16;

  const VerbsDevice& device_;
  std::uint32_t step_;
  VerbsOwner<ibv_srq> queue_;
  std::vector<VerbsMemory> blocks_;  // of `step` buffers each
  std::array<std::uint32_t, batch> waiting_{};
  std::size_t waiting_count_ = 0;
};

}  // namespace sluice
