// The calls that make windows: who carries the window, and what its members tell each other.

#include <algorithm>
#include <climits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "interpose/device/buffers.hpp"
#include "interpose/mpi/entry.hpp"
#include "interpose/mpi/shared_memory.hpp"
#include "interpose/mpi/window.hpp"

namespace sluice {
namespace {

std::vector<WindowMember> members_of(const Communicator& communicator) {
  return Engine::Windows(engine()).members(*communicator.context, static_cast<std::size_t>(communicator.size));
}

bool are_on_one_node(const Communicator& communicator) {
  const auto members = members_of(communicator);
  return std::all_of(members.begin(), members.end(), [](const WindowMember& member) {
    const int rank = static_cast<int>(member.peer);
    return rank == session().world_rank() || session().transports().shares_memory_with(rank);
  });
}

enum class Carried : std::uint8_t { by_host, inside_node, between_nodes };

/// The same on all members, as adoption is. One that is alone has nobody to share with.
Carried who_carries(const Communicator* communicator, CarryMode least_inside) {
  if (!communicator || communicator->is_alone()) return Carried::by_host;
  if (are_on_one_node(*communicator)) return session().one_sided() < least_inside ? Carried::by_host : Carried::inside_node;
  return session().transports().one_sided() == CarryMode::all ? Carried::between_nodes : Carried::by_host;
}

/// What each member says of its memory.
struct Memory {
  std::uint64_t bytes = 0;
  std::uint64_t unit = 1;
  std::uint64_t address = 0;    // at that member
  std::uint64_t is_within = 1;  // the processor reaches it, this member reaches all others, and has what it needs for words
  std::uint64_t context = 0;    // between nodes, of the first member: a name for the window's
};

/// What all members have said, by rank.
class Said {
 public:
  /// Collective.
  Said(const Communicator& communicator, const Memory& memory, const WordsOffer& offer) {
    struct Words {
      Memory memory;
      WordsOffer offer;
    };
    static_assert(std::is_trivially_copyable_v<Words>);
    const Words own{memory, offer};
    std::vector<Words> all(static_cast<std::size_t>(communicator.size));
    const MPI_Datatype byte = predefined().byte;
    host().Allgather(&own, sizeof own, byte, all.data(), sizeof own, byte, communicator.handle);
    for (const Words& said : all) {
      memories_.push_back(said.memory);
      offers_.push_back(said.offer);
    }
  }

  [[nodiscard]] const std::vector<Memory>& memories() const { return memories_; }
  [[nodiscard]] bool all_are_within() const {
    return std::all_of(memories_.begin(), memories_.end(), [](const Memory& memory) { return memory.is_within != 0; });
  }
  [[nodiscard]] const std::vector<WordsOffer>& offers() const { return offers_; }
  [[nodiscard]] std::uint64_t context() const { return memories_.front().context; }

