// Synchronisation of windows that Sluice carries. Arguments that are not in order go to the host, which raises the error.

#include <atomic>

#include "interpose/mpi/entry.hpp"
#include "interpose/mpi/window_calls.hpp"

namespace sluice::window_calls {
namespace {

int answer(const Window& window, bool goes, const char* function) {
  if (goes) [[likely]]
    return MPI_SUCCESS;
  return window.raise(MPI_ERR_RMA_SYNC, function);
}

/// What this thread has stored is seen before what it does from now on, and the other way about.
void order_memory() { std::atomic_thread_fence(std::memory_order_seq_cst); }

using Flushed = WindowSync::Flushed;

int flush(Window& window, int rank, Flushed where, const char* function, int (*on_host)(int, MPI_Win)) {
  if (!window.has_rank(rank)) return on_host(rank, window.handle());
  order_memory();
  return answer(window, window.sync().flush(static_cast<std::size_t>(rank), where), function);
}

int flush_all(Window& window, Flushed where, const char* function) {
  order_memory();
  return answer(window, window.sync().flush_all(where), function);
}

}  // namespace

int Win_fence(Window& window, int assertion) {
  return answer(window, window.sync().fence((assertion & MPI_MODE_NOSUCCEED) == 0), "MPI_Win_fence");
}

int Win_post(Window& window, MPI_Group group, int assertion) {
  auto origins = window.members_of(group);
  if (!origins) return host().Win_post(group, assertion, window.handle());
  return answer(window, window.sync().post(std::move(*origins)), "MPI_Win_post");
}

int Win_start(Window& window, MPI_Group group, int assertion) {
  auto targets = window.members_of(group);
  if (!targets) return host().Win_start(group, assertion, window.handle());
  return answer(window, window.sync().start(std::move(*targets)), "MPI_Win_start");
}

int Win_complete(Window& window) { return answer(window, window.sync().complete(), "MPI_Win_complete"); }
int Win_wait(Window& window) { return answer(window, window.sync().wait(), "MPI_Win_wait"); }

int Win_test(Window& window, int* flag) {
  const auto over = window.sync().test();
  if (over) *flag = *over ? 1 : 0;
  if (over && !*over) engine().progress();
  return answer(window, over.has_value(), "MPI_Win_test");
}

int Win_lock(Window& window, int type, int rank, int assertion) {
  const bool is_exclusive = type == MPI_LOCK_EXCLUSIVE;
  if (!window.has_rank(rank) || (!is_exclusive && type != MPI_LOCK_SHARED))
    return host().Win_lock(type, rank, assertion, window.handle());
  const WindowEpochs::Lock lock{is_exclusive ? LockWord::Use::exclusive : LockWord::Use::shared,
                                (assertion & MPI_MODE_NOCHECK) == 0};
  return answer(window, window.sync().lock(static_cast<std::size_t>(rank), lock), "MPI_Win_lock");
}

int Win_unlock(Window& window, int rank) {
  if (!window.has_rank(rank)) return host().Win_unlock(rank, window.handle());
  return answer(window, window.sync().unlock(static_cast<std::size_t>(rank)), "MPI_Win_unlock");
}

int Win_lock_all(Window& window, int assertion) {
  return answer(window, window.sync().lock_all((assertion & MPI_MODE_NOCHECK) == 0), "MPI_Win_lock_all");
}

int Win_unlock_all(Window& window) { return answer(window, window.sync().unlock_all(), "MPI_Win_unlock_all"); }

int Win_flush(Window& window, int rank) { return flush(window, rank, Flushed::at_target, "MPI_Win_flush", host().Win_flush); }
int Win_flush_local(Window& window, int rank) {
  return flush(window, rank, Flushed::at_origin, "MPI_Win_flush_local", host().Win_flush_local);
}
int Win_flush_all(Window& window) { return flush_all(window, Flushed::at_target, "MPI_Win_flush_all"); }
int Win_flush_local_all(Window& window) { return flush_all(window, Flushed::at_origin, "MPI_Win_flush_local_all"); }

int Win_sync(Window&) {
  order_memory();
  return MPI_SUCCESS;
}

}  // namespace sluice::window_calls
