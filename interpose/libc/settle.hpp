// What the wrappers of the C library do while something is under guard: complete the memory that a call is about to use.
//
// The kernel answers EFAULT for a closed page instead of waiting (page-guard rule 8), and what the thread that released a
// receive writes must not leave the process before that message is known (rule 1). Memory that only shares a page with a
// receive buffer is just as unreachable for the kernel as the buffer itself, hence also vectors, addresses, paths, stream
// buffers.
//
// Nothing is done in a thread that holds the engine lock: a signal handler that interrupted the engine there may call write(),
// and must not wait for what only the code below it can bring about.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "runtime/guard/page_guard.hpp"

namespace sluice {

/// Something is under guard. One relaxed load.
inline bool watching() { return PageGuard::active() != 0; }

/// Completes what is under guard in the pages of these bytes; nothing to do for nullptr. What is only read may belong to a
/// released send.
void settle(const void* data, std::size_t bytes, Access access = Access::write);
/// Likewise, without ever calling the host: allocators call these functions with their locks held, and the host allocates.
void settle_inside_allocator(const void* data, std::size_t bytes);
/// Likewise, and after what other threads are releasing now: what must not come under guard there any more.
void settle_for_good(ByteRange bytes);
/// Alias blocks in these bytes become private memory, before a call that would mean something else on a block.
void make_private(ByteRange bytes);
/// All blocks do, and what is mapped of peers' goes, before the address space is limited.
void leave_address_space();
void settle_product(const void* data, std::size_t size, std::size_t count, Access access);
void settle_string(const char* text);
/// The vectors and what they describe.
void settle_vectors(const iovec* vectors, std::size_t count, Access access);
void settle_message(const msghdr* message, Access access);
/// The stream's own buffer, which stdio fills and empties without the wrappers. Everything, for a stream that has none yet (it
/// may get one that shares a page with a receive buffer), and for nullptr, which stands for all streams.
void settle_stream(FILE* stream);
void settle_everything();

/// This thread ends the process from a signal handler on top of the engine: nothing waits any more for what only the code below
/// could bring about, such as output of the handlers of `exit`.
void leave_at_once();

/// Before output: nothing leaves ahead of a message that an early release relies on.
void hold_output();
inline void hold_output(FILE* stream) {
  hold_output();
  settle_stream(stream);
}

/// Whether a call that failed with EFAULT is made again: once in any case, since the page may have been opened meanwhile, and
/// then as often as pages were closed or moved since.
class Again {
 public:
  bool is_due();

 private:
  std::uint64_t generation_ = 0;
  bool tried_ = false;
};

template <typename Prepare, typename Call>
auto guarded_call(Prepare&& prepare, Call&& call) {
  if (watching()) [[unlikely]]
    prepare();
  auto result = call();
  for (Again again; result == -1 && errno == EFAULT && again.is_due();) {
    prepare();
    result = call();
  }
  return result;
}

}  // namespace sluice
