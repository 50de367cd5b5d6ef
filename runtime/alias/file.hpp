// The memory file behind the alias blocks: as large as the address space, sparse, offset == application address. Owns the file,
// what its pages hold, and the windows in which it is mapped (windows.hpp); and tells the mappings of the process that show it.
//
// Threading: as AliasArena; `backs_in_place` and what AliasWindows says from any thread.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/alias/held_pages.hpp"
#include "runtime/alias/page_set.hpp"
#include "runtime/alias/windows.hpp"
#include "runtime/base/posix.hpp"
#include "runtime/base/types.hpp"
#include "runtime/process/numa_placement.hpp"
#include "runtime/process/process_maps.hpp"
#include "runtime/process/window_span.hpp"

namespace sluice {

class BlockWatcher;
class RegistrationWatcher;

class AliasFile {
 public:
  static constexpr unsigned address_bits = AliasWindows::address_bits;
  /// What a large page holds.
  static constexpr std::size_t extent_bytes = window_span::extent_bytes;

  /// `refusal`: why there is to be none; empty when there is.
  explicit AliasFile(std::string refusal = {});
  ~AliasFile();
  AliasFile(const AliasFile&) = delete;
  AliasFile& operator=(const AliasFile&) = delete;

  [[nodiscard]] bool usable() const { return static_cast<bool>(memory_); }
  [[nodiscard]] const std::string& refusal() const { return refusal_; }
  [[nodiscard]] int descriptor() const { return memory_.get(); }
  /// The descriptor still is the memory file: a program that closes what it did not open could have put another in its place.
  [[nodiscard]] bool intact() const;

  /// Maps what is not mapped yet of the window of `bytes`.
  bool map_window(ByteRange bytes) { return windows_.map(bytes, memory_.get()); }
  /// Unmaps all windows. Nobody uses an alias.
  void unmap_windows() { windows_.unmap(registrations_); }
  [[nodiscard]] const AliasWindows& windows() const { return windows_; }

  /// The mapping shows this file, at whatever offset.
  [[nodiscard]] bool backs(const ProcessMapping& mapping) const { return mapping.shared && mapping.is_file(identity_); }
  /// The mapping shows this file at the offset that is its own address: alias blocks.
  [[nodiscard]] bool backs_in_place(const ProcessMapping& mapping) const {
    return backs(mapping) && mapping.file_offset == mapping.bytes.begin;
  }
  /// The mapping, which shows this file, is a window.
  [[nodiscard]] bool is_window(const ProcessMapping& mapping) const { return windows_.include(mapping); }
  /// A private mapping of this file: what a fork makes of a block.
  [[nodiscard]] bool is_view(const ProcessMapping& mapping) const { return !mapping.shared && mapping.is_file(identity_); }
  /// Pages of the file that the mapping shows.
  [[nodiscard]] static PageRange pages_of(const ProcessMapping& mapping) {
    return PageRange::covering({mapping.file_offset, mapping.file_offset + mapping.bytes.size()});
  }
  /// Makes what is shown there a view. Nobody sees anything else meanwhile. By the libc's mmap, as `map_over`.
  [[nodiscard]] bool make_view(const ProcessMapping& mapping) const;

  /// Copies those of `pages` that are in `held`, all in one segment, to their place in the file, on the NUMA node where they are;
  /// 0 or the errno. Reads in the kernel, so that an unreadable page (a guard page, a file cut short) is an error and no signal,
  /// and lack of memory is one too.
  [[nodiscard]] int store(PageRange pages, const SegmentSet& held) const;
  /// Maps the file over the pages, with page-table entries for those in `held`. The libc's mmap and not the bare system call:
  /// host MPIs patch it to learn that addresses change their meaning (Open MPI's registration caches).
  [[nodiscard]] bool map_over(PageRange pages, const SegmentSet& held) const;
  /// Puts page-table entries for these pages of blocks back after something took them all away.
  void populate(PageRange pages) const;
  /// Every page of the range exists afterwards. False when there is no memory.
  [[nodiscard]] bool allocate(ByteRange bytes) const;
  /// See AliasArena::watch.
  void watch(BlockWatcher* watcher) { watcher_ = watcher; }
  [[nodiscard]] bool is_watched() const { return watcher_ != nullptr; }
  /// See AliasArena::watch_registrations.
  void watch_registrations(RegistrationWatcher* watcher) { registrations_ = watcher; }
  [[nodiscard]] const RegistrationWatcher* registrations() const { return registrations_; }
  /// Every page of the range exists.
  [[nodiscard]] bool is_without_holes(ByteRange bytes) const;
  /// Frees the file's pages; they read as zeros afterwards.
  void punch(ByteRange bytes) const;
  /// In a child: it has no window, and is not to write to its parent's memory.
  void abandon();

 private:
  void create();
  [[nodiscard]] int store_run(ByteRange bytes) const;

  Descriptor memory_;
  std::size_t numa_nodes_ = count_numa_nodes();  // asked here: while pages move, nothing may allocate
  BlockWatcher* watcher_ = nullptr;
  RegistrationWatcher* registrations_ = nullptr;
  struct stat identity_ {};
  std::string refusal_;
  AliasWindows windows_;
};

}  // namespace sluice
