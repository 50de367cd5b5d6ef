// The memory file of a peer's alias blocks, so that a sender stores straight into the receiver's buffer, and a receiver reads
// straight out of the sender's.
//
// An application address of the peer is its offset in the file. The file is as large as the address space and is mapped in
// windows of AliasArena::window_bytes, each when first needed. A window stays mapped; it costs address space only.
//
// Two ways to get at a page. A load or store through the window is the fastest (20 to 50 GB/s) once the page is mapped here, but
// mapping it is a fault of about 1 µs, or 0.8 µs where many are populated by one call. pread and pwrite need no mapping and move
// 8 to 16 GB/s from 16 KB on (all measured on a Zen 5 guest). So a granule of 64 KB is moved by them `uses_before_mapping` times,
// then populated, then used directly. That it is populated is only a hint: the peer may drop pages later, and a store faults as
// usual.
//
// Threading: any thread. Windows are found without a lock; a lock is taken to map one.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "runtime/alias_arena.hpp"
#include "runtime/posix.hpp"
#include "runtime/shared_copy.hpp"

namespace sluice {

class PeerMemory {
 public:
  static constexpr std::size_t granule_bytes = std::size_t{64} << 10;
  static constexpr std::uint8_t uses_before_mapping = 3;

  PeerMemory() = default;  // no file: never usable
  explicit PeerMemory(Descriptor file);
  ~PeerMemory();
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;

  [[nodiscard]] bool usable() const { return usable_.load(std::memory_order_relaxed); }
  /// Why it is not usable; empty while it is.
  [[nodiscard]] std::string refusal() const;

  /// False when it is impossible, and from then on.
  bool write(std::uint64_t offset, std::span<const std::byte> source, TargetLines lines = TargetLines::unknown);
  bool read(std::uint64_t offset, std::span<std::byte> target, TargetLines lines = TargetLines::unknown,
            SourceLines source = SourceLines::kept);

 private:
  static constexpr std::size_t address_bits = 48;
  static constexpr std::size_t windows = (std::size_t{1} << address_bits) / AliasArena::window_bytes;
  class Window;
  using Table = std::array<std::atomic<Window*>, windows>;

  Window* window(std::size_t index);
  /// A copy between the peer's file and memory of this process.
  struct Piece {
    long call;             // SYS_pread64 or SYS_pwrite64
    std::uint64_t offset;  // in the file
    std::byte* own;
    std::size_t bytes;
    TargetLines lines;  // of the target
    SourceLines source = SourceLines::kept;
  };
  bool move(Piece piece);
  std::size_t move_run(Window& window, const Piece& piece);
  bool move_by_call(Piece piece);
  bool refuse(const char* call);

  Descriptor file_;
  std::uint64_t file_bytes_ = 0;
  std::unique_ptr<Table> table_;
  std::atomic<bool> usable_{false};
  mutable std::mutex mapping_;  // protects the making of windows, and refusal_
  std::string refusal_ = "it has no memory file";
};

}  // namespace sluice
