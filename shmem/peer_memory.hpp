// The memory file of a peer's alias blocks, so that a sender stores straight into the receiver's buffer, and a receiver reads
// straight out of the sender's.
//
// An application address of the peer is its offset in the file. The file is as large as the address space, and is mapped in
// extents of 2 MB where it is used often (runtime/process/window_span.hpp). What is mapped stays, until address space becomes
// scarce here.
//
// Two ways to get at a page. A load or store through the window is the fastest once the page is mapped here, but mapping it is a
// fault. pread and pwrite need no mapping and are slower (docs/results/shmem.md). So a granule of 64 KB is moved by them
// `uses_before_mapping` times, then populated, then used directly. That it is populated is only a hint: the peer may drop pages
// later, and a store faults as usual. Where mapping is refused, all granules are moved by calls, but for writes of a process that
// may not write so far into a file (RLIMIT_FSIZE: the kernel would send SIGXFSZ), which are by stores from the beginning.
//
// Threading: any thread. What is mapped is found without a lock; a lock is taken to map more. `leave_address_space` while nobody
// else is in here.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "runtime/base/posix.hpp"
#include "runtime/copy/shared_copy.hpp"

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

  /// Unmaps everything. What is moved from now on is moved by calls, while the address space is limited.
  void leave_address_space();

 private:
  class Region;

  Region* region_of(std::uint64_t offset);
  /// A copy between the peer's file and memory of this process.
  struct Segment {
    long call;             // SYS_pread64 or SYS_pwrite64
    std::uint64_t offset;  // in the file
    std::byte* own;
    std::size_t bytes;
    TargetLines lines;  // of the target
    SourceLines source = SourceLines::kept;
  };
  bool move(Segment segment);
  std::size_t move_run(Region* region, const Segment& segment);
  void move_mapped(std::byte* shared, const Segment& segment);
  bool move_by_call(Segment segment);
  bool refuse(const char* call);

  Descriptor file_;
  std::uint64_t file_bytes_ = 0;
  std::atomic<Region*> regions_{nullptr};  // a list; entries are added at its head, release, and stay; read with acquire
  std::atomic<bool> usable_{false};
  mutable std::mutex mapping_;  // protects the making of regions, their mappings, and refusal_
  std::string refusal_ = "it has no memory file";
};

}  // namespace sluice
