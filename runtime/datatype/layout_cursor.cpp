// Walking layouts: one recursive walk finds the blocks, a visitor says what becomes of them. The visitor is a template
// parameter, so that the loops over small blocks are compiled into plain loads and stores of a fixed size.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "runtime/datatype/layout.hpp"
#include "runtime/guard/user_memory.hpp"

namespace sluice {
namespace {

/// User addresses are integers here: they may be offsets from nullptr, and the walk passes through addresses of no object.
using Address = std::uintptr_t;

Address moved(Address address, std::ptrdiff_t distance) { return address + static_cast<Address>(distance); }
std::byte* pointer(Address address) { return reinterpret_cast<std::byte*>(address); }

bool is_guarded(const UserBuffer& buffer) { return user_memory_is_guarded() && user_memory_is_guarded(buffer.span()); }

/// memcpy for sizes that the compiler does not know, without a call for up to 32 bytes.
inline void copy_block(std::byte* target, const std::byte* source, std::size_t bytes) {
  const auto copy_ends = [=]<std::size_t Half>() {  // two copies that may overlap cover Half to 2 * Half bytes
    std::byte head[Half];
    std::byte tail[Half];
    std::memcpy(head, source, Half);
    std::memcpy(tail, source + bytes - Half, Half);
    std::memcpy(target, head, Half);
    std::memcpy(target + bytes - Half, tail, Half);
  };
  if (bytes > 32 || bytes < 4) {
    std::memcpy(target, source, bytes);
  } else if (bytes > 16) {
    copy_ends.operator()<16>();
  } else if (bytes >= 8) {
    copy_ends.operator()<8>();
  } else {
    copy_ends.operator()<4>();
  }
}

/// Copies user blocks out to consecutive bytes.
struct PackPlain {
  static constexpr int writes_blocks = 0;
  std::byte* packed;

  bool block(Address user, std::size_t bytes) {
    copy_block(packed, pointer(user), bytes);
    packed += bytes;
    return true;
  }
  template <std::size_t Bytes>
  void fixed_blocks(Address user, std::ptrdiff_t stride, std::size_t count) {
    for (; count > 0; --count, user = moved(user, stride), packed += Bytes) std::memcpy(packed, pointer(user), Bytes);
  }
};

/// Copies consecutive bytes to user blocks.
struct UnpackPlain {
  static constexpr int writes_blocks = 1;
  const std::byte* packed;

  bool block(Address user, std::size_t bytes) {
    copy_block(pointer(user), packed, bytes);
    packed += bytes;
    return true;
  }
  template <std::size_t Bytes>
  void fixed_blocks(Address user, std::ptrdiff_t stride, std::size_t count) {
    for (; count > 0; --count, user = moved(user, stride), packed += Bytes) std::memcpy(pointer(user), packed, Bytes);
  }
};

struct PackGuarded {
  std::byte* packed;

  bool block(Address user, std::size_t bytes) {
    copy_from_user(packed, pointer(user), bytes);
    packed += bytes;
    return true;
  }
};

struct UnpackGuarded {
  const std::byte* packed;

  bool block(Address user, std::size_t bytes) {
    copy_to_user(pointer(user), packed, bytes);
    packed += bytes;
    return true;
  }
};

/// Notes ranges, adjacent ones as one; refuses what does not fit.
struct Gather {
  std::span<iovec> vectors;
  std::size_t used = 0;
  std::size_t bytes_noted = 0;

