#include "tools/terminal.hpp"

#include <unistd.h>

#include <cstdlib>

namespace sluice {

namespace {

/// Select Graphic Rendition (ECMA-48), in the order of Colour.
constexpr const char* codes[] = {"", "\033[31m", "\033[32m", "\033[33m", "\033[90m", "\033[1m"};
constexpr const char* plain = "\033[0m";

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

Palette::Palette(std::FILE* stream)
    : coloured_(::isatty(::fileno(stream)) == 1 && variable("NO_COLOR").empty() && variable("TERM") != "dumb") {}

std::string Palette::paint(Colour colour, std::string_view text) const {
  if (!coloured_ || colour == Colour::none) return std::string(text);
  return codes[static_cast<std::size_t>(colour)] + std::string(text) + plain;
}

}  // namespace sluice
