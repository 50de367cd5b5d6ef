// Owner of a file descriptor.
#pragma once

#include <unistd.h>

#include <utility>

namespace sluice {

class AliasDescriptor {
 public:
  AliasDescriptor() = default;
  explicit AliasDescriptor(int fd) : fd_(fd) {}
  ~AliasDescriptor() { reset(); }
  AliasDescriptor(AliasDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  AliasDescriptor& operator=(AliasDescriptor&& other) noexcept {
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

}  // namespace sluice
