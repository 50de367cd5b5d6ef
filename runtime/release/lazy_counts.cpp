#include "runtime/release/lazy_counts.hpp"

#include <iterator>

namespace sluice {

void LazyCounts::settle(std::uint64_t token, std::size_t bytes) {
  auto after = runs_.upper_bound(token);
  if (after != runs_.begin()) {
    auto before = std::prev(after);
    if (before->second.bytes == bytes && before->second.last + 1 == token) {
      before->second.last = token;
      if (after != runs_.end() && after->first == token + 1 && after->second.bytes == bytes) {
        before->second.last = after->second.last;
        runs_.erase(after);
      }
      return;
    }
  }
  if (after != runs_.end() && after->first == token + 1 && after->second.bytes == bytes) {
    const Run run = after->second;
    runs_.erase(after);
    runs_.emplace(token, run);
    return;
  }
  runs_.emplace(token, Run{token, bytes});
}

std::optional<std::size_t> LazyCounts::find(std::uint64_t token) const {
  auto after = runs_.upper_bound(token);
  if (after == runs_.begin()) return std::nullopt;
  const auto& [first, run] = *std::prev(after);
  return token <= run.last ? std::optional(run.bytes) : std::nullopt;
}

}  // namespace sluice
