// System calls with paths and small structures, which lie on the heap next to a receive buffer now and then.

#include "interpose/libc/next.hpp"
// The shape of the wrappers comes first.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdarg>

// What programs call that were compiled with _FORTIFY_SOURCE, or before glibc 2.33; no header declares them.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
int __open_2(const char*, int);
int __open64_2(const char*, int);
int __openat_2(int, const char*, int);
int __openat64_2(int, const char*, int);
ssize_t __readlink_chk(const char*, char*, size_t, size_t);
ssize_t __readlinkat_chk(int, const char*, char*, size_t, size_t);
int __xstat(int, const char*, struct stat*);
int __lxstat(int, const char*, struct stat*);
int __fxstat(int, int, struct stat*);
int __fxstatat(int, int, const char*, struct stat*, int);
int __xstat64(int, const char*, struct stat64*);
int __lxstat64(int, const char*, struct stat64*);
int __fxstat64(int, int, struct stat64*);
int __fxstatat64(int, int, const char*, struct stat64*, int);
}
// NOLINTEND(bugprone-reserved-identifier)

namespace sluice {
namespace {

template <typename Answer>
void settle_path(const char* path, Answer* answer, std::size_t bytes = sizeof(Answer)) {
  settle_string(path);
  settle(answer, bytes);
}

void settle_paths(const char* one, const char* other) {
  settle_string(one);
  settle_string(other);
}

void settle_address(const sockaddr* address, const socklen_t* bytes) {
  settle(bytes, sizeof *bytes);
  settle(address, sizeof(sockaddr_storage));
}

}  // namespace
}  // namespace sluice

using sluice::settle;
using sluice::settle_address;
using sluice::settle_path;
using sluice::settle_paths;
using sluice::settle_string;

// NOLINTBEGIN(bugprone-macro-parentheses): prototypes
/// A call with a mode, or some other argument, that is not always there.
#define OPENING_CALL(name, parameters, last, arguments)                                              \
  extern "C" __attribute__((visibility("default"))) int name parameters {                            \
    va_list list;                                                                                    \
    va_start(list, last);                                                                            \
    const mode_t mode = __OPEN_NEEDS_MODE(flags) ? va_arg(list, mode_t) : 0;                         \
    va_end(list);                                                                                    \
    return sluice::guarded_call([&] { settle_string(path); }, [&] { return NEXT(name) arguments; }); \
  }
#define CONTROL_CALL(name, parameters, last, arguments, ...)                                 \
  extern "C" __attribute__((visibility("default"))) int name parameters {                    \
    va_list list;                                                                            \
    va_start(list, last);                                                                    \
    void* const argument = va_arg(list, void*);                                              \
    va_end(list);                                                                            \
    return sluice::guarded_call([&] { __VA_ARGS__; }, [&] { return NEXT(name) arguments; }); \
  }
// NOLINTEND(bugprone-macro-parentheses): prototypes

OPENING_CALL(open, (const char* path, int flags, ...), flags, (path, flags, mode))
OPENING_CALL(open64, (const char* path, int flags, ...), flags, (path, flags, mode))
OPENING_CALL(openat, (int directory, const char* path, int flags, ...), flags, (directory, path, flags, mode))
OPENING_CALL(openat64, (int directory, const char* path, int flags, ...), flags, (directory, path, flags, mode))
SYSTEM_CALL(int, __open_2, (const char* path, int flags), (path, flags), settle_string(path))
SYSTEM_CALL(int, __open64_2, (const char* path, int flags), (path, flags), settle_string(path))
SYSTEM_CALL(int, __openat_2, (int directory, const char* path, int flags), (directory, path, flags), settle_string(path))
SYSTEM_CALL(int, __openat64_2, (int directory, const char* path, int flags), (directory, path, flags), settle_string(path))
SYSTEM_CALL(int, creat, (const char* path, mode_t mode), (path, mode), settle_string(path))
SYSTEM_CALL(int, creat64, (const char* path, mode_t mode), (path, mode), settle_string(path))

SYSTEM_CALL(int, access, (const char* path, int mode) noexcept, (path, mode), settle_string(path))
SYSTEM_CALL(int, chdir, (const char* path) noexcept, (path), settle_string(path))
SYSTEM_CALL(int, mkdir, (const char* path, mode_t mode) noexcept, (path, mode), settle_string(path))
SYSTEM_CALL(int, rmdir, (const char* path) noexcept, (path), settle_string(path))
SYSTEM_CALL(int, unlink, (const char* path) noexcept, (path), settle_string(path))
SYSTEM_CALL(int, unlinkat, (int directory, const char* path, int flags) noexcept, (directory, path, flags), settle_string(path))
SYSTEM_CALL(int, truncate, (const char* path, off_t bytes) noexcept, (path, bytes), settle_string(path))
SYSTEM_CALL(int, truncate64, (const char* path, off64_t bytes) noexcept, (path, bytes), settle_string(path))
SYSTEM_CALL(int, rename, (const char* from, const char* to) noexcept, (from, to), settle_paths(from, to))
SYSTEM_CALL(int, link, (const char* from, const char* to) noexcept, (from, to), settle_paths(from, to))
SYSTEM_CALL(int, symlink, (const char* from, const char* to) noexcept, (from, to), settle_paths(from, to))
SYSTEM_CALL(ssize_t, readlink, (const char* path, char* target, size_t room) noexcept, (path, target, room),
            settle_path(path, target, room))
SYSTEM_CALL(ssize_t, readlinkat, (int directory, const char* path, char* target, size_t room) noexcept,
            (directory, path, target, room), settle_path(path, target, room))
SYSTEM_CALL(ssize_t, __readlink_chk, (const char* path, char* target, size_t room, size_t size), (path, target, room, size),
            settle_path(path, target, room))
