// MPI_Win_allocate and MPI_Win_create: who carries the window, and what its members tell each other.

#include <algorithm>
#include <climits>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "interpose/device/buffers.hpp"
#include "interpose/mpi/entry.hpp"
#include "interpose/mpi/window.hpp"

namespace sluice {
namespace {

/// The same on all members, as adoption is. One that is alone has nobody to share with.
bool may_be_carried(const Communicator* communicator) {
  if (!communicator || communicator->is_alone() || !session().carries_one_sided()) return false;
  const auto members = Engine::Windows(engine()).members(*communicator->context, static_cast<std::size_t>(communicator->size));
  return std::all_of(members.begin(), members.end(), [](const WindowMember& member) {
    const int rank = static_cast<int>(member.peer);
    return rank == session().world_rank() || session().transports().shares_memory_with(rank);
  });
}

/// The program's hints, and each rank's memory on pages of its own.
class SharedMemoryInfo {
 public:
  explicit SharedMemoryInfo(MPI_Info hints) {
    if (hints && hints != predefined().info_null) {
      host().Info_dup(hints, &info_);
    } else {
      host().Info_create(&info_);
    }
    host().Info_set(info_, "alloc_shared_noncontig", "true");
  }
  ~SharedMemoryInfo() { host().Info_free(&info_); }
  SharedMemoryInfo(const SharedMemoryInfo&) = delete;
  SharedMemoryInfo& operator=(const SharedMemoryInfo&) = delete;

  [[nodiscard]] MPI_Info get() const { return info_; }

