#include "apps/support/payload.hpp"

#include <cstring>

namespace apps {

namespace {

constexpr std::uint64_t step = 0x9e3779b97f4a7c15U;  // odd, so that words repeat after 2^64 only
constexpr std::size_t bytes_of_line = 64;
constexpr std::size_t bytes_of_page = 4096;

}  // namespace

Payload::Payload(int from, int to, int trial) {
  constexpr std::uint64_t ranks = 1 << 16;
  const std::uint64_t name =
      (static_cast<std::uint64_t>(trial) * ranks + static_cast<std::uint64_t>(from)) * ranks + static_cast<std::uint64_t>(to) + 1;
  first_ = name * 0xbf58476d1ce4e5b9U;
  first_ ^= first_ >> 31;
}

void Payload::write(std::span<std::byte> buffer) const {
  std::uint64_t word = first_;
  std::size_t place = 0;
  for (; place + sizeof word <= buffer.size(); place += sizeof word, word += step)
    std::memcpy(&buffer[place], &word, sizeof word);
  if (place < buffer.size()) std::memcpy(&buffer[place], &word, buffer.size() - place);
}

bool Payload::is_in(std::span<const std::byte> buffer) const {
  std::uint64_t word = first_;
  std::uint64_t difference = 0;
  std::size_t place = 0;
  for (; place + sizeof word <= buffer.size(); place += sizeof word, word += step) {
    std::uint64_t found = 0;
    std::memcpy(&found, &buffer[place], sizeof found);
    difference |= found ^ word;
  }
  return difference == 0 && (place == buffer.size() || std::memcmp(&buffer[place], &word, buffer.size() - place) == 0);
}

void look_at(std::span<const std::byte> buffer, Look look) {
  const std::size_t stride = look == Look::all ? bytes_of_line : bytes_of_page;
  for (std::size_t place = 0; place < buffer.size(); place += stride) {
    [[maybe_unused]] const auto byte = *static_cast<const volatile std::byte*>(&buffer[place]);
  }
  if (!buffer.empty()) [[maybe_unused]]
    const auto byte = *static_cast<const volatile std::byte*>(&buffer.back());
}

}  // namespace apps
