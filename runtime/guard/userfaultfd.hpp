// The guard's mechanism without signals: closed pages have no page-table entry, and userfaultfd stops who touches them.
//
// Every block is watched from the moment it is mapped (BlockWatcher), so releases split no mappings. `close` asks the kernel to
// watch the pages once more, which costs nothing when it does and is the proof that it does: mremap takes a mapping's watch away.
// Then it drops the entries. `open` gives them back, run by run.
//
// Pages of released sends are PROT_READ, which has nothing to do with their entries.
//
// Odd cases:
//   a page is missing in the file (MADV_DONTNEED)   a touch would make it unseen; so `close` fills holes first
//   large pages are made beside closed ones          only pages that no release holds are mapped again
//   a toucher's mapping is unmapped under it         opening wakes it all the same; it faults again, and gets its SIGSEGV
//   the opened page is mapped, or memory is short    woken as well; it comes back if it must
//   fork                                             nothing is under guard then; the child closes the descriptor
//   the guard ends                                   threads first, then the descriptor, which wakes everybody
#pragma once

#include <memory>

#include "runtime/alias/arena.hpp"
#include "runtime/guard/descriptor.hpp"
#include "runtime/guard/mechanism.hpp"
#include "runtime/guard/touches.hpp"

namespace sluice {

class UserfaultMechanism final : public GuardMechanism, private BlockWatcher {
 public:
  /// Throws std::system_error when its threads cannot be made.
  UserfaultMechanism(FaultDescriptor faults, AliasArena& arena, TouchAnswerer& answerer);
  ~UserfaultMechanism() override;

  bool close(PageRange pages) override;
  bool open(PageRange pages, Access allowed) override;
  [[nodiscard]] bool closes_by_protection() const override { return false; }
  [[nodiscard]] std::size_t mappings_per_release() const override { return 0; }
  [[nodiscard]] bool hears_touches() const override { return true; }
  [[nodiscard]] bool kernel_waits() const override { return faults_.kernel_faults(); }
  void abandon() override;

 private:
  void note_block(ByteRange block) override;
  void note_dropped(PageRange pages) override;
  bool map_watched(ByteRange& bytes, bool& plain) const;

  FaultDescriptor faults_;
  AliasArena& arena_;
  TouchAnswerer& answerer_;
  TouchThreads threads_;
};

}  // namespace sluice
