#include "interpose/session/remaining_memory.hpp"

#include <atomic>
#include <mutex>
#include <system_error>
#include <utility>

#include "runtime/alias/arena.hpp"
#include "runtime/alias/forked_blocks.hpp"
#include "runtime/alias/sweeper.hpp"
#include "runtime/guard/signal.hpp"

namespace sluice::remaining_memory {
namespace {

constinit std::mutex mutex;
std::atomic<AliasArena*> arena{nullptr};  // written with the mutex; never destroyed, as blocks may be in use until the end
Sweeper* sweeper = nullptr;
/// Between the handlers: MPI_Finalize may come in another thread meanwhile.
constinit thread_local bool this_thread_forks = false;

std::size_t look() {
  const std::lock_guard lock(mutex);
  return arena.load(std::memory_order_relaxed)->look();
}

void begin_to_look() {
  const sigset_t before = fault_signal::block_for_own_threads();
  try {
    sweeper = new Sweeper(look);
  } catch (const std::system_error&) {
    // What is freed from now on is given back at the end of the process.
  }
  fault_signal::restore_mask(before);
}

template <typename Use>
void with_arena(Use&& use) {
  const std::lock_guard lock(mutex);
  if (AliasArena* const kept = arena.load(std::memory_order_relaxed)) use(*kept);
}

}  // namespace

void keep(std::unique_ptr<AliasArena> last) {
  last->retire();
  if (last->look() == 0) return;
  arena.store(last.release(), std::memory_order_release);
  begin_to_look();
}

bool any() { return arena.load(std::memory_order_acquire) != nullptr; }

void discard(ByteRange bytes) {
  with_arena([&](AliasArena& kept) { kept.discard(bytes); });
}

/// Nothing holds writers up any more, so nothing is copied: the mapping changes at once.
void make_private(ByteRange bytes) {
  with_arena([&](AliasArena& kept) { kept.forks().make_views(bytes); });
}

void before_fork() {
  if (!any()) return;
  mutex.lock();
  this_thread_forks = true;
  arena.load(std::memory_order_relaxed)->forks().prepare(false);
}

void in_parent_of_fork() {
  if (!std::exchange(this_thread_forks, false)) return;
  arena.load(std::memory_order_relaxed)->forks().after_in_parent();
  mutex.unlock();
}

void in_child_of_fork() {
  if (!std::exchange(this_thread_forks, false)) return;
  AliasArena* const parents = arena.exchange(nullptr, std::memory_order_relaxed);
  parents->forks().after_in_child();
  mutex.unlock();
}

}  // namespace sluice::remaining_memory
