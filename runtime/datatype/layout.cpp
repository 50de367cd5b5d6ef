// Building layouts: merging blocks, and deciding what is written out and what stays nested.
#include "runtime/datatype/layout.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

/// Nested layouts up to this many runs in all are written out: walking them flat is faster, and neighbours may merge.
constexpr std::size_t max_written_out = 64;
/// A layout with more runs than this nests instead, so that memory stays in proportion to the description of the type.
constexpr std::size_t max_flat_runs = 1024;

/// Elements of a run seen as blocks of one longer run; false when they are not equally spaced.
bool repeat(const StridedRun& run, std::ptrdiff_t offset, std::ptrdiff_t stride, std::size_t count, StridedRun& repeated) {
  repeated = run;
  repeated.offset += offset;
  if (run.count == 1) {
    repeated.stride = stride;
    repeated.count = count;
    return true;
  }
  repeated.count = run.count * count;
  return count == 1 || stride == run.stride * static_cast<std::ptrdiff_t>(run.count);
}

bool same_blocks(const StridedRun& a, const StridedRun& b) { return a.bytes == b.bytes && a.nested == b.nested; }

/// Makes `run` part of `last` when its blocks continue those of `last` at equal distances.
bool continue_run(StridedRun& last, const StridedRun& run) {
  if (!same_blocks(last, run)) return false;
  const std::ptrdiff_t stride = last.count == 1 ? run.offset - last.offset : last.stride;
  if (run.offset != last.offset + stride * static_cast<std::ptrdiff_t>(last.count)) return false;
  if (run.count > 1 && run.stride != stride) return false;
  last.stride = stride;
  last.count += run.count;
  return true;
}

/// Each block lies behind the one before it, and its own bytes ascend.
bool blocks_ascend(const StridedRun& run) {
  const std::ptrdiff_t length =
      run.nested ? run.nested->last_byte() - run.nested->first_byte() : static_cast<std::ptrdiff_t>(run.bytes);
  return (run.count == 1 || run.stride >= length) && (!run.nested || run.nested->is_ascending());
}

}  // namespace

Layout::Layout(std::vector<StridedRun> runs, std::ptrdiff_t extent)
    : Layout(
          Merged{},
          [&runs] {
            LayoutBuilder builder;
            for (const StridedRun& run : runs) builder.add(run);
            return builder.take_runs();
          }(),
          {}, extent) {}

Layout::Layout(Merged, std::vector<StridedRun> runs, Children children, std::ptrdiff_t extent)
    : runs_(std::move(runs)), children_(std::move(children)), extent_(extent) {
  packed_start_.reserve(runs_.size() + 1);
  for (const StridedRun& run : runs_) {
    const std::ptrdiff_t last_block = run.stride * static_cast<std::ptrdiff_t>(run.count - 1);
    const std::ptrdiff_t block_begin = run.nested ? run.nested->first_byte() : 0;
    const std::ptrdiff_t block_end = run.nested ? run.nested->last_byte() : static_cast<std::ptrdiff_t>(run.bytes);
    const std::ptrdiff_t first = run.offset + std::min<std::ptrdiff_t>(last_block, 0) + block_begin;
    const std::ptrdiff_t last = run.offset + std::max<std::ptrdiff_t>(last_block, 0) + block_end;
    ascending_ = ascending_ && (packed_start_.empty() || first >= last_byte_) && blocks_ascend(run);
    first_byte_ = packed_start_.empty() ? first : std::min(first_byte_, first);
    last_byte_ = packed_start_.empty() ? last : std::max(last_byte_, last);
    packed_start_.push_back(size_);
    size_ += run.packed_bytes();
  }
  packed_start_.push_back(size_);
  ascending_ = ascending_ && extent_ >= last_byte_ - first_byte_;
  range_ = runs_.empty() || (runs_.size() == 1 && runs_.front().is_range());
  contiguous_ = range_ && (size_ == 0 || extent_ == static_cast<std::ptrdiff_t>(size_));
}

std::shared_ptr<const Layout> Layout::contiguous(std::size_t bytes) {
  return std::make_shared<const Layout>(std::vector{StridedRun{0, bytes, 0, 1}}, static_cast<std::ptrdiff_t>(bytes));
}

ByteRange UserBuffer::span() const {
  const auto start = reinterpret_cast<std::uintptr_t>(base);
  if (bytes() == 0) return {start, start};
  const std::ptrdiff_t last_element = layout->extent() * static_cast<std::ptrdiff_t>(count - 1);
  return {start + static_cast<std::uintptr_t>(layout->first_byte() + std::min<std::ptrdiff_t>(last_element, 0)),
          start + static_cast<std::uintptr_t>(layout->last_byte() + std::max<std::ptrdiff_t>(last_element, 0))};
}

void LayoutBuilder::add(const StridedRun& run) {
  if (run.bytes == 0 || run.count == 0) return;
  const bool gapless = run.count == 1 || run.stride == static_cast<std::ptrdiff_t>(run.bytes);
  if (!gapless) {
    flush_range();
    append(run);
    return;
  }
  const std::size_t bytes = run.packed_bytes();
  if (range_.bytes != 0 && run.offset == range_.offset + static_cast<std::ptrdiff_t>(range_.bytes)) {
    range_.bytes += bytes;
    return;
  }
  flush_range();
  range_ = {run.offset, bytes, 0, 1};
}

void LayoutBuilder::add(const std::shared_ptr<const Layout>& layout, std::ptrdiff_t offset, std::ptrdiff_t stride,
                        std::size_t count) {
  if (layout->size() == 0 || count == 0) return;
  const auto runs = layout->runs();
  StridedRun repeated;
  if (runs.size() == 1 && repeat(runs.front(), offset, stride, count, repeated)) {
    add_nested(repeated, layout);
  } else if (runs_.size() < max_flat_runs && count <= max_written_out && runs.size() <= max_written_out / count) {
    for (std::size_t element = 0; element < count; ++element) {
      for (StridedRun run : runs) {
        run.offset += offset + stride * static_cast<std::ptrdiff_t>(element);
        add_nested(run, layout);
      }
    }
  } else {
    add_nested({offset, layout->size(), stride, count, layout.get()}, layout);
  }
}

void LayoutBuilder::add_nested(const StridedRun& run, const std::shared_ptr<const Layout>& owner) {
  if (!run.nested) {
    add(run);
    return;
  }
  flush_range();
  append(run);
  if (children_.empty() || children_.back() != owner) children_.push_back(owner);
}

void LayoutBuilder::append(const StridedRun& run) {
  if (!runs_.empty() && continue_run(runs_.back(), run)) return;
  runs_.push_back(run);
}

/// A block joins a strided run only when it is known to be complete: in 0-1-2-3, 10-11-12-13, ... the blocks of four do.
void LayoutBuilder::flush_range() {
  if (range_.bytes != 0) append(range_);
  range_ = {};
}

std::vector<StridedRun> LayoutBuilder::take_runs() {
  flush_range();
  runs_.shrink_to_fit();
  return std::exchange(runs_, {});
}

std::shared_ptr<const Layout> LayoutBuilder::finish(std::ptrdiff_t extent) {
  std::vector<StridedRun> runs = take_runs();
  return std::shared_ptr<const Layout>(new Layout(Layout::Merged{}, std::move(runs), std::exchange(children_, {}), extent));
}

}  // namespace sluice
