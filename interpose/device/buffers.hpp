// Messages from and to memory of a device, which the processor cannot reach: they go through host memory, packed, on this side
// alone. To the other side they are like any.
//
//   send      copied out before the operation starts; the copy lives as long as the engine needs it
//   receive   lands in a StagedReceive, which is copied to the device by the call that completes the operation
//
// The runtime copies each contiguous piece by itself, so that gaps of a datatype stay as they are on the device.
#pragma once

#include <memory>

#include "interpose/device/memory.hpp"
#include "interpose/mpi/arguments.hpp"

namespace sluice {

/// The host memory of one receive, or of the blocks that one call receives.
class StagedReceive {
 public:
  StagedReceive(const UserBuffer& device, const char* call);
  ~StagedReceive();
  StagedReceive(const StagedReceive&) = delete;
  StagedReceive& operator=(const StagedReceive&) = delete;

  [[nodiscard]] UserBuffer buffer() const { return {bytes_.get(), device_.bytes(), byte_layout()}; }
  /// Another one, which is delivered with this one, and as a whole.
  void add(std::unique_ptr<StagedReceive> other) { other_ = std::move(other); }
  /// So many bytes of the message have come. Once: later calls do nothing until `again`.
  void deliver(std::size_t bytes);
  void deliver(const Outcome& outcome) {
    if (!outcome.cancelled) deliver(outcome.bytes);
  }
  /// Another message comes.
  void again();

 private:
  UserBuffer device_;
  std::unique_ptr<std::byte[]> bytes_;
  const char* call_;
  std::unique_ptr<StagedReceive> other_;
  bool delivered_ = false;
};

namespace detail {
bool is_on_device(const BufferArgument& buffer);
}

/// One load where there is no runtime of a device.
inline bool is_on_device(const BufferArgument& buffer) {
  if (device_memory::possible()) [[unlikely]]
    return detail::is_on_device(buffer);
  return false;
}

/// Starts a send of what a device holds. `device`: the program's buffer.
Request* start_device_send(Context& context, Rank to, Tag tag, const UserBuffer& device, SendMode mode, CallSite site,
                           Engine::Caller caller = Engine::Caller::goes_on);

/// A packed copy of what a device holds. `call`: who asks, for the error line.
std::unique_ptr<std::byte[]> copy_from_device(const UserBuffer& device, const char* call);
void copy_from_device(std::byte* packed, const UserBuffer& device, const char* call);

inline std::unique_ptr<StagedReceive> stage_receive(const BufferArgument& buffer, const char* call) {
  return is_on_device(buffer) ? std::make_unique<StagedReceive>(buffer.user_buffer(), call) : nullptr;
}

}  // namespace sluice
