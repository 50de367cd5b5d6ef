#include "runtime/alias/arena.hpp"

#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/alias/books.hpp"
#include "runtime/alias/children_views.hpp"
#include "runtime/alias/eligibility.hpp"
#include "runtime/alias/file.hpp"
#include "runtime/alias/forked_blocks.hpp"
#include "runtime/alias/gate.hpp"
#include "runtime/alias/held_pages.hpp"
#include "runtime/alias/huge_pages.hpp"
#include "runtime/alias/kept_memory.hpp"
#include "runtime/alias/migration.hpp"
#include "runtime/alias/own_pins.hpp"
#include "runtime/process/mapping_budget.hpp"
#include "runtime/process/process_maps.hpp"
#include "runtime/process/thread_storage.hpp"

namespace sluice {
namespace {

void* as_pointer(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

/// The program's static data or the heap behind it, which grows and shrinks by brk and never by mremap.
bool is_program_data(ByteRange bytes) {
  return bytes.begin >= getauxval(AT_PHDR) && bytes.end <= reinterpret_cast<std::uintptr_t>(sbrk(0));
}

}  // namespace

const char* describe(Ineligible reason) {
  switch (reason) {
    case Ineligible::none:
      return "none";
    case Ineligible::no_memory_file:
      return "no memory file";
    case Ineligible::not_private:
      return "not ordinary private memory";
    case Ineligible::stack:
      return "stack or thread-local storage";
    case Ineligible::locked:
      return "locked memory";
    case Ineligible::moved:
      return "moved by mremap";
    case Ineligible::registered:
      return "in use by a device";
    case Ineligible::window_border:
      return "crosses a window border";
    case Ineligible::map_budget:
      return "too many mappings";
    case Ineligible::child:
      return "shown by a child of fork";
    case Ineligible::untouched:
      return "sent, and mostly never written to";
    case Ineligible::address_limit:
      return "limited address space";
    case Ineligible::out_of_memory:
      return "out of memory";
    case Ineligible::failed:
      return "system call failed";
    case Ineligible::kept:
      return "held by the kernel, a driver or the program";
    case Ineligible::huge:
      return "in huge pages";
  }
  return "unknown";
}

struct AliasArena::State {
  State(std::size_t max_mappings, std::string refusal, bool keeps_huge_pages) : file(std::move(refusal)), budget(max_mappings) {
    if (keeps_huge_pages) huge.emplace(pages_held);
  }

  AliasFile file;
  ProcessMaps maps;
  HeldPages pages_held;
  std::optional<HugePages> huge;
  MappingProbe probe;
  ChildrenViews children;
  MappingBudget budget;
  own_pins::Others others{held_memory().pinned_kb};
  AliasBooks books{file, maps, children};
  AliasMigration migration{file, maps, pages_held};
  ForkedBlocks forks{{.file = file, .maps = maps, .books = books, .children = children, .others = others}};
  PageSet holes;  // pages of blocks that held nothing, or were discarded; some may be there again
  std::size_t migrations = 0;
  std::size_t bytes_migrated = 0;
  std::size_t questions = 0;

