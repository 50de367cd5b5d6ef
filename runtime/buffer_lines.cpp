#include "runtime/buffer_lines.hpp"

#include <unistd.h>

namespace sluice {
namespace {

constexpr std::size_t usual_cache_bytes = std::size_t{1} << 20;
constexpr unsigned line_bits = 6;
constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;

}  // namespace

/// By the high bits of a product: buffers that begin at multiples of a large number differ in no low ones.
std::size_t BufferLines::place_of(const std::byte* start) {
  static_assert(std::tuple_size_v<decltype(buffers_)> == 256);
  return ((reinterpret_cast<std::uintptr_t>(start) >> line_bits) * golden) >> 56;
}

TargetLines BufferLines::lines_within(const std::byte* start, std::size_t bytes, std::size_t cache_bytes) const {
  const Buffer& known = buffers_[place_of(start)];
  const bool holds = known.start == start && known.bytes >= bytes && bytes <= cache_bytes && moved_ - known.at <= cache_bytes;
  return holds ? known.lines : TargetLines::unknown;
}

void BufferLines::enter(const std::byte* start, std::size_t bytes, TargetLines lines) {
  moved_ += bytes;
  buffers_[place_of(start)] = {start, bytes, moved_, lines};
}

TargetLines BufferLines::overwrite(const std::byte* start, std::size_t bytes) {
  const TargetLines found = lines_within(start, bytes, cache_bytes_);
  enter(start, bytes, TargetLines::own);
  return found;
}

bool BufferLines::are_nearly_own(const std::byte* start, std::size_t bytes) const {
  return lines_within(start, bytes, 2 * cache_bytes_) == TargetLines::own;
}

void BufferLines::note_read_by_peer(const std::byte* start, std::size_t bytes) { enter(start, bytes, TargetLines::shared); }

std::size_t own_cache_bytes() {
  const long found = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return found > 0 ? static_cast<std::size_t>(found) : usual_cache_bytes;
}

}  // namespace sluice
