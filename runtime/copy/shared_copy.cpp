#include "runtime/copy/shared_copy.hpp"

#include <algorithm>

namespace sluice {
namespace shared_copy {
namespace {

/// Below this, its start-up is not won back even where it is announced as fast.
constexpr std::size_t min_string_bytes = 512;

/// Read by copies of any thread, written by `use`.
struct Pieces {
  CopyFunction plain;
  CopyFunction streaming;
  CopyFunction handing_back;
};

Pieces functions_of(const Thresholds& thresholds) {
  return {copy_variant(thresholds.pieces).copy, copy_variant(Stores::streaming).copy, copy_variant(Stores::handing_back).copy};
}

}  // namespace

Thresholds cpuid_thresholds() {
  if (!string_moves_are_fast()) return {};
  return {.string_bytes = min_string_bytes, .pieces = Stores::string};
}

Thresholds in_force = cpuid_thresholds();

namespace {

Pieces pieces = functions_of(in_force);

}  // namespace

void use(const Thresholds& thresholds) {
  in_force = thresholds;
  pieces = functions_of(thresholds);
}

}  // namespace shared_copy

void copy_to_peer(std::byte* target, const std::byte* source, std::size_t bytes, TargetLines lines) {
  const auto& pieces = shared_copy::pieces;
  const bool streams = bytes >= shared_copy::in_force.streaming_bytes && lines != TargetLines::outer;
  (streams ? pieces.streaming : pieces.plain)(target, source, bytes);
}

void copy_from_peer(std::byte* target, const std::byte* source, std::size_t bytes, TargetLines lines, SourceLines source_lines) {
  const auto& pieces = shared_copy::pieces;
  const auto& from = shared_copy::in_force;
  const std::size_t min_streamed = lines == TargetLines::shared ? from.streaming_shared_bytes : shared_copy::never;
  const bool streams = bytes >= std::min(min_streamed, from.streaming_read_bytes) && lines != TargetLines::outer;
  const bool hands_back = source_lines == SourceLines::handed_back;
  (streams ? pieces.streaming : hands_back ? pieces.handing_back : pieces.plain)(target, source, bytes);
}

}  // namespace sluice
