// The pages of released operations: closes them, opens what is in place, and forgets them.
//
// Owns the guard. It decides nothing but whether pages can be closed at all: other threads, the kernel or an alternate stack may
// not be able to do without them, and sleepers on a lock there would die. What follows for the blocks (large pages, contents that
// must be kept) it tells the arena.
//
// Belongs to the engine lock.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/engine/job.hpp"
#include "runtime/engine/request.hpp"
#include "runtime/guard/page_guard.hpp"

namespace sluice {

class ReleasedPages {
 public:
  /// Nothing can be closed before `make`.
  explicit ReleasedPages(const Job& job) : job_(job) {}
  ~ReleasedPages();
  ReleasedPages(const ReleasedPages&) = delete;
  ReleasedPages& operator=(const ReleasedPages&) = delete;

  /// Also where nothing is released: whoever writes to a range that just becomes a block waits in the guard's handler. There is
  /// an arena that is usable.
  void make(FaultWaiter& waiter);
  /// Before the rest of the engine, which the guard's threads use.
  void end();
  /// nullptr where nothing can be closed.
  [[nodiscard]] PageGuard* guard() const { return guard_.get(); }
  /// Some operations may return early.
  [[nodiscard]] bool may_close() const;

  /// The memory that a receive has under guard: what its message fills, once that is known.
  [[nodiscard]] static ByteRange range_of(const Request& receive);
  /// False: nothing is closed.
  [[nodiscard]] bool close_receive(Request& receive);
  [[nodiscard]] bool close_send(Request& send);
  /// Opens the pages that are in place.
  void open(const Request& request);
  /// Opens all that is left.
  void finish(Request& request);

 private:
  [[nodiscard]] bool close(Request& request, ByteRange range, std::size_t completed, KeptOut kept_out);

  const Job& job_;
  std::unique_ptr<PageGuard> guard_;
};

}  // namespace sluice
