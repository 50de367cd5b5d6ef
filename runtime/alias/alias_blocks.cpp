#include "runtime/alias/alias_blocks.hpp"

#include "runtime/alias/memory_moves.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/trace/resource_events.hpp"

namespace sluice {

bool AliasBlocks::use(ByteRange buffer, Use how, OperationTime time, Purpose purpose) {
  if (!arena_) return false;
  if (arena_->is_live(buffer, time)) {
    if (how == Use::by_adapter) history_.came_back(buffer);
    return true;
  }
  // An adapter or a peer uses it already: of messages that overlap in time, only the first counts, as no other can have the
  // block.
  const PageRange pages = PageRange::covering(buffer);
  if (others_.pins(pages) || others_.are_written_by_peers(pages)) return false;
  if (!history_.use(buffer, how)) return false;
  if (!others_.holds_writers_up() || others_.may_reach_memory()) {
    history_.earn(buffer);  // with the next use, then
    return false;
  }
  others_.hold_signals();
  return make(buffer, purpose);
}

/// Some page is under guard and not in place any more.
bool AliasBlocks::meets_other_data(ByteRange bytes) const {
  if (!others_.guards(bytes)) return false;
  const PageRange pages = PageRange::covering(bytes);
  for (std::uintptr_t page = pages.begin; page < pages.end; ++page) {
    const ByteRange one = PageRange{page, page + 1}.bytes();
    if (others_.guards(one) && arena_->first_in_place(one).empty()) return true;
  }
  return false;
}

bool AliasBlocks::make(ByteRange bytes, Purpose purpose) {
  if (have_ended_ || !others_.holds_writers_up()) return false;
  const MemoryMoves moving;
  // The kernel holds the pages that a peer writes to: what came after the copy would stay in those that are replaced.
  const bool is_reached = others_.may_reach_memory() || others_.are_written_by_peers(PageRange::covering(bytes));
  if (is_reached || meets_other_data(bytes)) return false;
  if (trace::on()) [[unlikely]]
    others_.tell_trace();
  const std::uint64_t started = trace::on() ? now_ns() : 0;
  const Ineligible result = arena_->migrate(bytes, purpose);
  if (result == Ineligible::address_limit) are_to_end_ = true;
  if (started != 0) [[unlikely]]
    trace::migrated(bytes, static_cast<std::uint16_t>(result), now_ns() - started);
  if (sweeper_) sweeper_->rouse();
  return result == Ineligible::none;
}

std::ptrdiff_t AliasBlocks::distance(ByteRange block) const {
  return arena_->alias(block.begin) - reinterpret_cast<std::byte*>(block.begin);
}

void AliasBlocks::end() {
  are_to_end_ = false;
  have_ended_ = !arena_ || arena_->leave_address_space();
}

bool AliasBlocks::return_segment(ByteRange& last) {
  last = arena_->forks().next_to_return(last.end);
  if (last.empty() || !others_.holds_writers_up()) return false;
  make(last, Purpose::posted);
  return true;
}

}  // namespace sluice
