#include "shmem/cross_memory.hpp"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace sluice {

namespace {

constexpr std::size_t max_per_call = std::size_t{1} << 30;  // the kernel moves at most 2 GiB in one call

/// What is left of a list of places.
class PlacesLeft {
 public:
  explicit PlacesLeft(std::span<const iovec> places) : places_(places) { skip(0); }

  [[nodiscard]] bool empty() const { return places_.empty(); }
  /// The next ones, as many as one call takes.
  std::span<const iovec> next() {
    std::size_t count = 0;
    bytes_ = 0;
    for (; count < next_.size() && count < places_.size() && bytes_ < max_per_call; ++count) {
      iovec place = places_[count];
      if (count == 0) place = {static_cast<std::byte*>(place.iov_base) + done_, place.iov_len - done_};
      place.iov_len = std::min(place.iov_len, max_per_call - bytes_);
      next_[count] = place;
      bytes_ += place.iov_len;
    }
    return {next_.data(), count};
  }
  [[nodiscard]] std::size_t next_bytes() const { return bytes_; }
  void skip(std::size_t bytes) {
    done_ += bytes;
    while (!places_.empty() && done_ >= places_.front().iov_len) {
      done_ -= places_.front().iov_len;
      places_ = places_.subspan(1);
    }
  }

 private:
  std::span<const iovec> places_;
  std::size_t done_ = 0;   // of the first
  std::size_t bytes_ = 0;  // of `next_`
  std::array<iovec, 64> next_;
};

}  // namespace

void CrossMemory::probe(std::uint64_t token_address, const Token& token) {
  Token seen{};
  usable_ = true;
  if (read(token_address, std::as_writable_bytes(std::span(seen))) != sizeof seen) {
    usable_ = false;
    refusal_ = "process_vm_readv: " + std::generic_category().message(errno);
  } else if (seen != token) {
    usable_ = false;
    refusal_ = "process_vm_readv reads another process";
  } else {
    refusal_.clear();
  }
}

std::size_t CrossMemory::read(std::uint64_t address, std::span<std::byte> target) {
  std::size_t done = 0;
  while (usable() && done < target.size()) {
    const std::size_t bytes = std::min(target.size() - done, max_per_call);
    iovec local{target.data() + done, bytes};
    iovec remote{reinterpret_cast<void*>(address + done), bytes};
    const ssize_t moved = ::process_vm_readv(pid_, &local, 1, &remote, 1, 0);
    if (moved <= 0) {
      // EFAULT says something about these pages, which either side may have under guard for a moment, and nothing about the pair.
      if (moved == 0 || errno != EFAULT) usable_ = false;
      break;
    }
    done += static_cast<std::size_t>(moved);
  }
  return done;
}

std::string CrossMemory::write_refusal() const {
  const int error = write_error_.load(std::memory_order_relaxed);
  return error == 0 ? std::string() : "process_vm_writev: " + std::generic_category().message(error);
}

std::size_t CrossMemory::write(std::uint64_t address, std::span<const std::byte> source) {
  std::size_t done = 0;
  while (may_write() && done < source.size()) {
    const std::size_t bytes = std::min(source.size() - done, max_per_call);
    const iovec local{const_cast<std::byte*>(source.data()) + done, bytes};
    const iovec remote{reinterpret_cast<void*>(address + done), bytes};
    // Not process_vm_writev(): Sluice's wrapper of it is for the application's output, and this is none. The kernel reads whole
    // registers of what has no parameter types, so each argument is as wide.
    const long moved = ::syscall(SYS_process_vm_writev, long{pid_}, &local, 1UL, &remote, 1UL, 0UL);
    if (moved <= 0) {
      // EFAULT says something about these pages, on either side, and nothing about the pair.
      if (moved == 0 || errno != EFAULT) write_error_ = moved == 0 ? EIO : errno;
      break;
    }
    done += static_cast<std::size_t>(moved);
  }
  return done;
}

template <typename Call>
bool CrossMemory::move(std::span<const iovec> places, std::byte* own, Call call) {
  for (PlacesLeft left(places); !left.empty();) {
    const auto remote = left.next();
    const iovec local{own, left.next_bytes()};
    const ssize_t moved = usable() ? call(pid_, &local, 1, remote.data(), remote.size(), 0) : -1;
    if (moved <= 0) {
      if (moved == 0 || errno != EFAULT) usable_ = false;
      return false;
    }
    own += moved;
    left.skip(static_cast<std::size_t>(moved));
  }
  return true;
}

bool CrossMemory::read_places(std::span<const iovec> places, std::byte* target) {
  return move(places, target, ::process_vm_readv);
}

bool CrossMemory::write_places(std::span<const iovec> places, const std::byte* source) {
  return move(places, const_cast<std::byte*>(source), ::process_vm_writev);
}

}  // namespace sluice