  bool block(Address user, std::size_t bytes) {
    if (used > 0 && reinterpret_cast<Address>(vectors[used - 1].iov_base) + vectors[used - 1].iov_len == user) {
      vectors[used - 1].iov_len += bytes;
    } else if (used < vectors.size()) {
      vectors[used++] = {pointer(user), bytes};
    } else {
      return false;
    }
    bytes_noted += bytes;
    return true;
  }
};

/// Processors foresee no step to another page. So blocks with only a few to a page are asked for so many blocks early.
constexpr std::size_t blocks_ahead = 16;
constexpr std::ptrdiff_t far_stride = 512;

bool is_far_stride(std::ptrdiff_t stride, std::size_t count) { return count > blocks_ahead && std::abs(stride) >= far_stride; }

/// Returns the visitor behind the last block. By value, so that it stays in registers.
template <typename Visitor>
[[gnu::noinline]] Visitor far_blocks(Visitor visitor, Address user, std::size_t bytes, std::ptrdiff_t stride, std::size_t count) {
  const std::ptrdiff_t ahead = stride * static_cast<std::ptrdiff_t>(blocks_ahead);
  const auto visit = [&]<typename Bytes>(Bytes each) {
    for (; count > blocks_ahead; --count, user = moved(user, stride)) {
      __builtin_prefetch(pointer(moved(user, ahead)), Visitor::writes_blocks);
      visitor.block(user, each);
    }
    for (; count > 0; --count, user = moved(user, stride)) visitor.block(user, each);
  };
  if (bytes == sizeof(double)) {
    visit(std::integral_constant<std::size_t, sizeof(double)>());
  } else {
    visit(bytes);
  }
  return visitor;
}

/// Visits blocks of the same size one by one.
template <typename Visitor>
bool each_block(Visitor& visitor, Address user, std::size_t bytes, std::ptrdiff_t stride, std::size_t count) {
  for (; count > 0; --count, user = moved(user, stride)) {
    if (!visitor.block(user, bytes)) return false;
  }
  return true;
}

/// The same; sizes that numerical types have get loops of their own where the visitor offers them.
template <typename Visitor>
bool visit_blocks(Visitor& visitor, Address user, std::size_t bytes, std::ptrdiff_t stride, std::size_t count) {
  if constexpr (requires { visitor.template fixed_blocks<8>(user, stride, count); }) {
    if (count == 1) return visitor.block(user, bytes);
    if (is_far_stride(stride, count)) {
      visitor = far_blocks(visitor, user, bytes, stride, count);
      return true;
    }
    switch (bytes) {
      case 1:
        visitor.template fixed_blocks<1>(user, stride, count);
        return true;
      case 2:
        visitor.template fixed_blocks<2>(user, stride, count);
        return true;
      case 4:
        visitor.template fixed_blocks<4>(user, stride, count);
        return true;
      case 8:
        visitor.template fixed_blocks<8>(user, stride, count);
        return true;
      case 12:
        visitor.template fixed_blocks<12>(user, stride, count);
        return true;
      case 16:
        visitor.template fixed_blocks<16>(user, stride, count);
        return true;
      case 20:
        visitor.template fixed_blocks<20>(user, stride, count);
        return true;
      case 24:
        visitor.template fixed_blocks<24>(user, stride, count);
        return true;
      case 32:
        visitor.template fixed_blocks<32>(user, stride, count);
        return true;
      case 40:
        visitor.template fixed_blocks<40>(user, stride, count);
        return true;
      case 48:
        visitor.template fixed_blocks<48>(user, stride, count);
        return true;
      case 64:
        visitor.template fixed_blocks<64>(user, stride, count);
        return true;
      default:
        break;
    }
  }
  return each_block(visitor, user, bytes, stride, count);
}

}  // namespace

/// The walk. Every function returns false as soon as the visitor refuses a block. Positions are packed offsets inside the
/// run, block or element in question.
class LayoutWalk {
 public:
  /// The packed bytes [from, to) of a run whose element has its origin at `origin`.
  template <typename Visitor>
  static bool run(Visitor& visitor, const StridedRun& run, Address origin, std::size_t from, std::size_t to) {
    Address user = moved(origin, run.offset);
    if (from == 0 && to == run.packed_bytes()) return blocks(visitor, run, user, run.count);
    const std::size_t first = from / run.bytes;
    user = moved(user, run.stride * static_cast<std::ptrdiff_t>(first));
    const std::size_t within = from - first * run.bytes;
    std::size_t rest = to - from;
    if (within != 0) {
      const std::size_t head = std::min(rest, run.bytes - within);
      if (!part(visitor, run, user, within, within + head)) return false;
      rest -= head;
      user = moved(user, run.stride);
    }
    const std::size_t whole = rest / run.bytes;
    if (!blocks(visitor, run, user, whole)) return false;
    rest -= whole * run.bytes;
    return rest == 0 || part(visitor, run, moved(user, run.stride * static_cast<std::ptrdiff_t>(whole)), 0, rest);
  }

