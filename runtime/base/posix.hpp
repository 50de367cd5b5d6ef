// Owners of descriptors and mappings, and system calls whose failure is an exception.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <system_error>
#include <utility>

namespace sluice {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }

  [[nodiscard]] int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void reset() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

class Mapping {
 public:
  Mapping() = default;
  Mapping(void* start, std::size_t bytes) : start_(static_cast<std::byte*>(start)), bytes_(bytes) {}
  ~Mapping() {
    if (start_) ::munmap(start_, bytes_);
  }
  Mapping(Mapping&& other) noexcept : start_(std::exchange(other.start_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(start_, other.start_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  [[nodiscard]] std::byte* start() const { return start_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::byte* start_ = nullptr;
  std::size_t bytes_ = 0;
};

/// The system call that failed last, with errno as its cause.
[[noreturn]] inline void throw_errno(const std::string& call) { throw std::system_error(errno, std::generic_category(), call); }

/// Result of a system call, or an exception naming it.
template <typename Result>
Result checked(Result result, const char* call) {
  if (result < 0) throw_errno(call);
  return result;
}

}  // namespace sluice
