// System calls by which data leaves the process: what they take is completed first, and so is the matching of what was released
// before its message was known (rule 1). stdio's are in libc/stdio_output.cpp.

#include "interpose/libc/next.hpp"
// The shape of the wrappers comes first.
#include <fcntl.h>
#include <mqueue.h>
#include <sys/msg.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

namespace sluice {
namespace {

void hold_output_of(const void* data, std::size_t bytes) {
  hold_output();
  settle(data, bytes, Access::read);
}

void hold_output_of(const iovec* vectors, int count) {
  hold_output();
  settle_vectors(vectors, count > 0 ? static_cast<std::size_t>(count) : 0, Access::read);
}

void hold_output_of(const mmsghdr* messages, unsigned count) {
  hold_output();
  settle(messages, count * sizeof *messages);
  for (unsigned i = 0; i < count; ++i) settle_message(&messages[i].msg_hdr, Access::read);
}

}  // namespace
}  // namespace sluice

using sluice::Access;
using sluice::hold_output;
using sluice::hold_output_of;
using sluice::settle;
using sluice::settle_message;

SYSTEM_CALL(ssize_t, write, (int file, const void* data, size_t bytes), (file, data, bytes), hold_output_of(data, bytes))
SYSTEM_CALL(ssize_t, pwrite, (int file, const void* data, size_t bytes, off_t offset), (file, data, bytes, offset),
            hold_output_of(data, bytes))
SYSTEM_CALL(ssize_t, pwrite64, (int file, const void* data, size_t bytes, off64_t offset), (file, data, bytes, offset),
            hold_output_of(data, bytes))
SYSTEM_CALL(ssize_t, writev, (int file, const iovec* vectors, int count), (file, vectors, count), hold_output_of(vectors, count))
SYSTEM_CALL(ssize_t, pwritev, (int file, const iovec* vectors, int count, off_t offset), (file, vectors, count, offset),
            hold_output_of(vectors, count))
SYSTEM_CALL(ssize_t, pwritev64, (int file, const iovec* vectors, int count, off64_t offset), (file, vectors, count, offset),
            hold_output_of(vectors, count))
SYSTEM_CALL(ssize_t, pwritev2, (int file, const iovec* vectors, int count, off_t offset, int flags),
            (file, vectors, count, offset, flags), hold_output_of(vectors, count))
SYSTEM_CALL(ssize_t, pwritev64v2, (int file, const iovec* vectors, int count, off64_t offset, int flags),
            (file, vectors, count, offset, flags), hold_output_of(vectors, count))

SYSTEM_CALL(ssize_t, send, (int socket, const void* data, size_t bytes, int flags), (socket, data, bytes, flags),
            hold_output_of(data, bytes))
SYSTEM_CALL(ssize_t, sendto, (int socket, const void* data, size_t bytes, int flags, const sockaddr* to, socklen_t to_bytes),
            (socket, data, bytes, flags, to, to_bytes), hold_output_of(data, bytes);
            settle(to, to_bytes, Access::read))
SYSTEM_CALL(ssize_t, sendmsg, (int socket, const msghdr* message, int flags), (socket, message, flags), hold_output();
            settle_message(message, Access::read))
SYSTEM_CALL(int, sendmmsg, (int socket, mmsghdr* messages, unsigned count, int flags), (socket, messages, count, flags),
            hold_output_of(messages, count))

SYSTEM_CALL(ssize_t, process_vm_writev,
            (pid_t process, const iovec* own, unsigned long count, const iovec* others, unsigned long other_count,
             unsigned long flags) noexcept,
            (process, own, count, others, other_count, flags), hold_output_of(own, static_cast<int>(count));
            settle(others, other_count * sizeof *others, Access::read))
SYSTEM_CALL(ssize_t, sendfile, (int to, int from, off_t* offset, size_t bytes) noexcept, (to, from, offset, bytes), hold_output();
            settle(offset, sizeof *offset))
SYSTEM_CALL(ssize_t, sendfile64, (int to, int from, off64_t* offset, size_t bytes) noexcept, (to, from, offset, bytes),
            hold_output();
            settle(offset, sizeof *offset))
SYSTEM_CALL(ssize_t, splice, (int from, off64_t* at, int to, off64_t* to_at, size_t bytes, unsigned flags),
            (from, at, to, to_at, bytes, flags), hold_output();
            settle(at, sizeof *at); settle(to_at, sizeof *to_at))

SYSTEM_CALL(int, msgsnd, (int queue, const void* message, size_t bytes, int flags), (queue, message, bytes, flags),
            hold_output_of(message, sizeof(long) + bytes))
SYSTEM_CALL(int, mq_send, (mqd_t queue, const char* message, size_t bytes, unsigned priority), (queue, message, bytes, priority),
            hold_output_of(message, bytes))
