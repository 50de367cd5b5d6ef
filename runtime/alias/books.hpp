// What is known of the alias blocks, and how it is kept true: the kernel is asked before a block is used, and a sweep now and
// then frees file pages that no mapping shows any more.
//
// ER keeps alias blocks in a hash table on their start address. Here a file offset is an application address, so a set of
// pages says all that such a table would, and finds the block of a buffer that starts anywhere inside it.
//
// Threading: as AliasArena; `first_in_place` and `mappings_added` from any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <vector>

#include "runtime/alias/children_views.hpp"
#include "runtime/alias/file.hpp"
#include "runtime/alias/known_mappings.hpp"
#include "runtime/alias/large_pages.hpp"
#include "runtime/alias/page_set.hpp"
#include "runtime/base/types.hpp"
#include "runtime/process/process_maps.hpp"

namespace sluice {

class AliasBooks {
 public:
  AliasBooks(const AliasFile& file, const ProcessMaps& maps, ChildrenViews& children)
      : file_(file), maps_(maps), children_(children) {}

  /// See AliasArena::first_in_place.
  [[nodiscard]] ByteRange first_in_place(ByteRange bytes) const;
  /// All of `pages` is in place, and the program has not changed its protection.
  [[nodiscard]] bool all_usable(PageRange pages, OperationTime time);

  /// See AliasArena::first_mapping_in_place.
  [[nodiscard]] ByteRange first_mapping_in_place(ByteRange bytes) const;

  /// `pages` are blocks now. With a seam, the first of them is a mapping of its own.
  void enter(PageRange pages, bool seam);
  /// They are private memory again.
  void strike(PageRange pages);
  /// Strikes those blocks of `pages` that are not mapped in place any more.
  void drop_dead(PageRange pages);
  /// Frees what has died; how many bytes may still do.
  std::size_t look();
  /// Sweeps when enough was migrated or died since the last sweep.
  void sweep_if_due();
  /// Frees file pages that nobody sees any more.
  void sweep();

  void note_release(PageRange pages);

  /// See AliasArena::note_send.
  void note_send(PageRange pages, bool pending);
  /// Pages of pending sends.
  [[nodiscard]] const PageSet& sent() const { return sent_; }

  [[nodiscard]] const PageSet& blocks() const { return blocks_; }
  /// File pages that may hold data: blocks, and what died or was moved since the last sweep.
  [[nodiscard]] const PageSet& occupied() const { return occupied_; }
  [[nodiscard]] std::size_t mappings_added() const { return mappings_added_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t dead_blocks() const { return dead_blocks_; }
  [[nodiscard]] std::size_t moved_blocks() const { return moved_blocks_; }

 private:
  void free_unseen(const PageSet& shown);
  void count_mappings();

  const AliasFile& file_;
  const ProcessMaps& maps_;
  ChildrenViews& children_;
  KnownMappings known_{file_};  // where the kernel cannot be asked by ioctl
  PageSet blocks_;              // pages that the application's addresses showed when last asked
  PageSet seams_;
  PageSet occupied_;
  AliasLargePages large_;
  std::size_t unswept_bytes_ = 0;
  std::vector<PageRange> sends_;
  PageSet sent_;
  std::size_t dead_blocks_ = 0;
  std::size_t moved_blocks_ = 0;
  ByteRange last_usable_;                       // the mapping that was found last, readable and writable
  std::uint64_t last_usable_at_ = 0;            // when: the number of the last operation that had begun
  std::atomic<std::size_t> mappings_added_{0};  // written with the engine lock held, read by any thread, a bare number: relaxed
};

}  // namespace sluice
