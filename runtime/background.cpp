#include "runtime/background.hpp"

#include <csignal>

#include "runtime/base/fatal.hpp"
#include "runtime/guard/page_guard.hpp"
#include "runtime/guard/signal.hpp"

namespace sluice {

Background::Background(const Parts& parts) : parts_(parts) {
  const Job& job = parts_.progress.job();
  AliasBlocks& blocks = parts_.blocks;
  set_process_name(static_cast<int>(job.self));
  if (!job.concurrent_calls) parts_.progress.lock().prefer_this_thread();
  if (!job.transport) return;
  if (blocks.usable()) {
    parts_.releases.begin(parts_.page_waits);
    parts_.memory_users.set_guard(parts_.releases.guard());
  }
  // The application's signals are none of the helper thread's business, but a fault of its own must be reported.
  const sigset_t before = fault_signal::block_for_own_threads();
  parts_.helper_thread.start();
  if (job.arena_is_its_own && blocks.usable())
    blocks.start_sweeper([&blocks, &lock = parts_.progress.lock()] { return blocks.sweep(lock); });
  fault_signal::restore_mask(before);
  parts_.progress.begin();
}

Background::~Background() {
  parts_.blocks.stop_sweeper();
  if (!parts_.helper_thread.runs()) return;
  parts_.helper_thread.stop();
  parts_.memory_users.set_guard(nullptr);
  parts_.releases.end();
}

void Background::abandon() {
  if (PageGuard* guard = parts_.releases.guard()) guard->abandon();
  parts_.helper_thread.abandon();
  parts_.blocks.abandon_sweeper();
}

}  // namespace sluice
