#include "runtime/read_rate.hpp"

#include <algorithm>

namespace sluice {
namespace {

/// What was disturbed, by another process on the processor, counts as slower by so much at most, and for this share.
constexpr float most_slower = 2;
constexpr float share_of_slower = 0.25F;
constexpr float rate_bytes = 64 << 10;

}  // namespace

bool ReadRate::is_far(std::uint32_t far_ns) {
  if (ns_ <= static_cast<float>(far_ns)) {
    until_look_ = between_looks_ = least_between_looks;
    return false;
  }
  if (--until_look_ != 0) return true;
  until_look_ = between_looks_ = std::min(2 * between_looks_, most_between_looks);
  return false;
}

/// Down at once: what disturbs only ever makes it longer.
void ReadRate::took(std::size_t bytes, std::uint64_t ns) {
  if (bytes < least_bytes) return;
  const float now = static_cast<float>(ns) * rate_bytes / static_cast<float>(bytes);
  const bool is_faster = ns_ == 0 || now < ns_;
  ns_ = is_faster ? now : ns_ + share_of_slower * (std::min(now, most_slower * ns_) - ns_);
}

}  // namespace sluice
