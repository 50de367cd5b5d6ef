// System calls that store data in memory which the program names. stdio's are in libc/stdio_input.cpp.

#include "interpose/libc/next.hpp"
// The shape of the wrappers comes first.
#include <dirent.h>
#include <mqueue.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

// What programs call that were compiled with _FORTIFY_SOURCE; no header declares them.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
ssize_t __read_chk(int, void*, size_t, size_t);
ssize_t __pread_chk(int, void*, size_t, off_t, size_t);
ssize_t __pread64_chk(int, void*, size_t, off64_t, size_t);
ssize_t __recv_chk(int, void*, size_t, size_t, int);
ssize_t __recvfrom_chk(int, void*, size_t, size_t, int, sockaddr*, socklen_t*);
}
// NOLINTEND(bugprone-reserved-identifier)

namespace sluice {
namespace {

void settle_int_vectors(const iovec* vectors, int count) {
  settle_vectors(vectors, count > 0 ? static_cast<std::size_t>(count) : 0, Access::write);
}

void settle_from(void* data, std::size_t bytes, const sockaddr* from, const socklen_t* from_bytes) {
  settle(data, bytes);
  settle(from, sizeof(sockaddr_storage));
  settle(from_bytes, sizeof *from_bytes);
}

void settle_messages(const mmsghdr* messages, unsigned count, const timespec* timeout) {
  settle(messages, count * sizeof *messages);
  settle(timeout, sizeof *timeout);
  for (unsigned i = 0; i < count; ++i) settle_message(&messages[i].msg_hdr, Access::write);
}

}  // namespace
}  // namespace sluice

using sluice::settle;
using sluice::settle_from;
using sluice::settle_int_vectors;
using sluice::settle_message;
using sluice::settle_messages;

SYSTEM_CALL(ssize_t, read, (int file, void* data, size_t bytes), (file, data, bytes), settle(data, bytes))
SYSTEM_CALL(ssize_t, __read_chk, (int file, void* data, size_t bytes, size_t room), (file, data, bytes, room),
            settle(data, bytes))
SYSTEM_CALL(ssize_t, pread, (int file, void* data, size_t bytes, off_t offset), (file, data, bytes, offset), settle(data, bytes))
SYSTEM_CALL(ssize_t, pread64, (int file, void* data, size_t bytes, off64_t offset), (file, data, bytes, offset),
            settle(data, bytes))
SYSTEM_CALL(ssize_t, __pread_chk, (int file, void* data, size_t bytes, off_t offset, size_t room),
            (file, data, bytes, offset, room), settle(data, bytes))
SYSTEM_CALL(ssize_t, __pread64_chk, (int file, void* data, size_t bytes, off64_t offset, size_t room),
            (file, data, bytes, offset, room), settle(data, bytes))
SYSTEM_CALL(ssize_t, readv, (int file, const iovec* vectors, int count), (file, vectors, count),
            settle_int_vectors(vectors, count))
SYSTEM_CALL(ssize_t, preadv, (int file, const iovec* vectors, int count, off_t offset), (file, vectors, count, offset),
            settle_int_vectors(vectors, count))
SYSTEM_CALL(ssize_t, preadv64, (int file, const iovec* vectors, int count, off64_t offset), (file, vectors, count, offset),
            settle_int_vectors(vectors, count))
SYSTEM_CALL(ssize_t, preadv2, (int file, const iovec* vectors, int count, off_t offset, int flags),
            (file, vectors, count, offset, flags), settle_int_vectors(vectors, count))
SYSTEM_CALL(ssize_t, preadv64v2, (int file, const iovec* vectors, int count, off64_t offset, int flags),
            (file, vectors, count, offset, flags), settle_int_vectors(vectors, count))

SYSTEM_CALL(ssize_t, recv, (int socket, void* data, size_t bytes, int flags), (socket, data, bytes, flags), settle(data, bytes))
SYSTEM_CALL(ssize_t, __recv_chk, (int socket, void* data, size_t bytes, size_t room, int flags),
            (socket, data, bytes, room, flags), settle(data, bytes))
SYSTEM_CALL(ssize_t, recvfrom, (int socket, void* data, size_t bytes, int flags, sockaddr* from, socklen_t* from_bytes),
            (socket, data, bytes, flags, from, from_bytes), settle_from(data, bytes, from, from_bytes))
SYSTEM_CALL(ssize_t, __recvfrom_chk,
            (int socket, void* data, size_t bytes, size_t room, int flags, sockaddr* from, socklen_t* from_bytes),
            (socket, data, bytes, room, flags, from, from_bytes), settle_from(data, bytes, from, from_bytes))
SYSTEM_CALL(ssize_t, recvmsg, (int socket, msghdr* message, int flags), (socket, message, flags),
            settle_message(message, sluice::Access::write))
SYSTEM_CALL(int, recvmmsg, (int socket, mmsghdr* messages, unsigned count, int flags, timespec* timeout),
            (socket, messages, count, flags, timeout), settle_messages(messages, count, timeout))

SYSTEM_CALL(ssize_t, process_vm_readv,
            (pid_t process, const iovec* own, unsigned long count, const iovec* others, unsigned long other_count,
             unsigned long flags) noexcept,
            (process, own, count, others, other_count, flags), settle_int_vectors(own, static_cast<int>(count));
            settle(others, other_count * sizeof *others))
SYSTEM_CALL(ssize_t, getrandom, (void* data, size_t bytes, unsigned flags), (data, bytes, flags), settle(data, bytes))
SYSTEM_CALL(ssize_t, getdents64, (int directory, void* entries, size_t bytes) noexcept, (directory, entries, bytes),
            settle(entries, bytes))
SYSTEM_CALL(ssize_t, msgrcv, (int queue, void* message, size_t bytes, long type, int flags), (queue, message, bytes, type, flags),
            settle(message, sizeof(long) + bytes))
SYSTEM_CALL(ssize_t, mq_receive, (mqd_t queue, char* message, size_t bytes, unsigned* priority),
            (queue, message, bytes, priority), settle(message, bytes);
            settle(priority, sizeof *priority))
