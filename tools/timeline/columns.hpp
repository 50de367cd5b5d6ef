// Numbers as the page embeds them: zigzag, in groups of 7 bits (LEB128), base64. Columns follow one another, so that small
// numbers and equal ones take a byte; page.js reads them.
#pragma once

#include <cstdint>
#include <string>

namespace sluice::timeline {

class Columns {
 public:
  /// JavaScript has integers of 53 bits; what is beyond (no time or size is) is cut to 2^52.
  void add(std::int64_t number);
  void add(std::uint64_t number);

  /// All that were added.
  [[nodiscard]] std::string base64() const;

 private:
  std::string bytes_;
};

}  // namespace sluice::timeline
