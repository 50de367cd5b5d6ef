// Reading the memory of a peer by cross-memory attach (process_vm_readv). Needs the right to trace the peer, which containers
// and Yama may refuse, so it is tried once per peer before it is relied on.
//
// Threading: any thread after `probe`.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "shmem/inbox.hpp"

namespace sluice {

class CrossMemory {
 public:
  CrossMemory() = default;
  explicit CrossMemory(pid_t pid) : pid_(pid) {}

  /// Reads the peer's token at the address where the peer says it is; usable when it is the token.
  void probe(std::uint64_t token_address, const Token& token);

  [[nodiscard]] bool usable() const { return usable_.load(std::memory_order_relaxed); }
  /// Why the probe failed; empty when it did not.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

  /// Bytes read from the front; fewer than asked for when some page cannot be read (or written here) now, or when the kernel
  /// refuses it altogether, and then it is not usable any more.
  std::size_t read(std::uint64_t address, std::span<std::byte> target);

 private:
  pid_t pid_ = 0;
  std::atomic<bool> usable_{false};
  std::string refusal_ = "not tried";
};

}  // namespace sluice
