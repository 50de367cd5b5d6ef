#include "tools/timeline/columns.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace sluice::timeline {

namespace {

constexpr std::int64_t max_exact = std::int64_t{1} << 52;

}  // namespace

void Columns::add(std::int64_t number) {
  const std::int64_t cut = std::clamp(number, -max_exact, max_exact);
  std::uint64_t zigzag = static_cast<std::uint64_t>(cut) << 1 ^ static_cast<std::uint64_t>(cut >> 63);
  for (; zigzag >= 0x80; zigzag >>= 7) bytes_ += static_cast<char>(zigzag | 0x80);
  bytes_ += static_cast<char>(zigzag);
}

void Columns::add(std::uint64_t number) {
  add(static_cast<std::int64_t>(std::min(number, static_cast<std::uint64_t>(max_exact))));
}

std::string Columns::base64() const {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes_.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes_.size(); i += 3) {
    const auto byte = [&](std::size_t at) -> std::uint32_t {
      return at < bytes_.size() ? static_cast<unsigned char>(bytes_[at]) : 0;
    };
    const std::uint32_t group = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    for (std::size_t part = 0; part < 4; ++part) text += i + part <= bytes_.size() ? letters[group >> (18 - 6 * part) & 63] : '=';
  }
  return text;
}

}  // namespace sluice::timeline
