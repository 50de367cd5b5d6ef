// MPI_Put and MPI_Get on windows that Sluice carries: the origin copies.

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "interpose/mpi/distant_memory.hpp"
#include "interpose/mpi/window_arguments.hpp"
#include "interpose/mpi/window_calls.hpp"
#include "runtime/guard/user_memory.hpp"

namespace sluice::window_calls {
namespace {

/// From this length on, the copies that were measured to be fast between processors are worth their call.
constexpr std::size_t long_bytes = page_bytes;

/// Both sides of a copy of that length find room in a processor's own caches, and may be there from the last one. Stores that
/// stream would drive them out.
bool fits_into_cache(std::size_t bytes) {
  static const auto cache = static_cast<std::size_t>(std::max(0L, sysconf(_SC_LEVEL2_CACHE_SIZE)));
  return bytes <= cache / 2;
}

void copy_in(std::byte* target, const std::byte* origin, std::size_t bytes) {
  if (user_memory_is_guarded()) [[unlikely]]
    return copy_from_user(target, origin, bytes);
  if (bytes < long_bytes || fits_into_cache(bytes)) {
    std::memcpy(target, origin, bytes);
  } else {
    copy_to_peer(target, origin, bytes, TargetLines::unknown);
  }
}

void copy_out(std::byte* origin, const std::byte* target, std::size_t bytes) {
  if (bytes < long_bytes || user_memory_is_guarded()) return copy_to_user(origin, target, bytes);
  copy_from_peer(origin, target, bytes, TargetLines::unknown, SourceLines::kept);
}

/// Where one of them has gaps.
void copy_packed(const UserBuffer& from, const UserBuffer& to) {
  alignas(cache_line) std::array<std::byte, page_bytes> piece;
  LayoutCursor source(from);
  LayoutCursor target(to);
  while (const std::size_t bytes = source.pack(piece)) target.unpack({piece.data(), bytes});
}

/// Of two equal signatures; MPI_SUCCESS or the error that the window is to raise.
int check(const BufferArgument& origin, const TargetArgument& target) {
  if (const int code = target.refusal(); code != MPI_SUCCESS) return code;
  return origin.bytes() <= target.buffer().bytes() ? MPI_SUCCESS : MPI_ERR_TRUNCATE;
}

/// On another node, or on one with such members. MPI_SUCCESS, or the error that the window is to raise.
int put_far(FarWindowCalls& far, const BufferArgument& origin, const TargetArgument& target, Request** whole) {
  if (origin.bytes() == 0) return MPI_SUCCESS;
  FarBuffers buffers(far, target, "MPI_Put");
  const bool is_done = far.put(target.rank(), buffers.read(origin), buffers.place(), whole);
  buffers.end();
  return is_done ? MPI_SUCCESS : MPI_ERR_RMA_RANGE;
}

int get_far(FarWindowCalls& far, const BufferArgument& origin, const TargetArgument& target, Request** whole) {
  if (origin.bytes() == 0) return MPI_SUCCESS;
  FarBuffers buffers(far, target, "MPI_Get");
  const bool is_done = far.get(target.rank(), buffers.written(origin), buffers.place(), whole);
  buffers.end();
  return is_done ? MPI_SUCCESS : MPI_ERR_RMA_RANGE;
}

/// Whose memory is not mapped here. MPI_SUCCESS, or the error that the window is to raise.
int put_distant(const BufferArgument& origin, const TargetArgument& target, const char* call) {
  origin.settle(Access::read);
  const PackedOperand operand(origin, call);
  DistantMemory memory(target.member(), target.buffer().user_buffer());
  return memory.write(operand.data(), origin.bytes()) ? MPI_SUCCESS : MPI_ERR_RMA_RANGE;
}

int get_distant(const BufferArgument& origin, const TargetArgument& target, const char* call) {
  origin.settle(Access::write);
  PackedResult result(origin, call);
  DistantMemory memory(target.member(), target.buffer().user_buffer());
  if (!memory.read(result.data(), origin.bytes())) return MPI_ERR_RMA_RANGE;
  result.deliver();
  return MPI_SUCCESS;
}

void put_from_device(const BufferArgument& origin, const BufferArgument& target, const char* call) {
  const PackedOperand operand(origin, call);
  LayoutCursor(target.user_buffer()).unpack({operand.data(), origin.bytes()});
}

void get_to_device(const BufferArgument& origin, const BufferArgument& target, const char* call) {
  PackedResult result(origin, call);
  LayoutCursor(target.user_buffer()).pack({result.data(), origin.bytes()});
  result.deliver();
}

void put(const BufferArgument& origin, const BufferArgument& target, const char* call) {
  origin.settle(Access::read);
  if (is_on_device(origin)) [[unlikely]]
    return put_from_device(origin, target, call);
  if (origin.simple() && target.simple()) return copy_in(target.address(), origin.address(), origin.bytes());
  copy_packed(origin.user_buffer(), target.user_buffer());
}

void get(const BufferArgument& origin, const BufferArgument& target, const char* call) {
  origin.settle(Access::write);
  if (is_on_device(origin)) [[unlikely]]
    return get_to_device(origin, target, call);
  if (origin.simple() && target.simple()) return copy_out(origin.address(), target.address(), origin.bytes());
  copy_packed(target.user_buffer(), origin.user_buffer());
}

int put(Window& window, const void* origin, MPI_Count count, MPI_Datatype type, int rank, MPI_Aint displacement,
        MPI_Count target_count, MPI_Datatype target_type, Request** whole) {
  const FlatType* const flat = flat_type(type);
  const BufferArgument own(origin, count, flat);
  const TargetArgument target(window, rank, displacement, target_count, target_type == type ? flat : flat_type(target_type));
  if (!own.valid() || !target.in_order())
    return host().Put(origin, host_count(count), type, rank, displacement, host_count(target_count), target_type,
                      window.handle());
  if (const int code = check(own, target); code != MPI_SUCCESS) return window.raise(code, "MPI_Put");
  if (!target.is_mapped()) {
    const int code = window.far() ? put_far(*window.far(), own, target, whole) : put_distant(own, target, "MPI_Put");
    return code == MPI_SUCCESS ? code : window.raise(code, "MPI_Put");
  }
  put(own, target.buffer(), "MPI_Put");
  return MPI_SUCCESS;
}

int get(Window& window, void* origin, MPI_Count count, MPI_Datatype type, int rank, MPI_Aint displacement, MPI_Count target_count,
        MPI_Datatype target_type, Request** whole) {
  const FlatType* const flat = flat_type(type);
  const BufferArgument own(origin, count, flat);
  const TargetArgument target(window, rank, displacement, target_count, target_type == type ? flat : flat_type(target_type));
  if (!own.valid() || !target.in_order())
    return host().Get(origin, host_count(count), type, rank, displacement, host_count(target_count), target_type,
                      window.handle());
  if (const int code = check(own, target); code != MPI_SUCCESS) return window.raise(code, "MPI_Get");
  if (!target.is_mapped()) {
    const int code = window.far() ? get_far(*window.far(), own, target, whole) : get_distant(own, target, "MPI_Get");
    return code == MPI_SUCCESS ? code : window.raise(code, "MPI_Get");
  }
  get(own, target.buffer(), "MPI_Get");
  return MPI_SUCCESS;
}

}  // namespace

int Put(Window& window, const void* origin, MPI_Count count, MPI_Datatype type, int rank, MPI_Aint displacement,
        MPI_Count target_count, MPI_Datatype target_type) {
  return put(window, origin, count, type, rank, displacement, target_count, target_type, nullptr);
}

int Get(Window& window, void* origin, MPI_Count count, MPI_Datatype type, int rank, MPI_Aint displacement, MPI_Count target_count,
        MPI_Datatype target_type) {
  return get(window, origin, count, type, rank, displacement, target_count, target_type, nullptr);
}

int Rput(Window& window, const void* origin, MPI_Count count, MPI_Datatype type, int rank, MPI_Aint displacement,
         MPI_Count target_count, MPI_Datatype target_type, MPI_Request* request) {
  Request* whole = nullptr;
  const int code = put(window, origin, count, type, rank, displacement, target_count, target_type, &whole);
  if (code == MPI_SUCCESS) *request = window.handle_for(whole);
  return code;
}

int Rget(Window& window, void* origin, MPI_Count count, MPI_Datatype type, int rank, MPI_Aint displacement,
         MPI_Count target_count, MPI_Datatype target_type, MPI_Request* request) {
  Request* whole = nullptr;
  const int code = get(window, origin, count, type, rank, displacement, target_count, target_type, &whole);
  if (code == MPI_SUCCESS) *request = window.handle_for(whole);
  return code;
}

}  // namespace sluice::window_calls
