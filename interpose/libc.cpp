// The few functions of the C library that must know about alias blocks and guarded pages.
//
// Input and output: the kernel answers EFAULT for a page under guard instead of waiting (page-guard rule 8), so buffers are
// settled first; and what the thread that released a receive writes must not leave the process before that message is known (rule
// 1). Memory: MADV_DONTNEED must read back zeros, and mremap knows only private memory well. Only calls that go through the
// dynamic linker are seen: glibc's own (printf's write, realloc's mremap) are not; docs/limits.md says what follows.
//
// With nothing released the cost is one load and a predictable branch. Sluice's own system calls under the engine lock do not
// come through here with guarded memory; where they could wait, they are raw.

#include <dlfcn.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <span>

#include "interpose/entry.hpp"
#include "runtime/user_memory.hpp"

namespace sluice {
namespace {

/// The next definition of a function in the order of libraries, typed like the function and looked up once.
template <typename Function>
class Next {
 public:
  constexpr explicit Next(const char* name) : name_(name) {}
  template <typename... Arguments>
  auto operator()(Arguments... arguments) {
    Function* function = function_.load(std::memory_order_relaxed);
    if (!function) [[unlikely]] {
      function = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name_));
      function_.store(function, std::memory_order_relaxed);
    }
    return function(arguments...);
  }

 private:
  const char* name_;
  std::atomic<Function*> function_{nullptr};
};

void settle(const void* data, std::size_t bytes) {
  if (!Engine::anything_released() || !engaged()) [[likely]]
    return;
  const ByteRange range = ByteRange::of(data, bytes);
  if (user_memory_is_guarded(range)) engine().settle(range);
}

void settle(std::span<const iovec> vectors) {
  if (!Engine::anything_released()) [[likely]]
    return;
  for (const iovec& vector : vectors) settle(vector.iov_base, vector.iov_len);
}

/// Before output: nothing leaves ahead of a message that an early release relies on.
void hold_output() {
  if (Engine::anything_released() && engaged() && Engine::released_by_this_thread()) [[unlikely]]
    engine().settle_unknown();
}

bool drops_contents(int advice) { return advice == MADV_DONTNEED || advice == MADV_FREE || advice == MADV_REMOVE; }

// The attributes of these functions (nonnull and the like) say nothing about a look-up by name.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"
#define NEXT(function) constinit Next<decltype(::function)> next_##function(#function)
NEXT(madvise);
NEXT(mremap);
NEXT(write);
NEXT(pwrite64);
NEXT(writev);
NEXT(send);
NEXT(sendto);
NEXT(sendmsg);
NEXT(fwrite);
NEXT(read);
NEXT(pread64);
NEXT(readv);
NEXT(recv);
NEXT(recvfrom);
NEXT(fread);
NEXT(poll);
NEXT(select);
NEXT(epoll_wait);
#undef NEXT
#pragma GCC diagnostic pop

/// For calls that another thread may be inside of when pages come under guard: they are made again once the pages are open.
/// Helper threads of the host keep their descriptor sets in the heap, next to whatever the application received there.
template <typename Call>
int again_when_open(const void* data, std::size_t bytes, Call&& call) {
  for (;;) {
    settle(data, bytes);
    const int result = call();
    if (result >= 0 || errno != EFAULT || !sluice::engaged() || !user_memory_is_guarded(ByteRange::of(data, bytes)))
      return result;
  }
}

std::span<const iovec> all_of(const iovec* vectors, int count) {
  return {vectors, count > 0 ? static_cast<std::size_t>(count) : 0};
}

}  // namespace
}  // namespace sluice

