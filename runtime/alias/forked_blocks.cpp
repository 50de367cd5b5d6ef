#include "runtime/alias/forked_blocks.hpp"

#include <algorithm>
#include <utility>

#include "runtime/alias/eligibility.hpp"
#include "runtime/alias/held_pages.hpp"

namespace sluice {

/// What others have pinned, or the program has locked, is not to be mapped anew.
bool ForkedBlocks::is_held() const {
  const HeldMemory held = held_memory();
  return held.locked || parts_.others.have_pinned(held.pinned_kb);
}

void ForkedBlocks::make_view(const ProcessMapping& block, ForkPlan& plan) {
  if (!parts_.file.make_view(block)) {
    plan.in_use.push_back(block);
  } else if (block.file_offset == block.bytes.begin) {
    parts_.books.strike(PageRange::covering(block.bytes));
  }
}

void ForkedBlocks::prepare(bool hears_faults, const InUse& in_use) {
  if (!parts_.file.usable() || parts_.books.occupied().empty()) return;
  PageSet used = in_use.pages;
  parts_.books.sent().for_each([&](PageRange run) { used.add(run); });
  if (is_held() || in_use.all) used.add({0, (std::uintptr_t{1} << AliasFile::address_bits) / page_bytes});
  ForkPlan plan = plan_fork(parts_.file, parts_.maps, used);
  PageSet shown;
  for (const auto* const list : {&plan.views, &plan.present}) {
    for (const ProcessMapping& mapping : *list) shown.add(AliasFile::pages_of(mapping));
  }
  parts_.children.expect_child(shown);
  has_views_ = has_views_ || !shown.empty();
  for (const ProcessMapping& block : plan.views) make_view(block, plan);
  if (!plan.in_use.empty()) fork_.prepare(std::move(plan.in_use), hears_faults);
}

void ForkedBlocks::after_in_parent() {
  parts_.children.child_is_made();
  fork_.wait_for_child();
}

bool ForkedBlocks::bring_to_child() { return fork_.copy_everything(parts_.file, parts_.maps); }

void ForkedBlocks::after_in_child() {
  if (!parts_.file.usable()) return;
  bring_to_child();
  parts_.children.abandon();
  parts_.file.abandon();
}

void ForkedBlocks::make_views(ByteRange bytes) {
  const AliasFile& file = parts_.file;
  ProcessMapping mapping;
  for (ProcessMaps::Walk walk(parts_.maps, bytes.begin);
       file.usable() && walk.next(mapping) && mapping.bytes.begin < bytes.end;) {
    if (!file.backs(mapping) || !file.make_view(mapping)) continue;
    if (mapping.file_offset == mapping.bytes.begin) parts_.books.strike(PageRange::covering(mapping.bytes));
  }
}

ByteRange ForkedBlocks::next_to_return(std::uintptr_t from) const {
  const AliasFile& file = parts_.file;
  ProcessMapping mapping;
  for (ProcessMaps::Walk walk(parts_.maps, from); file.usable() && has_views_ && walk.next(mapping);) {
    const bool in_place = file.is_view(mapping) && mapping.file_offset == mapping.bytes.begin;
    if (!in_place || mapping.bytes.end <= from) continue;
    const PageRange segment = first_segment({std::max(mapping.bytes.begin, from) / page_bytes, mapping.bytes.end / page_bytes});
    if (!parts_.children.overlap(segment)) return segment.bytes();
  }
  return {};
}

}  // namespace sluice
