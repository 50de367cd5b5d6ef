// Memory layout of a datatype: where the bytes of an element lie, in the order of the packed stream.
//
// A layout is a list of strided runs. The blocks of a run are plain bytes, or elements of another layout: a vector is one
// run, a 3-D subarray one run of one run, an indexed type one run per block. Adjacent and equally spaced blocks are merged
// when a layout is built, and small nested layouts are written out, so that most layouts are short and flat; no layout is
// larger than the description of its type. Layouts are immutable and shared: a pending request keeps the layout alive
// after MPI_Type_free.
//
// Positions in the packed stream are found by bisection of the runs, one division and, where runs nest, the same one
// level down. So a cursor is no more than an offset, and any piece of a message can be packed or unpacked by itself.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/base/types.hpp"

namespace sluice {

class Layout;

/// `count` blocks of `bytes` packed bytes, the first at `offset` from the element's origin, the others `stride` apart.
struct StridedRun {
  std::ptrdiff_t offset = 0;
  std::size_t bytes = 0;
  std::ptrdiff_t stride = 0;
  std::size_t count = 1;
  /// Each block is one element of this layout; nullptr: a block is a range of bytes. Kept alive by the layout of the run.
  const Layout* nested = nullptr;

  [[nodiscard]] std::size_t packed_bytes() const { return bytes * count; }
  [[nodiscard]] bool is_range() const { return count == 1 && nested == nullptr; }
};

class Layout {
 public:
  /// Runs without nested layouts, in packed order, as they come: they are merged here. See also LayoutBuilder.
  Layout(std::vector<StridedRun> runs, std::ptrdiff_t extent);
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;

  static std::shared_ptr<const Layout> contiguous(std::size_t bytes);

  /// Bytes of one element in the packed stream.
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::ptrdiff_t extent() const { return extent_; }
  [[nodiscard]] std::span<const StridedRun> runs() const { return runs_; }
  /// Any number of elements is one gapless range that starts at origin + first_byte().
  [[nodiscard]] bool is_contiguous() const { return contiguous_; }
  /// One element is one gapless range.
  [[nodiscard]] bool is_range() const { return range_; }
  /// The packed order is the order of addresses, over any number of elements.
  [[nodiscard]] bool is_ascending() const { return ascending_; }
  [[nodiscard]] std::ptrdiff_t first_byte() const { return first_byte_; }  // true lower bound
  [[nodiscard]] std::ptrdiff_t last_byte() const { return last_byte_; }    // one past the last byte, one element

 private:
  friend class LayoutBuilder;
  friend class LayoutWalk;

  using Children = std::vector<std::shared_ptr<const Layout>>;
  struct Merged {};  // the runs are in their final form
  Layout(Merged, std::vector<StridedRun> runs, Children children, std::ptrdiff_t extent);

  std::vector<StridedRun> runs_;
  std::vector<std::size_t> packed_start_;  // packed offset at which each run begins, for seeking; at last size_
  Children children_;
  std::size_t size_ = 0;
  std::ptrdiff_t extent_ = 0;
  std::ptrdiff_t first_byte_ = 0;
  std::ptrdiff_t last_byte_ = 0;
  bool contiguous_ = false;
  bool range_ = false;
  bool ascending_ = true;
};

/// Puts a layout together from blocks and other layouts, in packed order.
class LayoutBuilder {
 public:
  /// Plain blocks (`run.nested` is nullptr).
  void add(const StridedRun& run);
  /// `count` elements of `layout`, the first with its origin at `offset`, the others `stride` apart.
  void add(const std::shared_ptr<const Layout>& layout, std::ptrdiff_t offset, std::ptrdiff_t stride, std::size_t count);
  [[nodiscard]] std::shared_ptr<const Layout> finish(std::ptrdiff_t extent);

 private:
  friend class Layout;
  [[nodiscard]] std::vector<StridedRun> take_runs();
  void add_nested(const StridedRun& run, const std::shared_ptr<const Layout>& owner);
  void append(const StridedRun& run);
  void flush_range();

  std::vector<StridedRun> runs_;
  Layout::Children children_;
  StridedRun range_;  // the last block while blocks adjacent to it may still follow; empty when its `bytes` is 0
};

/// `count` elements of `layout` at `base`. base may be nullptr with absolute offsets (MPI_BOTTOM).
struct UserBuffer {
  std::byte* base = nullptr;
  std::size_t count = 0;
  std::shared_ptr<const Layout> layout;  // never null

  [[nodiscard]] std::size_t bytes() const { return count * layout->size(); }
  [[nodiscard]] bool is_contiguous() const {
    return layout->is_contiguous() || bytes() == 0 || (count == 1 && layout->is_range());
  }
  /// First byte of a contiguous buffer. By integers, as offsets from nullptr are not pointer arithmetic.
  [[nodiscard]] std::byte* data() const {
    return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(base) +
                                        static_cast<std::uintptr_t>(layout->first_byte()));
  }
  /// All memory from the first to the last byte, gaps included.
  [[nodiscard]] ByteRange span() const;
};

/// Walks a user buffer in packed order. Reads and writes user memory through runtime/guard/user_memory.hpp.
class LayoutCursor {
 public:
  explicit LayoutCursor(const UserBuffer& buffer);

  /// Offsets beyond the end mean the end.
  void seek(std::size_t packed_offset);
  [[nodiscard]] std::size_t offset() const { return offset_; }

  /// Copies the next min(target.size(), rest) packed bytes out of the buffer; returns how many.
  std::size_t pack(std::span<std::byte> target);
  /// Copies packed bytes into the buffer; what does not fit any more is ignored; returns how many were used.
  std::size_t unpack(std::span<const std::byte> source);
  /// Describes the next at most `bytes` packed bytes as at most `vectors.size()` memory ranges, advancing over them.
  /// Returns the number of ranges written.
  std::size_t gather(std::span<iovec> vectors, std::size_t bytes);
  /// The address of the next packed byte; at the end, one past the span.
  [[nodiscard]] std::uintptr_t address() const;

 private:
  UserBuffer buffer_;
  StridedRun elements_;  // the whole buffer as one run
  std::size_t total_ = 0;
  std::size_t offset_ = 0;
};

}  // namespace sluice
