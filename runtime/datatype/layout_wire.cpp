#include "runtime/datatype/layout_wire.hpp"

#include <cstdint>
#include <cstring>

namespace sluice {
namespace {

struct LayoutHead {
  std::int64_t extent = 0;
  std::uint64_t runs = 0;
};

struct WireRun {
  std::int64_t offset = 0;
  std::uint64_t bytes = 0;
  std::int64_t stride = 0;
  std::uint64_t count = 0;
  std::uint64_t is_nested = 0;
};

/// Most layouts are written out, and types that nest some thousand times nest less. What nests deeper is damaged, and must not
/// fill the stack of a fault handler.
constexpr unsigned most_levels = 128;

template <typename Part>
void append(std::vector<std::byte>& bytes, const Part& part) {
  const auto* const first = reinterpret_cast<const std::byte*>(&part);
  bytes.insert(bytes.end(), first, first + sizeof part);
}

class Reading {
 public:
  explicit Reading(std::span<const std::byte> bytes) : left_(bytes) {}

  std::shared_ptr<const Layout> layout(unsigned level = 0) {
    LayoutHead head;
    if (level == most_levels || !take(head)) return nullptr;
    LayoutBuilder builder;
    for (std::uint64_t i = 0; i < head.runs; ++i) {
      if (!add_run(builder, level)) return nullptr;
    }
    return builder.finish(head.extent);
  }
  [[nodiscard]] bool is_at_end() const { return left_.empty(); }

 private:
  template <typename Part>
  bool take(Part& part) {
    if (left_.size() < sizeof part) return false;
    std::memcpy(&part, left_.data(), sizeof part);
    left_ = left_.subspan(sizeof part);
    return true;
  }
  bool add_run(LayoutBuilder& builder, unsigned level) {
    WireRun run;
    if (!take(run)) return false;
    std::uint64_t packed = 0;
    if (__builtin_mul_overflow(run.bytes, run.count, &packed)) return false;
    if (run.is_nested == 0) {
      builder.add({run.offset, run.bytes, run.stride, run.count});
      return true;
    }
    const auto block = layout(level + 1);
    if (!block || block->size() != run.bytes) return false;
    builder.add(block, run.offset, run.stride, run.count);
    return true;
  }

  std::span<const std::byte> left_;
};

}  // namespace

void write_layout(const Layout& layout, std::vector<std::byte>& bytes) {
  append(bytes, LayoutHead{layout.extent(), layout.runs().size()});
  for (const StridedRun& run : layout.runs()) {
    append(bytes, WireRun{run.offset, run.bytes, run.stride, run.count, run.nested ? 1U : 0U});
    if (run.nested) write_layout(*run.nested, bytes);
  }
}

std::shared_ptr<const Layout> read_layout(std::span<const std::byte> bytes) {
  Reading reading(bytes);
  auto layout = reading.layout();
  return reading.is_at_end() ? layout : nullptr;
}

}  // namespace sluice
