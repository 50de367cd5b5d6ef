#include "shmem/cross_memory.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace sluice {

namespace {

constexpr std::size_t max_per_call = std::size_t{1} << 30;  // the kernel moves at most 2 GiB in one call

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

}  // namespace sluice
