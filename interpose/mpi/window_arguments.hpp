// The arguments of one-sided calls, checked once for all of them.
//
// Arguments that are not in order go to the host, which raises the error, and so does MPI_PROC_NULL. What the host would not see
// (epochs, the end of the target's memory) is refused here.
#pragma once

#include <algorithm>
#include <climits>
#include <memory>
#include <vector>

#include "interpose/device/buffers.hpp"
#include "interpose/mpi/arguments.hpp"
#include "interpose/mpi/window.hpp"

namespace sluice {

/// For the host's calls with `int`, whose argument is out of order anyway.
inline int host_count(MPI_Count count) { return static_cast<int>(std::clamp<MPI_Count>(count, INT_MIN, INT_MAX)); }

/// The target's side: what is accessed, as it is mapped here, or else by addresses of the target's.
class TargetArgument {
 public:
  TargetArgument(const Window& window, int rank, MPI_Aint displacement, MPI_Count count, MPI_Datatype type)
      : TargetArgument(window, rank, displacement, count, flat_type(type)) {}
  TargetArgument(const Window& window, int rank, MPI_Aint displacement, MPI_Count count, const FlatType* type)
      : window_(window),
        rank_(rank),
        has_rank_(window.has_rank(rank)),
        memory_(has_rank_ ? window.memory(rank) : Window::Memory{}),
        overflows_(__builtin_mul_overflow(displacement, static_cast<MPI_Aint>(memory_.unit), &offset_)),
        buffer_(address(), count, type) {}

  [[nodiscard]] bool in_order() const { return has_rank_ && buffer_.has_type() && buffer_.has_count(); }

  // The rest only when in order.
  /// MPI_SUCCESS, or why the target may not be accessed there.
  [[nodiscard]] int refusal() const {
    if (!window_.may_access(rank_)) return MPI_ERR_RMA_SYNC;
    return is_inside() ? MPI_SUCCESS : MPI_ERR_RMA_RANGE;
  }
  [[nodiscard]] bool is_mapped() const { return memory_.is_mapped; }
  [[nodiscard]] const WindowMember& member() const { return window_.member(rank()); }
  [[nodiscard]] std::size_t rank() const { return static_cast<std::size_t>(rank_); }
  [[nodiscard]] const BufferArgument& buffer() const { return buffer_; }

 private:
  [[nodiscard]] std::byte* address() const {
    return reinterpret_cast<std::byte*>(reinterpret_cast<std::intptr_t>(memory_.base) + offset_);
  }
  [[nodiscard]] bool is_inside() const {
    if (buffer_.bytes() == 0) return true;
    const ByteRange accessed = buffer_.span();
    const ByteRange exposed = ByteRange::of(memory_.base, memory_.bytes);
    const bool is_within = accessed.begin >= exposed.begin && accessed.end <= exposed.end && accessed.begin < accessed.end;
    return !overflows_ && is_within && (!is_mapped() || window_.exposes(accessed));
  }

  const Window& window_;
  const int rank_;
  const bool has_rank_;
  const Window::Memory memory_;
  MPI_Aint offset_ = 0;
  const bool overflows_;
  const BufferArgument buffer_;
};

/// The bytes that the origin brings, packed, where the processor reads them without waiting for anybody.
class PackedOperand {
 public:
  PackedOperand(const BufferArgument& buffer, const char* call);
  [[nodiscard]] const std::byte* data() const { return data_; }

 private:
  std::unique_ptr<std::byte[]> copy_;
  const std::byte* data_ = nullptr;
};

/// Where the bytes that the origin gets are put, packed, likewise.
class PackedResult {
 public:
  PackedResult(const BufferArgument& buffer, const char* call);
  [[nodiscard]] std::byte* data() const { return data_; }
  /// To where they belong; all have come.
  void deliver();

 private:
  const BufferArgument& buffer_;
  std::unique_ptr<StagedReceive> staged_;
  std::unique_ptr<std::byte[]> copy_;
  std::byte* data_ = nullptr;
};

/// Packed bytes as a buffer, which is only read.
inline UserBuffer packed_bytes(const std::byte* data, std::size_t bytes) {
  return {const_cast<std::byte*>(data), bytes, byte_layout()};
}

/// An operation that goes by messages, and what of the program's memory it uses until it is over here. What a device has is
/// staged, and waited for.
class FarBuffers {
 public:
  FarBuffers(FarWindowCalls& far, const TargetArgument& target, const char* call) : far_(far), target_(target), call_(call) {}

  [[nodiscard]] FarWindowCalls& far() { return far_; }
  [[nodiscard]] UserBuffer read(const BufferArgument& buffer);
  [[nodiscard]] UserBuffer written(const BufferArgument& buffer);
  [[nodiscard]] UserBuffer place() const { return target_.buffer().user_buffer(); }
  /// It is on its way.
  void end();

 private:
  FarWindowCalls& far_;
  const TargetArgument& target_;
  const char* const call_;
  std::vector<std::unique_ptr<PackedOperand>> staged_;
  std::unique_ptr<PackedResult> result_;
};

}  // namespace sluice
