// Byte counts of receives that were released before their message was known (rule 3). A status may be asked for its count at any
// later time, so results are kept for good; runs of equal counts, the usual case, take one entry.
//
// Belongs to the engine lock.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace sluice {

class LazyCounts {
 public:
  /// A token for a receive whose count is not known yet. Never zero.
  std::uint64_t issue() { return ++last_token_; }
  void settle(std::uint64_t token, std::size_t bytes);
  /// nullopt while the count is not known, or the token was never issued.
  [[nodiscard]] std::optional<std::size_t> find(std::uint64_t token) const;

 private:
  struct Run {
    std::uint64_t last;
    std::size_t bytes;
  };
  std::uint64_t last_token_ = 0;
  std::map<std::uint64_t, Run> runs_;  // by first token
};

}  // namespace sluice
