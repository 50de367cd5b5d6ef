// What the kernel maps where in this process, asked one address at a time: ioctl PROCMAP_QUERY on /proc/self/maps where the
// kernel has it (6.11 and later), else by reading the file, which takes some hundred times as long in an MPI program
// (docs/results/guard.md).
//
// Threading: any thread, the fault handler included; no lock, no allocation, less than 1 KB of stack. A walk is its thread's own.
#pragma once

#include <sys/stat.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/base/posix.hpp"
#include "runtime/base/types.hpp"

namespace sluice {

struct ProcessMapping {
  ByteRange bytes;
  std::uint64_t file_offset = 0;  // of bytes.begin
  std::uint64_t inode = 0;        // 0: anonymous
  std::uint32_t device_major = 0;
  std::uint32_t device_minor = 0;
  std::size_t page_size = page_bytes;
  bool readable = false;
  bool writable = false;
  bool executable = false;
  bool shared = false;

  [[nodiscard]] bool is_file(const struct stat& file) const;
};

class ProcessMaps {
 public:
  enum class Source { best, text };

  /// `text` never asks by ioctl: what kernels before 6.11 do.
  explicit ProcessMaps(Source source = Source::best);

  /// The mapping that covers `address`, or the first one above it. False when there is none.
  /// `name`, when not empty, receives the path, cut off at its end and closed by a zero.
  bool find(std::uintptr_t address, ProcessMapping& found, std::span<char> name = {}) const {
    return Walk(*this, address).next(found, name);
  }

  /// Mappings in order. They may change meanwhile: each is as it was at some time during the walk. The file, where it has to be
  /// read, is read once.
  class Walk {
   public:
    Walk(const ProcessMaps& maps, std::uintptr_t from) : maps_(maps), from_(from) {}

    /// As `find`, of the address where the last mapping ended.
    bool next(ProcessMapping& found, std::span<char> name = {});

   private:
    bool next_by_text(ProcessMapping& found, std::span<char> name);

    const ProcessMaps& maps_;
    std::uintptr_t from_;
    Descriptor text_;
    std::array<char, 512> chunk_;
    std::size_t chunk_end_ = 0;
    std::size_t at_ = 0;
  };

  [[nodiscard]] bool asks_by_ioctl() const { return static_cast<bool>(maps_); }

  /// In a child: the descriptor that it inherited still tells of its parent.
  void reopen();

 private:
  Descriptor maps_;
};

}  // namespace sluice
