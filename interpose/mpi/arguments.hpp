// Checks and translates the arguments that sends, receives and persistent calls share.
//
// Sluice judges nothing: an operation whose arguments it does not find in order is passed to the host, which raises the right
// error through the right error handler.
#pragma once

#include "interpose/mpi/communicators.hpp"
#include "interpose/mpi/datatypes.hpp"
#include "interpose/mpi/entry.hpp"
#include "runtime/datatype/layout.hpp"

namespace sluice {

/// Layout of one byte; not counted, so that copying the pointer costs nothing.
std::shared_ptr<const Layout> byte_layout();

/// The triple (address, count, datatype).
class BufferArgument {
 public:
  BufferArgument(const void* address, MPI_Count count, MPI_Datatype type) : BufferArgument(address, count, flat_type(type)) {}
  BufferArgument(const void* address, MPI_Count count, const FlatType* type)
      : base_(static_cast<std::byte*>(const_cast<void*>(address))), count_(count), type_(type) {}

  /// A null address with bytes to transfer is left to the host; with absolute offsets it is MPI_BOTTOM.
  [[nodiscard]] bool valid() const { return type_ && count_ >= 0 && (base_ || !type_->simple || bytes() == 0); }

  /// The parts of it, for calls that look at a null address themselves.
  [[nodiscard]] bool has_type() const { return type_; }
  [[nodiscard]] bool has_count() const { return count_ >= 0; }

  // The rest only when valid.
  [[nodiscard]] bool simple() const { return type_->simple; }
  [[nodiscard]] std::byte* address() const { return base_; }
  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(count_) * type_->size; }

  [[nodiscard]] BufferArgument without_elements() const { return {base_, 0, type_}; }

  /// Only when simple.
  [[nodiscard]] std::span<std::byte> contents() const { return {base_, bytes()}; }

  [[nodiscard]] UserBuffer user_buffer() const {
    if (type_->simple) return {base_, bytes(), byte_layout()};
    return {base_, static_cast<std::size_t>(count_), type_->layout};
  }

  /// All memory from the first to the last byte, gaps included.
  [[nodiscard]] ByteRange span() const;

  /// Rule 6: an operation on a range that is still guarded behaves as if the earlier one had completed.
  void settle(Access access) const {
    if (Engine::Memory::anything_released()) [[unlikely]]
      engine().memory().settle(span(), access);
  }

 private:
  std::byte* base_;
  MPI_Count count_;
  const FlatType* type_;
};

[[nodiscard]] inline bool valid_send_tag(int tag) { return tag >= 0 && tag <= session().tag_limit(); }
[[nodiscard]] inline bool valid_receive_tag(int tag) { return tag == MPI_ANY_TAG || valid_send_tag(tag); }

[[nodiscard]] inline bool valid_source(const Communicator& communicator, int source) {
  return source == MPI_ANY_SOURCE || communicator.has_rank(source);
}

static_assert(MPI_ANY_SOURCE == static_cast<int>(any_source) && MPI_ANY_TAG == static_cast<int>(any_tag));

}  // namespace sluice