extern "C" {

SLUICE_EXPORTED int madvise(void* address, size_t bytes, int advice) noexcept {
  const int result = sluice::next_madvise(address, bytes, advice);
  if (result == 0 && sluice::engaged() && sluice::drops_contents(advice)) {
    sluice::engine().discard(sluice::ByteRange::of(address, bytes));
  }
  return result;
}

SLUICE_EXPORTED void* mremap(void* address, size_t old_bytes, size_t new_bytes, int flags, ...) noexcept {
  va_list arguments;
  va_start(arguments, flags);
  void* const target = (flags & MREMAP_FIXED) != 0 ? va_arg(arguments, void*) : nullptr;
  va_end(arguments);
  if (sluice::engaged()) sluice::engine().make_private(sluice::ByteRange::of(address, old_bytes));
  return sluice::next_mremap(address, old_bytes, new_bytes, flags, target);
}

SLUICE_EXPORTED ssize_t write(int file, const void* data, size_t bytes) {
  sluice::hold_output();
  sluice::settle(data, bytes);
  return sluice::next_write(file, data, bytes);
}

SLUICE_EXPORTED ssize_t pwrite64(int file, const void* data, size_t bytes, off64_t offset) {
  sluice::hold_output();
  sluice::settle(data, bytes);
  return sluice::next_pwrite64(file, data, bytes, offset);
}

SLUICE_EXPORTED ssize_t writev(int file, const iovec* vectors, int count) {
  sluice::hold_output();
  sluice::settle(sluice::all_of(vectors, count));
  return sluice::next_writev(file, vectors, count);
}

SLUICE_EXPORTED ssize_t send(int socket, const void* data, size_t bytes, int flags) {
  sluice::hold_output();
  sluice::settle(data, bytes);
  return sluice::next_send(socket, data, bytes, flags);
}

SLUICE_EXPORTED ssize_t sendto(int socket, const void* data, size_t bytes, int flags, const sockaddr* to, socklen_t to_bytes) {
  sluice::hold_output();
  sluice::settle(data, bytes);
  return sluice::next_sendto(socket, data, bytes, flags, to, to_bytes);
}

SLUICE_EXPORTED ssize_t sendmsg(int socket, const msghdr* message, int flags) {
  sluice::hold_output();
  if (message) sluice::settle({message->msg_iov, message->msg_iovlen});
  return sluice::next_sendmsg(socket, message, flags);
}

SLUICE_EXPORTED size_t fwrite(const void* data, size_t size, size_t count, FILE* file) {
  sluice::hold_output();
  sluice::settle(data, size * count);
  return sluice::next_fwrite(data, size, count, file);
}

SLUICE_EXPORTED ssize_t read(int file, void* data, size_t bytes) {
  sluice::settle(data, bytes);
  return sluice::next_read(file, data, bytes);
}

// Meson compiles for 64-bit offsets, where the headers give pread and pwrite these names; on x86-64 both are the same function.
asm(".globl pread; .set pread, pread64; .globl pwrite; .set pwrite, pwrite64");

SLUICE_EXPORTED ssize_t pread64(int file, void* data, size_t bytes, off64_t offset) {
  sluice::settle(data, bytes);
  return sluice::next_pread64(file, data, bytes, offset);
}

SLUICE_EXPORTED ssize_t readv(int file, const iovec* vectors, int count) {
  sluice::settle(sluice::all_of(vectors, count));
  return sluice::next_readv(file, vectors, count);
}

SLUICE_EXPORTED ssize_t recv(int socket, void* data, size_t bytes, int flags) {
  sluice::settle(data, bytes);
  return sluice::next_recv(socket, data, bytes, flags);
}

SLUICE_EXPORTED ssize_t recvfrom(int socket, void* data, size_t bytes, int flags, sockaddr* from, socklen_t* from_bytes) {
  sluice::settle(data, bytes);
  return sluice::next_recvfrom(socket, data, bytes, flags, from, from_bytes);
}

SLUICE_EXPORTED size_t fread(void* data, size_t size, size_t count, FILE* file) {
  sluice::settle(data, size * count);
  return sluice::next_fread(data, size, count, file);
}

SLUICE_EXPORTED int poll(pollfd* files, nfds_t count, int timeout) {
  return sluice::again_when_open(files, count * sizeof *files, [&] { return sluice::next_poll(files, count, timeout); });
}

SLUICE_EXPORTED int select(int count, fd_set* readable, fd_set* writable, fd_set* exceptional, timeval* timeout) {
  sluice::settle(writable, sizeof *writable);
  sluice::settle(exceptional, sizeof *exceptional);
  return sluice::again_when_open(readable, sizeof *readable,
                                 [&] { return sluice::next_select(count, readable, writable, exceptional, timeout); });
}

SLUICE_EXPORTED int epoll_wait(int epoll, epoll_event* events, int count, int timeout) {
  const std::size_t bytes = count > 0 ? static_cast<std::size_t>(count) * sizeof *events : 0;
  return sluice::again_when_open(events, bytes, [&] { return sluice::next_epoll_wait(epoll, events, count, timeout); });
}

}  // extern "C"
