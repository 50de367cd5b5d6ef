// The trace file as memory: made, mapped, grown, and handed out chunk by chunk.
//
// The whole limit is mapped once; the file grows behind the mapping. Space is reserved (fallocate) before it is touched, so that
// a full disk is an answer of a system call and not SIGBUS. The first `first_bytes` are reserved and filled with pages at the
// start: a trace within that size meets no page fault later.
//
// Chunks are handed out in their order, round and round with Keep::newest. A chunk belongs to whoever took it until
// it is given back; taking skips those. So no two threads write to one chunk, however slow one of them is.
//
// Words shared between threads, all [any thread, signal handlers], none of them a lock:
//
//   next_       ticket of the next chunk          fetch_add, relaxed: only its being unique matters
//   taken_[i]   chunk i has an owner              exchange, acquire on taking, release on giving back: the new owner writes after
//                                                 everything that the old one wrote
//   chunks_     how many chunks may be used       lowered when the disk is full; relaxed: who sees it late fails to reserve, too
//   reserved_   bytes of the file that exist      raised after fallocate, which may be done twice; release / acquire,
//                                                 so that nobody touches what another thread has not reserved yet
//   lost_, top_ counters                          relaxed
//   visitors_, closed_                            sequentially consistent: `close` sets closed_, then waits for visitors_ to be
//   0;
//                                                 a taker enters visitors_, then looks at closed_. One of them sees the other, so
//                                                 nobody takes a chunk that close cuts off
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/base/posix.hpp"
#include "runtime/trace/format.hpp"

namespace sluice::trace {

class File {
 public:
  static constexpr std::size_t first_bytes = std::size_t{16} << 20;
  static constexpr std::uint32_t table_slots = 2048;
  static constexpr std::size_t table_offset = header_bytes;
  static constexpr std::size_t chunks_offset = table_offset + table_slots * slot_bytes;
  static constexpr std::size_t min_bytes = std::size_t{1} << 20;

  /// Replaces a file of that name. `header` needs its program's part only; sizes and places are filled in. Throws
  /// std::runtime_error, which names the path and the cause.
  File(std::string path, FileHeader header);
  ~File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  struct Identity {
    std::uint64_t device = 0;
    std::uint64_t number = 0;
    bool operator==(const Identity&) const = default;
  };

  struct Chunk {
    std::byte* start = nullptr;  // nullptr: there is none to be had
    std::size_t index = 0;
    std::uint64_t sequence = 0;
    std::uint64_t previous = 0;
  };
  /// A chunk whose header is still to be written.
  Chunk take();
  void give_back(std::size_t index);

  /// So many table slots in a row; nullptr when there are not so many left.
  TableSlot* take_slots(std::size_t count, std::uint32_t& first);

  void count_lost() { lost_.fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

  void put(std::size_t offset, const void* bytes, std::size_t count);
  /// Cuts off what no chunk has been taken of.
  void close(EndCause cause);

 private:
  void make();
  [[nodiscard]] bool owns_descriptor() const;
  bool reserve(std::size_t end);
  Chunk use(std::uint64_t ticket, std::size_t index);
  void fetch_pages(std::size_t index);

  std::string path_;
  FileHeader header_;
  Descriptor descriptor_;
  Identity identity_;
  Mapping mapping_;
  Mapping taken_memory_;
  std::atomic<std::uint8_t>* taken_ = nullptr;
  std::atomic<std::uint64_t> next_{0};
  std::atomic<std::size_t> chunks_{0};
  std::atomic<std::size_t> reserved_{0};
  std::atomic<std::uint64_t> lost_{0};
  std::atomic<std::uint32_t> next_slot_{0};
  std::atomic<std::uint64_t> lost_entries_{0};
  std::atomic<std::size_t> top_{0};  // end of the last chunk in the file that was ever taken
  std::atomic<int> visitors_{0};
  std::atomic<bool> closed_{false};
  std::atomic<bool> disk_full_{false};
  std::size_t filled_ = 0;  // pages up to here exist since the start
};

}  // namespace sluice::trace
