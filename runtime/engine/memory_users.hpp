// What is done with the program's memory besides copying messages: which of its pages are under guard, which an adapter or the
// host may reach, and what follows for who replaces pages or has the kernel read them.
//
// Owns the list of pages that peers write to; the guard is that of the releases, which make it later and end it before.
//
// Belongs to the engine lock.
#pragma once

#include <algorithm>
#include <vector>

#include "runtime/alias/alias_blocks.hpp"
#include "runtime/engine/job.hpp"
#include "runtime/engine/match_trace.hpp"
#include "runtime/guard/held_signals.hpp"
#include "runtime/guard/page_guard.hpp"
#include "runtime/registration/job_registrations.hpp"

namespace sluice {

class MemoryUsers final : public AliasBlocks::Others {
 public:
  MemoryUsers(const Job& job, const JobRegistrations& registrations, MatchTrace& matches)
      : job_(job), registrations_(registrations), matches_(matches) {}

  /// nullptr: pages cannot be closed (any more).
  void set_guard(const PageGuard* guard) { guard_ = guard; }
  [[nodiscard]] const PageGuard* guard() const { return guard_; }

  /// Some receives may return early.
  [[nodiscard]] bool may_be_closed() const { return guard_ && job_.config.release != ReleaseMode::off && job_.arena->usable(); }
  /// A cross-memory copy that meets a closed page, here or in the peer, would wait for it: for a message that may come after the
  /// one that is copied. Without blocks no page is ever closed.
  [[nodiscard]] bool kernel_waits(const AliasBlocks& blocks) const {
    return guard_ && !blocks.have_ended() && guard_->kernel_waits();
  }

  // --- memory that peers write to by its address, for as long as they may. Calls come in pairs.
  void peers_may_write(ByteRange bytes) { written_by_peers_.push_back(PageRange::covering(bytes)); }
  void peers_have_written(ByteRange bytes) {
    const std::uintptr_t begin = PageRange::covering(bytes).begin;
    const std::uintptr_t end = PageRange::covering(bytes).end;
    const auto found = std::find_if(written_by_peers_.begin(), written_by_peers_.end(),
                                    [&](PageRange written) { return written.begin == begin && written.end == end; });
    *found = written_by_peers_.back();
    written_by_peers_.pop_back();
  }

  // --- as AliasBlocks::Others says
  [[nodiscard]] bool holds_writers_up() const override { return !guard_ || PageGuard::holds_writers_up(); }
  [[nodiscard]] bool guards(ByteRange bytes) const override { return guard_ && guard_->covers(bytes); }
  [[nodiscard]] bool pins(PageRange pages) const override {
    return registrations_.cache() && registrations_.cache()->pins(pages);
  }
  [[nodiscard]] bool are_written_by_peers(PageRange pages) const override {
    return std::any_of(written_by_peers_.begin(), written_by_peers_.end(),
                       [&](PageRange written) { return written.overlaps(pages); });
  }
  [[nodiscard]] bool may_reach_memory() const override { return job_.host.may_reach_memory && job_.host.may_reach_memory(); }
  void hold_signals() override { held_signals::hold(); }
  void tell_trace() override { matches_.tell(); }

 private:
  const Job& job_;
  const JobRegistrations& registrations_;
  MatchTrace& matches_;
  const PageGuard* guard_ = nullptr;
  std::vector<PageRange> written_by_peers_;
};

}  // namespace sluice