SYSTEM_CALL(ssize_t, __readlinkat_chk, (int directory, const char* path, char* target, size_t room, size_t size),
            (directory, path, target, room, size), settle_path(path, target, room))
LIBRARY_CALL(char*, getcwd, (char* path, size_t room) noexcept, (path, room), settle(path, room))

SYSTEM_CALL(int, stat, (const char* path, struct stat* answer) noexcept, (path, answer), settle_path(path, answer))
SYSTEM_CALL(int, lstat, (const char* path, struct stat* answer) noexcept, (path, answer), settle_path(path, answer))
SYSTEM_CALL(int, fstat, (int file, struct stat* answer) noexcept, (file, answer), settle(answer, sizeof *answer))
SYSTEM_CALL(int, fstatat, (int directory, const char* path, struct stat* answer, int flags) noexcept,
            (directory, path, answer, flags), settle_path(path, answer))
SYSTEM_CALL(int, stat64, (const char* path, struct stat64* answer) noexcept, (path, answer), settle_path(path, answer))
SYSTEM_CALL(int, lstat64, (const char* path, struct stat64* answer) noexcept, (path, answer), settle_path(path, answer))
SYSTEM_CALL(int, fstat64, (int file, struct stat64* answer) noexcept, (file, answer), settle(answer, sizeof *answer))
SYSTEM_CALL(int, fstatat64, (int directory, const char* path, struct stat64* answer, int flags) noexcept,
            (directory, path, answer, flags), settle_path(path, answer))
SYSTEM_CALL(int, __xstat, (int version, const char* path, struct stat* answer), (version, path, answer),
            settle_path(path, answer))
SYSTEM_CALL(int, __lxstat, (int version, const char* path, struct stat* answer), (version, path, answer),
            settle_path(path, answer))
SYSTEM_CALL(int, __fxstat, (int version, int file, struct stat* answer), (version, file, answer), settle(answer, sizeof *answer))
SYSTEM_CALL(int, __fxstatat, (int version, int directory, const char* path, struct stat* answer, int flags),
            (version, directory, path, answer, flags), settle_path(path, answer))
SYSTEM_CALL(int, __xstat64, (int version, const char* path, struct stat64* answer), (version, path, answer),
            settle_path(path, answer))
SYSTEM_CALL(int, __lxstat64, (int version, const char* path, struct stat64* answer), (version, path, answer),
            settle_path(path, answer))
SYSTEM_CALL(int, __fxstat64, (int version, int file, struct stat64* answer), (version, file, answer),
            settle(answer, sizeof *answer))
SYSTEM_CALL(int, __fxstatat64, (int version, int directory, const char* path, struct stat64* answer, int flags),
            (version, directory, path, answer, flags), settle_path(path, answer))
SYSTEM_CALL(int, statx, (int directory, const char* path, int flags, unsigned mask, struct statx* answer) noexcept,
            (directory, path, flags, mask, answer), settle_path(path, answer))
SYSTEM_CALL(int, statfs, (const char* path, struct statfs* answer) noexcept, (path, answer), settle_path(path, answer))
SYSTEM_CALL(int, fstatfs, (int file, struct statfs* answer) noexcept, (file, answer), settle(answer, sizeof *answer))
SYSTEM_CALL(int, statfs64, (const char* path, struct statfs64* answer) noexcept, (path, answer), settle_path(path, answer))
SYSTEM_CALL(int, fstatfs64, (int file, struct statfs64* answer) noexcept, (file, answer), settle(answer, sizeof *answer))

CONTROL_CALL(fcntl, (int file, int command, ...), command, (file, command, argument), settle(argument, sizeof(struct flock)))
CONTROL_CALL(fcntl64, (int file, int command, ...), command, (file, command, argument), settle(argument, sizeof(struct flock64)))
SYSTEM_CALL(int, pipe, (int* ends) noexcept, (ends), settle(ends, 2 * sizeof *ends))
SYSTEM_CALL(int, pipe2, (int* ends, int flags) noexcept, (ends, flags), settle(ends, 2 * sizeof *ends))
SYSTEM_CALL(int, socketpair, (int domain, int type, int protocol, int* ends) noexcept, (domain, type, protocol, ends),
            settle(ends, 2 * sizeof *ends))

SYSTEM_CALL(int, bind, (int socket, const sockaddr* address, socklen_t bytes) noexcept, (socket, address, bytes),
            settle(address, bytes))
SYSTEM_CALL(int, connect, (int socket, const sockaddr* address, socklen_t bytes), (socket, address, bytes),
            settle(address, bytes))
SYSTEM_CALL(int, accept, (int socket, sockaddr* address, socklen_t* bytes), (socket, address, bytes),
            settle_address(address, bytes))
SYSTEM_CALL(int, accept4, (int socket, sockaddr* address, socklen_t* bytes, int flags), (socket, address, bytes, flags),
            settle_address(address, bytes))
SYSTEM_CALL(int, getsockname, (int socket, sockaddr* address, socklen_t* bytes) noexcept, (socket, address, bytes),
            settle_address(address, bytes))
SYSTEM_CALL(int, getpeername, (int socket, sockaddr* address, socklen_t* bytes) noexcept, (socket, address, bytes),
            settle_address(address, bytes))
SYSTEM_CALL(int, setsockopt, (int socket, int level, int option, const void* value, socklen_t bytes) noexcept,
            (socket, level, option, value, bytes), settle(value, bytes))

SYSTEM_CALL(pid_t, waitpid, (pid_t process, int* status, int options), (process, status, options), settle(status, sizeof *status))
SYSTEM_CALL(pid_t, wait4, (pid_t process, int* status, int options, rusage* usage) noexcept, (process, status, options, usage),
            settle(status, sizeof *status);
            settle(usage, sizeof *usage))
