#include "interpose/device/buffers.hpp"

#include <algorithm>
#include <array>

#include "runtime/alias/kept_memory.hpp"
#include "runtime/base/fatal.hpp"

namespace sluice {
namespace {

[[noreturn]] void refuse(const char* call, std::uintptr_t address, std::size_t bytes) {
  fatal("%s: the GPU's runtime does not copy %zu bytes of its memory at %p; SLUICE_ENABLE=0 leaves such messages to the host MPI",
        call, bytes, reinterpret_cast<void*>(address));
}

/// Copies the first `bytes` packed bytes of a buffer, piece by piece: copy(address, packed offset, length).
template <typename Copy>
void for_each_piece(const UserBuffer& buffer, std::size_t bytes, const char* call, Copy copy) {
  std::array<iovec, 64> pieces;
  LayoutCursor cursor(buffer);
  for (std::size_t offset = 0; offset < bytes;) {
    const std::size_t found = cursor.gather(pieces, bytes - offset);
    for (const iovec& piece : std::span(pieces).first(found)) {
      const auto address = reinterpret_cast<std::uintptr_t>(piece.iov_base);
      if (!copy(address, offset, piece.iov_len)) refuse(call, address, piece.iov_len);
      offset += piece.iov_len;
    }
  }
}

}  // namespace

bool detail::is_on_device(const BufferArgument& buffer) {
  return buffer.valid() && buffer.bytes() != 0 && device_memory::classify(buffer.span()) == device_memory::Class::device;
}

void copy_from_device(std::byte* packed, const UserBuffer& device, const char* call) {
  for_each_piece(device, device.bytes(), call, [&](std::uintptr_t address, std::size_t offset, std::size_t length) {
    return device_memory::copy_from_device(packed + offset, address, length);
  });
}

std::unique_ptr<std::byte[]> copy_from_device(const UserBuffer& device, const char* call) {
  auto packed = std::make_unique_for_overwrite<std::byte[]>(device.bytes());
  copy_from_device(packed.get(), device, call);
  return packed;
}

/// A buffered send is copied aside once more, at once.
Request* start_device_send(Context& context, Rank to, Tag tag, const UserBuffer& device, SendMode mode, CallSite site,
                           Engine::Caller caller) {
  auto copy = copy_from_device(device, site.function());
  if (mode == SendMode::buffered)
    return engine().start_send(context, to, tag, std::span<const std::byte>(copy.get(), device.bytes()), mode, site, caller);
  return engine().start_send(context, to, tag, std::move(copy), device.bytes(), site, caller, mode);
}

/// It never becomes an alias block and is never closed: nobody could tell the device to wait.
StagedReceive::StagedReceive(const UserBuffer& device, const char* call)
    : device_(device), bytes_(std::make_unique_for_overwrite<std::byte[]>(device.bytes())), call_(call) {
  kept_memory::begin_use(ByteRange::of(bytes_.get(), device.bytes()));
}

StagedReceive::~StagedReceive() { kept_memory::end_use(ByteRange::of(bytes_.get(), device_.bytes())); }

void StagedReceive::again() {
  delivered_ = false;
  if (other_) other_->again();
}

void StagedReceive::deliver(std::size_t bytes) {
  if (delivered_) return;
  delivered_ = true;
  for_each_piece(device_, std::min(bytes, device_.bytes()), call_,
                 [&](std::uintptr_t address, std::size_t offset, std::size_t length) {
                   return device_memory::copy_to_device(address, bytes_.get() + offset, length);
                 });
  if (other_) other_->deliver(other_->device_.bytes());
}

}  // namespace sluice
