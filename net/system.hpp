// System calls on sockets, past the C library: libsluice.so exports its own send, recv, connect and so on, which settle
// the application's buffers, and must not be met here. errno is set as usual.
#pragma once

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "runtime/base/posix.hpp"

namespace sluice::system {

inline int socket(int family, int type) { return static_cast<int>(::syscall(SYS_socket, family, type, 0)); }
inline int bind(int fd, const sockaddr* address, socklen_t bytes) {
  return static_cast<int>(::syscall(SYS_bind, fd, address, bytes));
}
inline int listen(int fd, int backlog) { return static_cast<int>(::syscall(SYS_listen, fd, backlog)); }
inline int connect(int fd, const sockaddr* address, socklen_t bytes) {
  return static_cast<int>(::syscall(SYS_connect, fd, address, bytes));
}
inline int accept(int fd) { return static_cast<int>(::syscall(SYS_accept4, fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)); }
inline int name_of(int fd, sockaddr* address, socklen_t* bytes) {
  return static_cast<int>(::syscall(SYS_getsockname, fd, address, bytes));
}
template <typename Value>
int set_option(int fd, int level, int name, const Value& value) {
  return static_cast<int>(::syscall(SYS_setsockopt, fd, level, name, &value, sizeof value));
}
template <typename Value>
int get_option(int fd, int level, int name, Value& value) {
  socklen_t bytes = sizeof value;
  return static_cast<int>(::syscall(SYS_getsockopt, fd, level, name, &value, &bytes));
}

inline ssize_t send(int fd, const void* data, std::size_t bytes) {
  return ::syscall(SYS_sendto, fd, data, bytes, MSG_NOSIGNAL | MSG_DONTWAIT, nullptr, 0);
}
inline ssize_t send(int fd, iovec* segments, std::size_t count) {
  msghdr message{};
  message.msg_iov = segments;
  message.msg_iovlen = count;
  return ::syscall(SYS_sendmsg, fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}
inline ssize_t receive(int fd, void* data, std::size_t bytes) {
  return ::syscall(SYS_recvfrom, fd, data, bytes, MSG_DONTWAIT, nullptr, nullptr);
}
inline ssize_t receive(int fd, iovec* segments, std::size_t count) {
  msghdr message{};
  message.msg_iov = segments;
  message.msg_iovlen = count;
  return ::syscall(SYS_recvmsg, fd, &message, MSG_DONTWAIT);
}

/// Throws std::system_error.
inline Descriptor new_epoll() {
  return Descriptor(checked(static_cast<int>(::syscall(SYS_epoll_create1, EPOLL_CLOEXEC)), "epoll_create1"));
}
inline int epoll_control(int epoll, int operation, int fd, std::uint32_t events, std::uint64_t tag) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = tag;
  return static_cast<int>(::syscall(SYS_epoll_ctl, epoll, operation, fd, &event));
}
/// `limit_ms`: -1 for ever.
inline int epoll_wait(int epoll, epoll_event* events, int max_events, int limit_ms) {
  return static_cast<int>(::syscall(SYS_epoll_pwait, epoll, events, max_events, limit_ms, nullptr, 0));
}

}  // namespace sluice::system
