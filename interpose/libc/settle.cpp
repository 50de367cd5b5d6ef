#include "interpose/libc/settle.hpp"

#include <algorithm>
#include <climits>
#include <span>

#include "interpose/host/host_turns.hpp"
#include "interpose/mpi/entry.hpp"
#include "interpose/session/session_use.hpp"
#include "runtime/alias/gate.hpp"
#include "runtime/engine/lock.hpp"
#include "runtime/guard/user_memory.hpp"

namespace sluice {
namespace {

/// Set and read by the thread itself.
constinit thread_local bool leaves_at_once = false;

/// Not in a child that shares this memory or has a copy of it (vfork, clone): the engine is its parent's.
class CanWait {
 public:
  explicit operator bool() const {
    return use_ && !leaves_at_once && !EngineLock::held_by_this_thread() && session().is_of_this_process();
  }

 private:
  SessionUse use_;
  OutsideOfCalls outside_of_calls_;
};

/// In whole pages: for the kernel a page is closed or not.
ByteRange pages_of(const void* data, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  constexpr std::uintptr_t last_address = (std::uintptr_t{1} << 47) - page_bytes;
  if (begin == 0 || begin >= last_address) return {};
  return PageRange::covering({begin, begin + std::min(bytes, last_address - begin)}).bytes();
}

}  // namespace

void settle(const void* data, std::size_t bytes, Access access) {
  const ByteRange range = pages_of(data, bytes);
  if (const CanWait can; can && user_memory_is_guarded(range)) engine().memory().settle(range, access);
}

void settle_inside_allocator(const void* data, std::size_t bytes) {
  const ByteRange range = pages_of(data, bytes);
  if (const CanWait can; can && user_memory_is_guarded(range)) engine().memory().settle_without_host(range);
}

void settle_for_good(ByteRange bytes) {
  if (const CanWait can; can) engine().memory().settle_without_host(PageRange::covering(bytes).bytes());
}

void make_private(ByteRange bytes) {
  if (const CanWait can; can) engine().memory().make_private(PageRange::covering(bytes).bytes());
}

void leave_address_space() {
  if (const CanWait can; can && !Engine::Memory::this_thread_is_inside()) engine().memory().leave_address_space();
}

void settle_product(const void* data, std::size_t size, std::size_t count, Access access) {
  std::size_t bytes = 0;
  settle(data, __builtin_mul_overflow(size, count, &bytes) ? SIZE_MAX : bytes, access);
}

void settle_string(const char* text) { settle(text, PATH_MAX, Access::read); }

void settle_vectors(const iovec* vectors, std::size_t count, Access access) {
  if (!vectors || count > IOV_MAX) return;
  settle(vectors, count * sizeof *vectors, Access::read);
  for (const iovec& vector : std::span(vectors, count)) settle(vector.iov_base, vector.iov_len, access);
}

void settle_message(const msghdr* message, Access access) {
  if (!message) return;
  settle(message, sizeof *message);
  settle(message->msg_name, message->msg_namelen);
  settle(message->msg_control, message->msg_controllen);
  settle_vectors(message->msg_iov, message->msg_iovlen, access);
}

void settle_stream(FILE* stream) {
  if (!stream || !stream->_IO_buf_base) return settle_everything();
  settle(stream->_IO_buf_base, static_cast<std::size_t>(stream->_IO_buf_end - stream->_IO_buf_base));
}

void settle_everything() {
  if (const CanWait can; can) engine().memory().settle_all(trace::SettleCause::operation);
}

void leave_at_once() { leaves_at_once = true; }

void hold_output() {
  if (const CanWait can; can && Engine::Memory::released_by_this_thread()) engine().memory().settle_unknown();
}

bool Again::is_due() {
  if (const CanWait can; !can) return false;
  alias_gate::wait_until_open();
  const std::uint64_t generation = alias_gate::generation();
  const bool due = !tried_ || generation != generation_;
  tried_ = true;
  generation_ = generation;
  errno = EFAULT;
  return due;
}

}  // namespace sluice
