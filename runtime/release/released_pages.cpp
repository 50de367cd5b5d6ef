#include "runtime/release/released_pages.hpp"

#include "runtime/alias/arena.hpp"
#include "runtime/alias/kept_memory.hpp"
#include "runtime/base/fatal.hpp"
#include "runtime/datatype/layout.hpp"
#include "runtime/guard/choice.hpp"
#include "runtime/guard/held_signals.hpp"
#include "runtime/guard/user_memory.hpp"
#include "runtime/process/alternate_stacks.hpp"
#include "runtime/process/lock_waiters.hpp"

namespace sluice {
namespace {

/// So much of the operation's range, from its start, is in place.
std::size_t completed_prefix(const Request& request) {
  if (!request.has_gaps()) return request.offset;
  if (!request.layout_buffer.layout->is_ascending()) return 0;
  LayoutCursor cursor(request.layout_buffer);
  cursor.seek(request.offset);
  return cursor.address() - request.range().begin;
}

/// glibc keeps the arena of a thread in the first page of its heap. Whoever allocates from it, or frees into it, would wait for
/// the message, and who goes to sleep on its lock would die of EFAULT.
bool begins_beside_an_arena(ByteRange range) {
  constexpr std::uintptr_t heap_alignment = std::uintptr_t{64} << 20;  // HEAP_MAX_SIZE
  constexpr std::uintptr_t arena_bytes = 2048;                         // at least
  const std::uintptr_t offset = range.begin % heap_alignment;
  return offset >= arena_bytes && offset < page_bytes;
}

/// Other threads, and the kernel, can do without these pages.
bool are_dispensable(ByteRange range) {
  return !alternate_stacks::share_pages_with(range) && !begins_beside_an_arena(range) && !kept_memory::overlaps(range);
}

}  // namespace

ReleasedPages::~ReleasedPages() { end(); }

void ReleasedPages::end() {
  if (!guard_) return;
  register_user_memory(nullptr, nullptr);
  guard_.reset();
}

void ReleasedPages::make(FaultWaiter& waiter) {
  if (job_.config.release == ReleaseMode::off) {
    guard_ = std::make_unique<PageGuard>(waiter, job_.arena);
    return;
  }
  const GuardChoice choice = choose_guard(job_.config.guard);
  if (!choice.warning.empty() && job_.self == Peer{0}) report("warning: %s", choice.warning.c_str());
  guard_ = std::make_unique<PageGuard>(waiter, job_.arena, choice.engine);
  register_user_memory(guard_.get(), job_.arena);
}

bool ReleasedPages::may_close() const { return guard_ && job_.config.release != ReleaseMode::off && job_.arena->usable(); }

ByteRange ReleasedPages::range_of(const Request& receive) {
  return receive.matched ? ByteRange::of(receive.data, receive.limit) : receive.range();
}

/// The arena is told before: where blocks are to get large pages, they get them before they are closed.
bool ReleasedPages::close(Request& request, ByteRange range, std::size_t completed, KeptOut kept_out) {
  job_.arena->note_release(range);
  const lock_waiters::Closing closing({range.begin + completed, range.end});
  if (!closing.permitted()) return false;
  held_signals::hold();
  request.guarded = guard_->protect(range, completed, kept_out, request.traced);
  return request.guarded != nullptr;
}

bool ReleasedPages::close_receive(Request& receive) {
  const ByteRange range = range_of(receive);
  if (!are_dispensable(range)) return false;
  if (receive.progress_slot != Transport::no_slot) receive.offset = job_.transport->progress(receive.progress_slot);
  return close(receive, range, receive.offset, KeptOut::everybody);
}

bool ReleasedPages::close_send(Request& send) {
  const ByteRange range = send.range();
  if (!are_dispensable(range) || !close(send, range, 0, KeptOut::writers)) return false;
  job_.arena->note_send(range, true);
  send.alias = job_.arena->alias(range.begin);
  return true;
}

void ReleasedPages::open(const Request& request) {
  if (request.offset != 0) guard_->open(*request.guarded, completed_prefix(request));
}

void ReleasedPages::finish(Request& request) {
  guard_->finish(request.guarded);
  request.guarded = nullptr;
  if (request.is_send()) job_.arena->note_send(request.range(), false);
}

}  // namespace sluice
