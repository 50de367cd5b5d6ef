// How pages of the application move into the memory file: segment by segment, so that no more than one segment exists twice.
//
//   of a segment       private ──close gate, read-only──> still ──store──> stored ──map over──> block
//                       ^                                 |                |  (mapping failed)
//                       └────────── writable, punch ──────┴────────────────┘
//
// And back to private memory in the same way.
//
// Reading goes on throughout, and sees the same contents before and after. Who writes faults, and waits at the gate
// (alias/gate.hpp) until the segment is a block, or private and writable again. Whatever fails, earlier segments are blocks and
// later ones as they were.
//
// Pages that hold nothing (held_pages.hpp) are holes of the file afterwards, unless they are to be filled: then they are made
// here, where the thread that owns them would have made them. Whoever reads a hole through a mapping of the file, the alias or a
// peer's included, makes it a page.
//
// A private mapping of the file that a fork has left in place (private_views.hpp) moves in the same way, but only the pages that
// the process has changed are stored: the others are in the file already.
//
// Nothing may allocate while the gate is closed: the allocator may be about to write to the segment.
//
// Threading: as AliasArena.
#pragma once

#include "runtime/alias/arena.hpp"
#include "runtime/alias/file.hpp"
#include "runtime/alias/gate.hpp"
#include "runtime/alias/held_pages.hpp"
#include "runtime/base/types.hpp"
#include "runtime/process/process_maps.hpp"

namespace sluice {

class AliasMigration {
 public:
  AliasMigration(const AliasFile& file, const ProcessMaps& maps, const HeldPages& held) : file_(file), maps_(maps), held_(held) {}

  /// Pages that hold nothing: holes of the file, new pages of it, or pages like any other.
  enum class Untouched : std::uint8_t { stays, is_made, is_copied };

  struct Moved {
    Ineligible outcome = Ineligible::none;
    SegmentSet held;  // pages that exist in the file now, if it is none
  };

  /// Makes `pages`, which lie in one segment and are no blocks, a block. `finish` is called before writers go on.
  template <typename Finish>
  Moved move_in(PageRange pages, Untouched untouched, Finish&& finish) {
    alias_gate::close(pages.bytes());
    const Moved moved = move_still(pages, untouched);
    if (moved.outcome == Ineligible::none) finish();
    alias_gate::open();
    return moved;
  }

  /// Makes what is shown at `bytes` private memory again, contents kept, and frees it in the file. False when the kernel refused;
  /// then some segments may be private.
  bool move_out(ByteRange bytes, std::uint64_t file_offset) const;

  /// Some of the pages are a view in place: what the process has not changed there is in the file, which must keep it.
  [[nodiscard]] bool shows_file(PageRange pages) const;

  /// Pages of anonymous memory that hold nothing.
  [[nodiscard]] std::size_t count_untouched(PageRange pages) const;

 private:
  [[nodiscard]] Moved move_still(PageRange pages, Untouched untouched) const;
  [[nodiscard]] Ineligible back_out(PageRange pages, const SegmentSet& held, Ineligible reason, bool stored) const;
  [[nodiscard]] bool move_out_segment(PageRange segment, std::uint64_t file_offset, void* reserved) const;
  void find_held(PageRange pages, Untouched untouched, SegmentSet& held) const;
  [[nodiscard]] bool is_view_in_place(const ProcessMapping& mapping) const;
  template <typename Visit>
  void for_each_mapping(PageRange pages, Visit&& visit) const;

  const AliasFile& file_;
  const ProcessMaps& maps_;
  const HeldPages& held_;
};

}  // namespace sluice
