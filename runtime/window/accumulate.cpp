#include "runtime/window/accumulate.hpp"

#include <sys/uio.h>

#include <array>
#include <cstring>

namespace sluice {

/// As the host does it: the operand is the lower one.
void AccumulateOperation::apply_to_range(const std::byte* operand, std::byte* target, std::size_t bytes) const {
  switch (kind_) {
    case Kind::replace:
      std::memcpy(target, operand, bytes);
      break;
    case Kind::reduce:
      reduction_->combine(operand, target, target, bytes / reduction_->element_bytes());
      break;
    case Kind::combine:
      own_->combine(operand, target, bytes / own_->element_bytes());
      break;
    case Kind::nothing:
      break;
  }
}

void AccumulateOperation::apply(const std::byte* operand, const UserBuffer& target, std::byte* before) const {
  const std::size_t bytes = target.bytes();
  if (bytes == 0) return;
  if (target.is_contiguous()) {
    if (before) std::memcpy(before, target.data(), bytes);
    return apply_to_range(operand, target.data(), bytes);
  }
  std::array<iovec, 32> ranges;
  LayoutCursor cursor(target);
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t found = cursor.gather(ranges, bytes - done);
    for (std::size_t i = 0; i < found; ++i) {
      auto* const place = static_cast<std::byte*>(ranges[i].iov_base);
      if (before) std::memcpy(before + done, place, ranges[i].iov_len);
      apply_to_range(reads_operand() ? operand + done : nullptr, place, ranges[i].iov_len);
      done += ranges[i].iov_len;
    }
  }
}

}  // namespace sluice