  Ineligible move_in(PageRange part, Purpose purpose);
  AliasMigration::Untouched treatment_of_untouched(PageRange segment, Purpose purpose);
  [[nodiscard]] bool is_mostly_untouched(const std::vector<PageRange>& parts) const;
  bool is_shown_by_child(const std::vector<PageRange>& parts);
  bool set_seam(PageRange pages);
  bool has_no_holes(PageRange pages);
  [[nodiscard]] bool is_in_use_by_device(const std::vector<PageRange>& parts, HeldMemory held);
  void move_out_unless_lent(const ProcessMapping& mapping);
};

AliasArena::AliasArena(std::size_t map_budget, std::string refusal, bool keeps_huge_pages)
    : state_(std::make_unique<State>(map_budget, std::move(refusal), keeps_huge_pages)) {
  main_thread_storage();
}

AliasArena::~AliasArena() { give_back(); }

void AliasArena::give_back() {
  ProcessMapping mapping;
  for (ProcessMaps::Walk walk(state_->maps, 0); usable() && walk.next(mapping);) {
    if (state_->file.backs(mapping) && !state_->file.is_window(mapping)) state_->move_out_unless_lent(mapping);
  }
}

/// Whoever goes on using pages of a block keeps them, past the end of the arena.
void AliasArena::State::move_out_unless_lent(const ProcessMapping& mapping) {
  if (!kept_memory::is_lent(mapping.bytes)) {
    migration.move_out(mapping.bytes, mapping.file_offset);
    return;
  }
  for (std::uintptr_t at = mapping.bytes.begin; at < mapping.bytes.end; at += page_bytes) {
    const ByteRange page{at, at + page_bytes};
    if (!kept_memory::is_lent(page)) migration.move_out(page, mapping.file_offset + (at - mapping.bytes.begin));
  }
}

bool AliasArena::usable() const { return state_->file.usable(); }
const std::string& AliasArena::refusal() const { return state_->file.refusal(); }
int AliasArena::descriptor() const { return state_->file.descriptor(); }
std::byte* AliasArena::alias(std::uintptr_t application_address) const {
  return state_->file.windows().alias(application_address);
}
bool AliasArena::wait_if_migrating(std::uintptr_t address) { return alias_gate::wait_if_closed(address); }
ByteRange AliasArena::first_in_place(ByteRange bytes) const { return state_->books.first_in_place(bytes); }

bool AliasArena::holds_some_of(ByteRange bytes) const {
  return state_->books.blocks().overlaps(PageRange::covering(bytes)) && !first_in_place(bytes).empty();
}

ByteRange AliasArena::first_mapping_in_place(ByteRange bytes) const { return state_->books.first_mapping_in_place(bytes); }
void AliasArena::note_send(ByteRange bytes, bool pending) { state_->books.note_send(PageRange::covering(bytes), pending); }

void AliasArena::watch(BlockWatcher* watcher) { state_->file.watch(watcher); }

void AliasArena::watch_registrations(RegistrationWatcher* watcher) { state_->file.watch_registrations(watcher); }

bool AliasArena::has_budget(std::size_t more_mappings) const {
  return state_->budget.allows(state_->books.mappings_added() + more_mappings);
}

bool AliasArena::is_live(ByteRange bytes, OperationTime time) {
  AliasBooks& books = state_->books;
  const PageRange pages = PageRange::covering(bytes);
  if (pages.empty() || !usable() || !books.blocks().contains(pages)) return false;
  ++state_->questions;
  if (books.all_usable(pages, time)) return true;
  books.drop_dead(pages);
  return false;
}

void AliasArena::note_release(ByteRange bytes) {
  if (!usable()) return;
  state_->budget.refresh_if_due(state_->maps, state_->books.mappings_added());
  // Large pages have no holes.
  if (state_->has_no_holes(PageRange::covering(bytes))) state_->books.note_release(PageRange::covering(bytes));
}

/// Nor has the extent that they begin or end in.
bool AliasArena::State::has_no_holes(PageRange pages) {
  const PageRange around{pages.begin / segment_pages * segment_pages,
                         (pages.end + segment_pages - 1) / segment_pages * segment_pages};
  if (!holes.overlaps(around)) return true;
  PageSet filled;
  bool any_left = false;
  holes.for_each_inside(around, [&](PageRange run) {
    any_left = any_left || !file.is_without_holes(run.bytes());
    if (!any_left) filled.add(run);
  });
  filled.for_each([&](PageRange run) { holes.remove(run); });
  return !any_left;
}

// --- migration --------------------------------------------------------------------------------------------------------

Ineligible AliasArena::migrate(ByteRange bytes, Purpose purpose) {
  State& state = *state_;
  const PageRange pages = PageRange::covering(bytes);
  if (!usable()) return Ineligible::no_memory_file;
  if (!AliasWindows::fit(pages.bytes())) return Ineligible::window_border;
  state.books.sweep_if_due();

  std::vector<PageRange> missing;
  const Surveyors ask{state.file, state.maps, state.books.sent(), state.probe, state.huge ? &*state.huge : nullptr};
  const Ineligible reason = survey_range(ask, pages, missing);
  if (reason != Ineligible::none) return reason;
  if (!missing.empty()) {
    const HeldMemory held = held_memory();
    if (held.locked) return Ineligible::locked;
    if (!state.file.intact()) return Ineligible::no_memory_file;
    if (state.is_in_use_by_device(missing, held)) return Ineligible::registered;
    if (state.is_shown_by_child(missing)) return Ineligible::child;
    state.budget.refresh_if_due(state.maps, state.books.mappings_added());
    if (!has_budget(4 * missing.size())) return Ineligible::map_budget;
    if (window_span::address_space_is_limited()) return Ineligible::address_limit;
    if (!state.file.map_window(pages.bytes())) return Ineligible::out_of_memory;
  }
  if (purpose == Purpose::sent && state.is_mostly_untouched(missing)) return Ineligible::untouched;
  for (const PageRange part : missing) {
    if (state.books.occupied().overlaps(part) && is_shown_elsewhere(state.file, state.maps, part)) return Ineligible::moved;
    const Ineligible failure = state.move_in(part, purpose);
    if (failure != Ineligible::none) return failure;
  }
  state.books.enter(pages, false);  // some may be in place without being in the books
  return Ineligible::none;
}

/// Who reads it as a block, a peer or Sluice, would make pages of what costs nothing where it is.
bool AliasArena::State::is_mostly_untouched(const std::vector<PageRange>& parts) const {
  constexpr std::size_t tolerated = 16;  // one in so many: memory that all blocks may cost more
  std::size_t pages = 0;
  std::size_t untouched = 0;
  for (const PageRange part : parts) {
    pages += part.size();
    untouched += migration.count_untouched(part);
  }
  return untouched * tolerated > pages;
}

bool AliasArena::State::is_shown_by_child(const std::vector<PageRange>& parts) {
  if (children.any()) children.look();
  return std::any_of(parts.begin(), parts.end(), [&](PageRange part) { return children.overlap(part); });
}

/// It would go on writing to the pages that the file's have replaced. What was pinned since MPI_Init, and not by Sluice, may be
/// these parts.
bool AliasArena::State::is_in_use_by_device(const std::vector<PageRange>& parts, HeldMemory held) {
  if (others.have_pinned(held.pinned_kb)) return true;
  const RegistrationWatcher* const watcher = file.registrations();
  return watcher && std::any_of(parts.begin(), parts.end(), [&](PageRange part) { return watcher->pins(part); });
}

/// What an earlier block has left in the file must not show in the holes of this one. Where there will be none, its pages get new
/// contents instead, as they may be registered.
AliasMigration::Untouched AliasArena::State::treatment_of_untouched(PageRange segment, Purpose purpose) {
  using Untouched = AliasMigration::Untouched;
  if (books.occupied().overlaps(segment)) {
    const bool shows_it = migration.shows_file(segment);
    if (shows_it || purpose == Purpose::filled || migration.count_untouched(segment) == 0) return Untouched::is_copied;
    file.punch(segment.bytes());
  }
  // A page that is made later has no page-table entry, which only the guard's threads could give it.
  return purpose == Purpose::filled || file.is_watched() ? Untouched::is_made : Untouched::stays;
}

Ineligible AliasArena::State::move_in(PageRange part, Purpose purpose) {
  for (PageRange segment = first_segment(part); !segment.empty(); segment = first_segment({segment.end, part.end})) {
    bool seam = false;
    const auto untouched = treatment_of_untouched(segment, purpose);
    const auto moved = migration.move_in(segment, untouched, [&] { seam = segment.begin == part.begin && set_seam(segment); });
    if (moved.outcome != Ineligible::none) return moved.outcome;
    books.enter(segment, seam);
    for_each_run(segment, ~moved.held, [&](PageRange hole) { return holes.add(hole), true; });
    bytes_migrated += segment.bytes().size();
  }
  ++migrations;
  return Ineligible::none;
}

/// The first page of a migrated range becomes a mapping of its own, by an advice that means nothing for memory files. mremap
/// cannot grow a range of two mappings, so realloc of a buffer that is a block copies it instead. Without that the grown
/// mapping would show the next pages of the file, which belong to whatever block lies behind the buffer.
///
/// Each seam is one mapping more for `is_live` to ask for. One in each allocation is enough: a range that goes on where a block
/// of the same one ends has none. 256 messages of 64 KB out of one allocation, µs for each: 4.0 with a seam in all, and 3.3.
bool AliasArena::State::set_seam(PageRange pages) {
  if (is_program_data(pages.bytes())) return false;
  const PageRange before{pages.begin - 1, pages.begin};
  const bool goes_on = books.blocks().contains(before) && !books.first_in_place(before.bytes()).empty();
  if (goes_on && !may_begin_allocation({file.windows().alias(pages.bytes().begin), page_bytes})) return false;
  madvise(as_pointer(pages.bytes().begin), page_bytes, MADV_RANDOM);
  return true;
}

// --- the way back -----------------------------------------------------------------------------------------------------

void AliasArena::discard(ByteRange bytes) {
  State& state = *state_;
  const PageRange inside{(bytes.begin + page_bytes - 1) / page_bytes, bytes.end / page_bytes};
  if (inside.empty() || !state.books.blocks().overlaps(inside)) return;
  for (ByteRange rest = inside.bytes(); !rest.empty();) {
    const ByteRange live = state.books.first_in_place(rest);
    if (live.empty()) return;
    state.file.punch(live);
    state.holes.add(PageRange::covering(live));
    rest.begin = live.end;
  }
}

bool AliasArena::fill_holes(ByteRange bytes) {
  const PageRange pages = PageRange::covering(bytes);
  if (state_->holes.empty() || !state_->holes.overlaps(pages)) return true;
  if (!state_->file.allocate(pages.bytes())) return false;
  state_->holes.remove(pages);
  return true;
}

bool AliasArena::privatize(ByteRange bytes) {
  State& state = *state_;
  const PageRange pages = PageRange::covering(bytes);
  for (ByteRange rest = pages.bytes(); !rest.empty();) {
    const ByteRange live = state.books.first_in_place(rest);
    if (live.empty()) break;
    rest.begin = live.end;
    if (!state.migration.move_out(live, live.begin)) return false;
    state.books.strike(PageRange::covering(live));
  }
  return true;
}

bool AliasArena::leave_address_space() {
  State& state = *state_;
  if (!usable() || !state.file.windows().any()) return true;
  PageSet all = state.books.blocks();
  bool left = true;
  all.for_each([&](PageRange run) { left = privatize(run.bytes()) && left; });
  state.books.sweep();
  left = left && state.books.blocks().empty();
  if (left) state.file.unmap_windows();
  return left;
}

std::size_t AliasArena::look() { return usable() ? state_->books.look() : 0; }

ForkedBlocks& AliasArena::forks() { return state_->forks; }

void AliasArena::retire() { state_->file.unmap_windows(); }

AliasArena::Statistics AliasArena::statistics() const {
  const AliasBooks& books = state_->books;
  return {state_->migrations,  state_->bytes_migrated, books.blocks().intervals(),
          books.dead_blocks(), state_->questions,      books.moved_blocks()};
}

}  // namespace sluice
