#include "interpose/mpi/window_arguments.hpp"

#include "runtime/guard/user_memory.hpp"

namespace sluice {

PackedOperand::PackedOperand(const BufferArgument& buffer, const char* call) {
  if (is_on_device(buffer)) [[unlikely]] {
    copy_ = copy_from_device(buffer.user_buffer(), call);
  } else if (buffer.simple() && !user_memory_is_guarded()) [[likely]] {
    data_ = buffer.address();
    return;
  } else {
    copy_ = std::make_unique_for_overwrite<std::byte[]>(buffer.bytes());
    LayoutCursor(buffer.user_buffer()).pack({copy_.get(), buffer.bytes()});
  }
  data_ = copy_.get();
}

PackedResult::PackedResult(const BufferArgument& buffer, const char* call) : buffer_(buffer) {
  if (is_on_device(buffer)) [[unlikely]] {
    staged_ = std::make_unique<StagedReceive>(buffer.user_buffer(), call);
    data_ = staged_->buffer().base;
  } else if (buffer.simple() && !user_memory_is_guarded()) [[likely]] {
    data_ = buffer.address();
  } else {
    copy_ = std::make_unique_for_overwrite<std::byte[]>(buffer.bytes());
    data_ = copy_.get();
  }
}

void PackedResult::deliver() {
  if (staged_) staged_->deliver(buffer_.bytes());
  if (copy_) LayoutCursor(buffer_.user_buffer()).unpack({copy_.get(), buffer_.bytes()});
}

UserBuffer FarBuffers::read(const BufferArgument& buffer) {
  buffer.settle(Access::read);
  if (!is_on_device(buffer)) [[likely]]
    return buffer.user_buffer();
  staged_.push_back(std::make_unique<PackedOperand>(buffer, call_));
  return packed_bytes(staged_.back()->data(), buffer.bytes());
}

UserBuffer FarBuffers::written(const BufferArgument& buffer) {
  buffer.settle(Access::write);
  if (!is_on_device(buffer)) [[likely]]
    return buffer.user_buffer();
  result_ = std::make_unique<PackedResult>(buffer, call_);
  return packed_bytes(result_->data(), buffer.bytes());
}

void FarBuffers::end() {
  if (staged_.empty() && !result_) [[likely]]
    return;
  far_.wait_here(target_.rank());
  if (result_) result_->deliver();
}

}  // namespace sluice