 private:
  template <typename Visitor>
  static bool blocks(Visitor& visitor, const StridedRun& run, Address user, std::size_t count) {
    if (!run.nested) return visit_blocks(visitor, user, run.bytes, run.stride, count);
    for (; count > 0; --count, user = moved(user, run.stride)) {
      for (const StridedRun& inner : run.nested->runs_) {
        if (!blocks(visitor, inner, moved(user, inner.offset), inner.count)) return false;
      }
    }
    return true;
  }

  /// A part of one block.
  template <typename Visitor>
  static bool part(Visitor& visitor, const StridedRun& run, Address user, std::size_t from, std::size_t to) {
    return run.nested ? element(visitor, *run.nested, user, from, to) : visitor.block(user + from, to - from);
  }

  template <typename Visitor>
  static bool element(Visitor& visitor, const Layout& layout, Address origin, std::size_t from, std::size_t to) {
    const auto& starts = layout.packed_start_;
    auto index = static_cast<std::size_t>(std::upper_bound(starts.begin(), starts.end(), from) - starts.begin()) - 1;
    for (; from < to; from = starts[++index]) {
      const StridedRun& inner = layout.runs_[index];
      if (from == starts[index] && to >= starts[index + 1]) {
        if (!blocks(visitor, inner, moved(origin, inner.offset), inner.count)) return false;
      } else {
        const std::size_t end = std::min(to, starts[index + 1]);
        if (!run(visitor, inner, origin, from - starts[index], end - starts[index])) return false;
      }
    }
    return true;
  }
};

LayoutCursor::LayoutCursor(const UserBuffer& buffer) : buffer_(buffer), total_(buffer.bytes()) {
  const Layout& layout = *buffer_.layout;
  if (layout.is_contiguous()) {
    elements_ = {layout.first_byte(), total_};
  } else if (layout.is_range()) {
    elements_ = {layout.first_byte(), layout.size(), layout.extent(), buffer_.count};
  } else {
    elements_ = {0, layout.size(), layout.extent(), buffer_.count, &layout};
  }
}

void LayoutCursor::seek(std::size_t packed_offset) { offset_ = std::min(packed_offset, total_); }

std::size_t LayoutCursor::pack(std::span<std::byte> target) {
  const std::size_t bytes = std::min(target.size(), total_ - offset_);
  if (bytes == 0) return 0;
  const auto walk = [&](auto visitor) {
    LayoutWalk::run(visitor, elements_, reinterpret_cast<Address>(buffer_.base), offset_, offset_ + bytes);
  };
  if (is_guarded(buffer_)) {
    walk(PackGuarded{target.data()});
  } else {
    walk(PackPlain{target.data()});
  }
  offset_ += bytes;
  return bytes;
}

std::size_t LayoutCursor::unpack(std::span<const std::byte> source) {
  const std::size_t bytes = std::min(source.size(), total_ - offset_);
  if (bytes == 0) return 0;
  const auto walk = [&](auto visitor) {
    LayoutWalk::run(visitor, elements_, reinterpret_cast<Address>(buffer_.base), offset_, offset_ + bytes);
  };
  if (is_guarded(buffer_)) {
    walk(UnpackGuarded{source.data()});
  } else {
    walk(UnpackPlain{source.data()});
  }
  offset_ += bytes;
  return bytes;
}

std::uintptr_t LayoutCursor::address() const {
  if (offset_ == total_) return buffer_.span().end;
  Gather visitor{.vectors = {}};
  iovec next{};
  visitor.vectors = {&next, 1};
  LayoutWalk::run(visitor, elements_, reinterpret_cast<Address>(buffer_.base), offset_, offset_ + 1);
  return reinterpret_cast<std::uintptr_t>(next.iov_base);
}

std::size_t LayoutCursor::gather(std::span<iovec> vectors, std::size_t bytes) {
  bytes = std::min(bytes, total_ - offset_);
  if (bytes == 0) return 0;
  Gather visitor{vectors};
  LayoutWalk::run(visitor, elements_, reinterpret_cast<Address>(buffer_.base), offset_, offset_ + bytes);
  offset_ += visitor.bytes_noted;
  return visitor.used;
}

}  // namespace sluice
