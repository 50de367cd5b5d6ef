// Windows whose one-sided communication Sluice carries (docs/onesided.md).
//
// Behind each there is a window of the host's, which gives the program's handle, attributes, name and error handler. Inside a
// node that of MPI_Win_allocate has shared memory, mapped by all members, and the words of their synchronisation lie elsewhere
// (window_words.hpp). Between nodes all goes by messages (runtime/far_window_calls.hpp).
//
// Who carries a window all members decide alike when it is made, and it stays so.
//
// Threading: look-ups are lock-free and may run beside the making and freeing of *other* windows.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "interpose/mpi/brought_memory.hpp"
#include "interpose/mpi/window_words.hpp"
#include "runtime/far_window_calls.hpp"
#include "runtime/window/shared_sync.hpp"

namespace sluice {

class Window final : private SharedSync::Host {
 public:
  /// What one member has exposed.
  struct Memory {
    std::byte* base = nullptr;  // here, if it is mapped here and all members are on one node; else there
    bool is_mapped = true;
    std::size_t bytes = 0;
    std::size_t unit = 1;  // of displacements
  };

  /// Which call has made it.
  struct Kind {
    enum Call { create, allocate, create_dynamic };
    Call call = create;          // also MPI_Win_allocate between nodes: its memory is the host's, but each has its own
    std::string asked_layout{};  // allocate: the program's hint of that name (SharedMemoryInfo)
  };
  /// Of a dynamic one: displacements are addresses.
  static Memory all_addresses(bool is_mapped) { return {.is_mapped = is_mapped, .bytes = PTRDIFF_MAX}; }

  /// `self`: this rank in it. `memories`: by rank. `handle` stays its caller's until `close`.
  Window(MPI_Win handle, std::unique_ptr<WindowWords> words, int self, Kind kind, std::vector<Memory> memories);
  /// Between nodes. `id`: of a context for it, alike on all members, which are those of the communicator.
  Window(MPI_Win handle, ContextId id, Communicator& communicator, Kind kind, std::vector<Memory> memories);
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  [[nodiscard]] MPI_Win handle() const { return handle_; }
  [[nodiscard]] WindowSync& sync() { return far_ ? static_cast<WindowSync&>(*far_) : *shared_; }
  /// Where all members are on one node.
  [[nodiscard]] SharedSync& shared_sync() { return *shared_; }
  /// Where they are not; else nullptr.
  [[nodiscard]] FarWindowCalls* far() { return far_.get(); }
  [[nodiscard]] const WindowEpochs& epochs() const { return far_ ? far_->epochs() : shared_->epochs(); }
  [[nodiscard]] bool has_rank(int rank) const { return static_cast<unsigned>(rank) < memories_.size(); }
  [[nodiscard]] const Memory& memory(int rank) const { return memories_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const WindowMember& member(std::size_t rank) const { return words_->members()[rank]; }
  [[nodiscard]] const Kind& kind() const { return kind_; }
  void attach(const void* base, std::size_t bytes);
  void detach(const void* base);
  /// Of this process's own memory.
  [[nodiscard]] bool exposes(const ByteRange& range) const { return kind_.call != Kind::create_dynamic || brought_.holds(range); }
  [[nodiscard]] bool may_access(int rank) const { return epochs().may_access(static_cast<std::size_t>(rank)); }
  /// Ranks in the window of a group's members; nothing if it is no group of such.
  [[nodiscard]] std::optional<WindowSync::Members> members_of(MPI_Group group) const;

  /// For an operation of MPI_Rput and its kin that is on its way, or done where `whole` is nullptr.
  [[nodiscard]] MPI_Request handle_for(Request* whole) const;

  /// Calls the error handler; returns `code` when that returns.
  int raise(int code, const char* function) const;

  /// Its handle has been freed.
  void close();

 private:
  void enter();
  bool wait(WindowWait& wait, std::uint64_t limit_ns) override;
  void wake(std::size_t member) override;

  const MPI_Win handle_;
  const std::unique_ptr<WindowWords> words_;
  MPI_Group group_{};
  Communicator* const communicator_ = nullptr;  // between nodes
  const std::vector<Memory> memories_;
  const Kind kind_;
  BroughtMemory brought_;
  std::optional<SharedSync> shared_;
  std::unique_ptr<FarWindowCalls> far_;
};

namespace detail {
extern std::atomic<std::size_t> carried_windows;
Window* find_window(MPI_Win window);
}  // namespace detail

/// nullptr when the host carries it, and for anything that is no window.
inline Window* carried_window(MPI_Win window) {
  if (detail::carried_windows.load(std::memory_order_relaxed) == 0) [[likely]]
    return nullptr;
  return detail::find_window(window);
}

// The calls that make and free windows, whoever carries them.
int allocate_window(MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* window);
int create_dynamic_window(MPI_Info info, MPI_Comm comm, MPI_Win* window);
int create_window(void* base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, MPI_Win* window);
int free_window(MPI_Win* window);
/// What the host's own Fortran calls read: Open MPI gives the address at which it keeps the flavor.
void call_it_allocated(MPI_Win window);

}  // namespace sluice
