// Reading and writing the memory of a peer by cross-memory attach (process_vm_readv, process_vm_writev). Needs the right to trace
// the peer, which containers and Yama may refuse, so it is tried once per peer before it is relied on.
//
// Threading: any thread after `probe`.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

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

  /// Usable, and nothing has refused writing, which a filter may do by itself.
  [[nodiscard]] bool may_write() const { return usable() && write_error_.load(std::memory_order_relaxed) == 0; }
  /// Why not, where `usable`; empty while it may.
  [[nodiscard]] std::string write_refusal() const;
  /// Bytes written from the front, as `read`; when the kernel refuses it altogether, it may be read still, but not be written to.
  std::size_t write(std::uint64_t address, std::span<const std::byte> source);

  /// Between these places of the peer, one after the other, and as many bytes here. False when one of them cannot be reached, or
  /// the kernel refuses it altogether; some bytes may have been moved then.
  bool read_places(std::span<const iovec> places, std::byte* target);
  bool write_places(std::span<const iovec> places, const std::byte* source);

 private:
  template <typename Call>
  bool move(std::span<const iovec> places, std::byte* own, Call call);

  pid_t pid_ = 0;
  std::atomic<bool> usable_{false};
  std::atomic<int> write_error_{0};  // of a write that was refused altogether
  std::string refusal_ = "not tried";
};

}  // namespace sluice
