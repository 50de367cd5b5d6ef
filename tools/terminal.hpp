// Colours, where a terminal shows them.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace sluice {

enum class Colour { none, red, green, yellow, grey, bold };

/// Colours what goes to one stream; does nothing if that is no terminal, is a dumb one, or NO_COLOR is set and not empty
/// (no-color.org).
class Palette {
 public:
  explicit Palette(std::FILE* stream);

  [[nodiscard]] std::string paint(Colour colour, std::string_view text) const;

 private:
  bool coloured_;
};

}  // namespace sluice
