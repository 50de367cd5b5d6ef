#include "runtime/machine/peer_distance.hpp"

#include <algorithm>

namespace sluice {

void PeerDistance::note(std::uint32_t ns, std::uint32_t far_ns) {
  if (ns == 0) {
    until_look_ = 1;
    return;
  }
  const bool was_far = is_far_;
  ns_ = ns;
  is_far_ = ns > far_ns;
  between_looks_ = is_far_ == was_far ? std::min(2 * between_looks_, most_between_looks) : least_between_looks;
  until_look_ = between_looks_;
}

}  // namespace sluice