 private:
  std::vector<Memory> memories_;
  std::vector<WordsOffer> offers_;
};

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

/// Until MPI_Win_free.
void keep(MPI_Win window, std::unique_ptr<WindowWords> words, int self, Window::Kind kind, std::vector<Window::Memory> memories) {
  static_cast<void>(std::make_unique<Window>(window, std::move(words), self, std::move(kind), std::move(memories)).release());
}

int host_created(void* base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, MPI_Win* window) {
  if (needs_large_form(unit)) return host_activity().begun(host().Win_create_c(base, size, unit, info, comm, window));
  return host_activity().begun(host().Win_create(base, size, static_cast<int>(unit), info, comm, window));
}

bool reaches_all(const std::vector<WindowMember>& members) {
  Engine::Windows windows(engine());
  return std::all_of(members.begin(), members.end(), [&](const WindowMember& member) { return windows.reaches(member); });
}

bool is_on_device(void* base, MPI_Aint size) { return size != 0 && is_on_device(BufferArgument(base, size, predefined().byte)); }

/// Sluice carries this window if all members say that their memory is within reach, and reach that of all others. Collective.
template <typename MakeMemory>
void carry_distant(MPI_Win window, const Communicator& communicator, Window::Kind::Call call, Memory own, MakeMemory memory_of) {
  auto words = std::make_unique<WindowWords>(members_of(communicator));
  own.is_within = own.is_within != 0 && WindowWords::are_to_be_had() && reaches_all(words->members());
  const Said said(communicator, own, words->offer());
  if (!said.all_are_within() || words->take(communicator, said.offers()) != MPI_SUCCESS) return;
  std::vector<Window::Memory> memories;
  for (const Memory& memory : said.memories())
    memories.push_back(memory_of(memory, static_cast<int>(memories.size()) == communicator.rank));
  keep(window, std::move(words), communicator.rank, {call}, std::move(memories));
  host_activity().carried(window);
}

/// Between nodes, if the processors reach all memory. Collective.
void carry_far(MPI_Win window, Communicator& communicator, Window::Kind::Call call, Memory own) {
  if (communicator.rank == 0) own.context = fresh_context_id();
  const Said said(communicator, own, {});
  if (!said.all_are_within() || said.context() == 0) return;
  std::vector<Window::Memory> memories;
  for (const Memory& memory : said.memories()) {
    if (call == Window::Kind::create_dynamic) {
      memories.push_back(Window::all_addresses(false));
    } else {
      memories.push_back(
          {.base = reinterpret_cast<std::byte*>(memory.address), .is_mapped = false, .bytes = memory.bytes, .unit = memory.unit});
    }
  }
  static_cast<void>(
      std::make_unique<Window>(window, ContextId{said.context()}, communicator, Window::Kind{call}, std::move(memories))
          .release());
  host_activity().carried(window);
}

Memory describe(void* base, MPI_Aint size, MPI_Aint unit) {
  return {.bytes = static_cast<std::uint64_t>(size),
          .unit = static_cast<std::uint64_t>(unit),
          .address = reinterpret_cast<std::uintptr_t>(base),
          .is_within = !is_on_device(base, size)};
}

int allocate_far(MPI_Aint size, MPI_Aint unit, MPI_Info info, Communicator& communicator, void* base, MPI_Win* window) {
  const int code = host_window(size, unit, info, communicator.handle, base, window);
  if (code == MPI_SUCCESS)
    carry_far(*window, communicator, Window::Kind::create, describe(*static_cast<void**>(base), size, unit));
  return code;
}

}  // namespace

int allocate_window(MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* window) {
  Communicator* const communicator = adopted(comm);
  const bool in_order = size >= 0 && unit > 0 && base && window;
  const Carried carried = in_order ? who_carries(communicator, CarryMode::automatic) : Carried::by_host;
  if (carried == Carried::by_host) return host_window(size, unit, info, comm, base, window);
  if (carried == Carried::between_nodes) return allocate_far(size, unit, info, *communicator, base, window);
  auto words = std::make_unique<WindowWords>(members_of(*communicator));
  const Memory own{.bytes = static_cast<std::uint64_t>(size),
                   .unit = static_cast<std::uint64_t>(unit),
                   .is_within = WindowWords::are_to_be_had()};
  const Said said(*communicator, own, words->offer());
  if (!said.all_are_within() || words->take(*communicator, said.offers()) != MPI_SUCCESS)
    return host_window(size, unit, info, comm, base, window);
  const SharedMemoryInfo shared(info);
  if (const int code = shared_window(size, unit, shared.get(), comm, base, window); code != MPI_SUCCESS) {
    words->free();
    return code;
  }
  call_it_allocated(*window);
  std::vector<Window::Memory> memories;
  for (const Memory& memory : said.memories()) {
    const int rank = static_cast<int>(memories.size());
    memories.push_back({.base = shared_base(*window, rank), .bytes = memory.bytes, .unit = memory.unit});
  }
  keep(*window, std::move(words), communicator->rank, {Window::Kind::allocate, shared.asked_layout()}, std::move(memories));
  return host_activity().shared(MPI_SUCCESS, window);
}

/// The host's window counts as outstanding until it is known that Sluice carries it.
int create_window(void* base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, MPI_Win* window) {
  Communicator* const communicator = adopted(comm);
  const int code = host_created(base, size, unit, info, comm, window);
  const Carried carried = code == MPI_SUCCESS ? who_carries(communicator, CarryMode::all) : Carried::by_host;
  if (carried == Carried::by_host) return code;
  const Memory own = describe(base, size, unit);
  if (carried == Carried::between_nodes) {
    carry_far(*window, *communicator, Window::Kind::create, own);
    return code;
  }
  carry_distant(*window, *communicator, Window::Kind::create, own, [](const Memory& said, bool is_own) {
    return Window::Memory{
        .base = reinterpret_cast<std::byte*>(said.address), .is_mapped = is_own, .bytes = said.bytes, .unit = said.unit};
  });
  return code;
}

/// Who makes a call is told by others where the memory lies. What a device may attach, the kernel does not reach.
int create_dynamic_window(MPI_Info info, MPI_Comm comm, MPI_Win* window) {
  Communicator* const communicator = adopted(comm);
  const int code = host_activity().begun(host().Win_create_dynamic(info, comm, window));
  const Carried carried = code == MPI_SUCCESS ? who_carries(communicator, CarryMode::all) : Carried::by_host;
  if (carried == Carried::by_host) return code;
  const Memory own{.is_within = !device_memory::is_there()};
  if (carried == Carried::between_nodes) {
    carry_far(*window, *communicator, Window::Kind::create_dynamic, own);
    return code;
  }
  carry_distant(*window, *communicator, Window::Kind::create_dynamic, own,
                [](const Memory&, bool is_own) { return Window::all_addresses(is_own); });
  return code;
}

}  // namespace sluice
