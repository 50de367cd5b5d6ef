// The memory file behind the alias blocks: as large as the address space, sparse, offset == application address. Each 64 GB of it
// have a window, a place where they are mapped, and of a window those extents are mapped that hold blocks, or did
// (window_span.hpp). So an alias is a sum, and address space is used like memory.
//
// Threading: as AliasArena; `alias` and `backs_in_place` from any thread.
#pragma once

#include <sys/stat.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/alias/held_pages.hpp"
#include "runtime/alias/page_set.hpp"
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
  /// User addresses of x86-64 with four page-table levels.
  static constexpr unsigned address_bits = 47;
  static constexpr unsigned window_bits = 36;
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

  /// `bytes` can have an alias: one window holds all of it.
  [[nodiscard]] static bool fits_window(ByteRange bytes);
  /// Maps what is not mapped yet of the window of `bytes`.
  bool map_window(ByteRange bytes);
  [[nodiscard]] bool has_windows() const { return !mapped_.empty(); }
  /// Unmaps all windows. Nobody uses an alias.
  void unmap_windows();
  [[nodiscard]] std::byte* alias(std::uintptr_t address) const;

  /// The mapping shows this file, at whatever offset.
  [[nodiscard]] bool backs(const ProcessMapping& mapping) const { return mapping.shared && mapping.is_file(identity_); }
  /// The mapping shows this file at the offset that is its own address: alias blocks.
  [[nodiscard]] bool backs_in_place(const ProcessMapping& mapping) const {
    return backs(mapping) && mapping.file_offset == mapping.bytes.begin;
  }
  [[nodiscard]] bool is_window(const ProcessMapping& mapping) const;
  /// A private mapping of this file: what a fork makes of a block.
  [[nodiscard]] bool is_view(const ProcessMapping& mapping) const { return !mapping.shared && mapping.is_file(identity_); }
  /// Pages of the file that the mapping shows.
  [[nodiscard]] static PageRange pages_of(const ProcessMapping& mapping) {
    return PageRange::covering({mapping.file_offset, mapping.file_offset + mapping.bytes.size()});
  }
  /// Makes what is shown there a view. Nobody sees anything else meanwhile. By the libc's mmap, as `map_over`.
  [[nodiscard]] bool make_view(const ProcessMapping& mapping) const;

  /// Copies those of `pages` that are in `held`, all in one piece, to their place in the file, on the NUMA node where they are; 0
  /// or the errno. Reads in the kernel, so that an unreadable page (a guard page, a file cut short) is an error and no signal,
  /// and lack of memory is one too.
  [[nodiscard]] int store(PageRange pages, const PieceSet& held) const;
  /// Maps the file over the pages, with page-table entries for those in `held`. The libc's mmap and not the bare system call:
  /// host MPIs patch it to learn that addresses change their meaning (Open MPI's registration caches).
  [[nodiscard]] bool map_over(PageRange pages, const PieceSet& held) const;
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
  static constexpr std::size_t window_bytes = std::size_t{1} << window_bits;
  static constexpr std::size_t windows = std::size_t{1} << (address_bits - window_bits);

  void create();
  void tell_freed(ByteRange bytes) const;
  [[nodiscard]] int store_run(ByteRange bytes) const;
  static ByteRange within_window(ByteRange bytes);

  Descriptor memory_;
  std::size_t numa_nodes_ = count_numa_nodes();  // asked here: while pages move, nothing may allocate
  BlockWatcher* watcher_ = nullptr;
  RegistrationWatcher* registrations_ = nullptr;
  struct stat identity_ {};
  std::string refusal_;
  PageSet mapped_;                                        // of the file, in whole extents; under the engine lock
  std::array<std::atomic<std::byte*>, windows> bases_{};  // written once each, release; read by alias, acquire
};

}  // namespace sluice
