// What a call of the host's needs of this process: how far what it does reaches, and the memory that it names. By that, who
// settles before the call knows which releases may stay under way during it (docs/host-calls.md).
//
// Plain data, of one call.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/base/types.hpp"

namespace sluice {

class HostNeeds {
 public:
  enum class Reach : std::uint8_t {
    /// Nobody hears of the call, and only the calling thread touches the memory.
    local,
    /// Others hear of it. Its messages are so short that the host copies them, so again only the calling thread touches memory.
    copied,
    /// Peers or adapters may touch memory of this process, or nothing is known of the call.
    everything
  };
  struct Buffer {
    ByteRange bytes;
    Access access{};
  };

  explicit HostNeeds(Reach reach) : reach_(reach) {}

  /// At most two buffers that are not empty.
  HostNeeds& reads(ByteRange bytes) { return add({bytes, Access::read}); }
  HostNeeds& writes(ByteRange bytes) { return add({bytes, Access::write}); }

  [[nodiscard]] Reach reach() const { return reach_; }
  [[nodiscard]] std::span<const Buffer> buffers() const { return {buffers_.data(), count_}; }

 private:
  HostNeeds& add(Buffer buffer) {
    if (buffer.bytes.empty()) return *this;
    if (count_ == buffers_.size()) {
      reach_ = Reach::everything;
    } else {
      buffers_[count_++] = buffer;
    }
    return *this;
  }

  Reach reach_;
  std::size_t count_ = 0;
  std::array<Buffer, 2> buffers_{};
};

}  // namespace sluice