 private:
  MPI_Info info_{};
};

/// What each member says of its memory.
struct Exposed {
  std::uint64_t bytes = 0;
  std::uint64_t unit = 1;
  std::uint64_t address = 0;    // at that member
  std::uint64_t is_within = 1;  // the processor reaches it, and this member reaches all others
};
static_assert(std::is_trivially_copyable_v<Exposed>);

/// Collective.
std::vector<Exposed> gather(const Communicator& communicator, Exposed own) {
  std::vector<Exposed> all(static_cast<std::size_t>(communicator.size));
  const MPI_Datatype byte = predefined().byte;
  host().Allgather(&own, sizeof own, byte, all.data(), sizeof own, byte, communicator.handle);
  return all;
}

std::byte* shared_base(MPI_Win window, int rank) {
  MPI_Aint bytes = 0;
  int unit = 0;
  void* base = nullptr;
  host().Win_shared_query(window, rank, &bytes, &unit, &base);
  return static_cast<std::byte*>(base);
}

std::vector<WindowMember> members_of(const Communicator& communicator) {
  return Engine::Windows(engine()).members(*communicator.context, static_cast<std::size_t>(communicator.size));
}

/// Their memories are still to be told.
Window::Members members_with(const Communicator& communicator, MPI_Win words) {
  Window::Members members;
  members.self = communicator.rank;
  members.wakeable = members_of(communicator);
  for (int rank = 0; rank < communicator.size; ++rank) members.controls.emplace_back(shared_base(words, rank));
  return members;
}

/// The large form is called where it must be only.
bool needs_large_form(MPI_Aint unit) { return unit > INT_MAX; }

int host_window(MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* window) {
  if (needs_large_form(unit)) return host_activity().begun(host().Win_allocate_c(size, unit, info, comm, base, window));
  return host_activity().begun(host().Win_allocate(size, static_cast<int>(unit), info, comm, base, window));
}

int shared_window(MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* window) {
  if (needs_large_form(unit)) return host().Win_allocate_shared_c(size, unit, info, comm, base, window);
  return host().Win_allocate_shared(size, static_cast<int>(unit), info, comm, base, window);
}

/// Collective: the words of all members, which nobody uses before the next collective call.
int make_words(const Communicator& communicator, const SharedMemoryInfo& shared, MPI_Win* words) {
  const auto bytes = static_cast<MPI_Aint>(WindowControl::bytes(static_cast<std::size_t>(communicator.size)));
  void* own = nullptr;
  const int code = shared_window(bytes, 1, shared.get(), communicator.handle, &own, words);
  if (code == MPI_SUCCESS) std::memset(own, 0, static_cast<std::size_t>(bytes));
  return code;
}

/// Until MPI_Win_free.
void keep(MPI_Win window, MPI_Win words, Window::Members members) {
  static_cast<void>(std::make_unique<Window>(window, words, std::move(members)).release());
}

int host_created(void* base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, MPI_Win* window) {
  if (needs_large_form(unit)) return host_activity().begun(host().Win_create_c(base, size, unit, info, comm, window));
  return host_activity().begun(host().Win_create(base, size, static_cast<int>(unit), info, comm, window));
}

bool reaches_all(const Communicator& communicator) {
  const auto members = members_of(communicator);
  Engine::Windows windows(engine());
  return std::all_of(members.begin(), members.end(), [&](const WindowMember& member) { return windows.reaches(member); });
}

bool is_on_device(void* base, MPI_Aint size) { return size != 0 && is_on_device(BufferArgument(base, size, predefined().byte)); }

}  // namespace

int allocate_window(MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* window) {
  const Communicator* const communicator = adopted(comm);
  const bool in_order = size >= 0 && unit > 0 && base && window;
  if (!in_order || !may_be_carried(communicator)) return host_window(size, unit, info, comm, base, window);
  const SharedMemoryInfo shared(info);
  MPI_Win words{};
  if (const int code = make_words(*communicator, shared, &words); code != MPI_SUCCESS) return code;
  if (const int code = shared_window(size, unit, shared.get(), comm, base, window); code != MPI_SUCCESS) {
    host().Win_free(&words);
    return code;
  }
  const auto all = gather(*communicator, {.bytes = static_cast<std::uint64_t>(size), .unit = static_cast<std::uint64_t>(unit)});
  Window::Members members = members_with(*communicator, words);
  for (int rank = 0; rank < communicator->size; ++rank) {
    const Exposed& exposed = all[static_cast<std::size_t>(rank)];
    members.memories.push_back({.base = shared_base(*window, rank), .bytes = exposed.bytes, .unit = exposed.unit});
  }
  keep(*window, words, std::move(members));
  return host_activity().shared(MPI_SUCCESS, window);
}

/// The host's window counts as outstanding. So nothing is released and no page is replaced while it is open, and peers may reach
/// into its memory at any time.
int create_window(void* base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, MPI_Win* window) {
  const Communicator* const communicator = adopted(comm);
  const int code = host_created(base, size, unit, info, comm, window);
  if (code != MPI_SUCCESS || !may_be_carried(communicator)) return code;
  const auto all = gather(*communicator, {.bytes = static_cast<std::uint64_t>(size),
                                          .unit = static_cast<std::uint64_t>(unit),
                                          .address = reinterpret_cast<std::uintptr_t>(base),
                                          .is_within = !is_on_device(base, size) && reaches_all(*communicator)});
  if (!std::all_of(all.begin(), all.end(), [](const Exposed& exposed) { return exposed.is_within != 0; })) return code;
  MPI_Win words{};
  if (make_words(*communicator, SharedMemoryInfo(info), &words) != MPI_SUCCESS) return code;
  host().Barrier(comm);
  Window::Members members = members_with(*communicator, words);
  members.are_allocated = false;
  for (int rank = 0; rank < communicator->size; ++rank) {
    const Exposed& exposed = all[static_cast<std::size_t>(rank)];
    members.memories.push_back({.base = reinterpret_cast<std::byte*>(exposed.address),
                                .is_mapped = rank == communicator->rank,
                                .bytes = exposed.bytes,
                                .unit = exposed.unit});
  }
  keep(*window, words, std::move(members));
  return code;
}

}  // namespace sluice
