#include "interpose/mpi/communicators.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "interpose/mpi/entry.hpp"
#include "interpose/mpi/errors.hpp"
#include "interpose/mpi/handle_table.hpp"
#include "runtime/base/fatal.hpp"

namespace sluice {
namespace detail {

constinit Communicator* world = nullptr;

}  // namespace detail

namespace {

constinit HandleTable<Communicator> communicators;
constinit std::atomic<std::uint64_t> last_id{1};

/// Context id of MPI_COMM_WORLD; no rank makes this one.
constexpr ContextId world_id{1};

/// World ranks of the members; nullopt when one of them belongs to another job or cannot be reached.
std::optional<std::vector<Peer>> reachable_members(MPI_Comm comm) {
  MPI_Group group{};
  MPI_Group world_group{};
  int size = 0;
  host().Comm_size(comm, &size);
  host().Comm_group(comm, &group);
  host().Comm_group(predefined().comm_world, &world_group);
  std::vector<int> ranks(static_cast<std::size_t>(size));
  for (int rank = 0; rank < size; ++rank) ranks[static_cast<std::size_t>(rank)] = rank;
  std::vector<int> translated(ranks.size(), MPI_UNDEFINED);
  host().Group_translate_ranks(group, size, ranks.data(), world_group, translated.data());
  host().Group_free(&group);
  host().Group_free(&world_group);

  const auto reached = [](int rank) { return rank != MPI_UNDEFINED && session().reaches(rank); };
  if (!std::all_of(translated.begin(), translated.end(), reached)) return std::nullopt;
  std::vector<Peer> members(translated.size());
  std::transform(translated.begin(), translated.end(), members.begin(), [](int rank) { return Peer{rank}; });
  return members;
}

/// A new communicator has its handler from the one that it was made from, or from the host.
void note_error_handler(const Communicator& communicator) {
  engine().contexts().let_errors_return(*communicator.context, !errors_are_fatal(communicator.handle));
}

/// What each member says of itself when the communicator is made.
struct Proposal {
  std::uint64_t id = 0;  // of the communicator, where this is its lowest rank
  LaneOffer lane;
};
static_assert(std::is_trivially_copyable_v<Proposal>);

/// Collective. Whether they all can have a team is seen by all alike. Empty when the host failed.
std::vector<Proposal> gather(MPI_Comm comm, Proposal own, std::size_t members) {
  std::vector<Proposal> all(members);
  const MPI_Datatype byte = predefined().byte;
  const int code = host().Allgather(&own, sizeof own, byte, all.data(), sizeof own, byte, comm);
  if (code == MPI_SUCCESS) return all;
  engine().collectives().take_back(own.lane);
  return {};
}

/// The same on all members: either they are all on one node, or each sees one that is elsewhere.
[[nodiscard]] bool are_on_one_node(const std::vector<Peer>& members) {
  const auto is_on_node = [](Peer peer) { return session().transports().shares_memory_with(static_cast<int>(peer)); };
  return members.size() == 1 || std::all_of(members.begin(), members.end(), is_on_node);
}

/// Of one node, its ranks agree; of several, those of the job.
[[nodiscard]] CarryMode collectives_of(const std::vector<Peer>& members) {
  return are_on_one_node(members) ? session().collectives() : session().transports().collectives();
}

[[nodiscard]] bool may_have_team(const std::vector<Peer>& members) {
  return session().collectives() != CarryMode::off && members.size() > 1 && members.size() <= Teams::most_members &&
         are_on_one_node(members);
}

/// Empty where all are on one.
std::vector<std::uint32_t> nodes_of(const std::vector<Peer>& members) {
  std::vector<std::uint32_t> nodes;
  if (are_on_one_node(members)) return nodes;
  for (const Peer peer : members) nodes.push_back(session().transports().node_of(static_cast<int>(peer)));
  return nodes;
}

Communicator* enter(MPI_Comm comm, ContextId id, std::vector<Peer> members, const std::vector<Proposal>& proposals) {
  auto communicator = std::make_unique<Communicator>();
  communicator->handle = comm;
  communicator->size = static_cast<int>(members.size());
  communicator->rank = rank_in(comm);
  communicator->collectives = collectives_of(members);
  communicator->may_carry_collectives = communicator->carries_collectives();
  if (communicator->carries_collectives()) communicator->nodes = nodes_of(members);
  communicator->context = engine().contexts().adopt(id, std::move(members), Rank{communicator->rank});
  if (!proposals.empty()) {
    std::vector<LaneOffer> lanes;
    for (const Proposal& proposal : proposals) lanes.push_back(proposal.lane);
    communicator->team = engine().collectives().make_team(*communicator->context, lanes);
  }
  note_error_handler(*communicator);
  communicators.insert(comm, communicator.get());
  return communicator.release();
}

/// The id that the lowest rank proposes, if any.
std::uint64_t agree_on_id(MPI_Comm comm, std::size_t members) {
  std::uint64_t id = rank_in(comm) == 0 ? fresh_context_id() : 0;
  if (members != 1 && host().Bcast(&id, 1, predefined().uint64, 0, comm) != MPI_SUCCESS) return 0;
  return id;
}

void adopt(MPI_Comm comm) {
  int inter = 0;
  host().Comm_test_inter(comm, &inter);
  if (inter) return;
  auto members = reachable_members(comm);
  if (!members) return;
  // One collective of the host on the new communicator.
  if (!may_have_team(*members)) {
    if (const std::uint64_t id = agree_on_id(comm, members->size())) enter(comm, ContextId{id}, std::move(*members), {});
    return;
  }
  const Proposal own{rank_in(comm) == 0 ? fresh_context_id() : 0, engine().collectives().offer_lane()};
  const std::vector<Proposal> proposals = gather(comm, own, members->size());
  if (proposals.empty()) return;
  if (const std::uint64_t id = proposals.front().id) {
    enter(comm, ContextId{id}, std::move(*members), proposals);
  } else {
    engine().collectives().take_back(own.lane);
  }
}

/// MPI_Comm_free and MPI_Comm_disconnect. The host calls the program's delete callbacks, in which the communicator is as good as
/// before. When they refuse, it stays so.
int release_handle(int (*host_call)(MPI_Comm*), MPI_Comm* comm) {
  const HostCall here;
  const MPI_Comm handle = comm ? *comm : predefined().comm_null;
  const bool predefined_comm = handle == predefined().comm_world || handle == predefined().comm_self;
  Communicator* communicator = predefined_comm ? nullptr : adopted(handle);
  const int code = host_call(comm);
  if (communicator && code == MPI_SUCCESS) forget_communicator(*communicator);
  return code;
}

/// The value of a hint as `read` understands it. One that is not understood changes nothing, as MPI wants it; but who gives one
/// wants to know.
template <typename Read>
auto hint_of(MPI_Info info, const char* name, Read read, std::string_view expected) -> decltype(read(std::string_view{})) {
  constexpr int max_bytes = 31;
  std::array<char, max_bytes + 1> value{};
  int found = 0;
  if (host().Info_get(info, name, max_bytes, value.data(), &found) != MPI_SUCCESS || found == 0) return std::nullopt;
  const auto understood = read(std::string_view(value.data()));
  if (!understood) report("hint %s=%s: expected %.*s", name, value.data(), static_cast<int>(expected.size()), expected.data());
  return understood;
}

void take_rendezvous_hint(const Communicator& communicator, MPI_Info info) {
  if (const auto rendezvous = hint_of(info, "sluice_rndv", rendezvous_inside_a_node, expected_inside_a_node))
    engine().contexts().choose_rendezvous(*communicator.context, *rendezvous);
}

/// Collective. The least that a member asks for holds; if one asks for nothing, all stays as it is.
void agree_on_collectives(Communicator& communicator, MPI_Info info) {
  if (!communicator.may_carry_collectives) return;
  const auto asked = hint_of(info, "sluice_collectives", collective_mode, expected_collective_modes);
  constexpr int nothing = 1;
  const int own = asked ? -static_cast<int>(*asked) : nothing;
  int most = nothing;
  if (host().Allreduce(&own, &most, 1, predefined().integer, predefined().max, communicator.handle) != MPI_SUCCESS) return;
  if (most != nothing) communicator.collectives = static_cast<CarryMode>(-most);
}

}  // namespace

Communicator* detail::find_communicator(MPI_Comm comm) { return communicators.find(comm); }

/// A number of the maker's own, and its rank.
std::uint64_t fresh_context_id() {
  const auto ranks = static_cast<std::uint64_t>(session().world_size());
  const std::uint64_t number = ++last_id;
  if (number > (context_limit / 2 - ranks) / ranks) return 0;
  return number * ranks + static_cast<std::uint64_t>(session().world_rank());
}

/// Of the world each rank is its own; the host's translation may take time by the square of their number.
void adopt_predefined() {
  std::vector<Peer> members;
  for (int rank = 0; rank < session().world_size() && session().reaches(rank); ++rank) members.push_back(Peer{rank});
  if (members.size() == static_cast<std::size_t>(session().world_size())) {
    std::vector<Proposal> proposals;
    if (may_have_team(members))
      proposals = gather(session().world_comm(), {0, engine().collectives().offer_lane()}, members.size());
    detail::world = enter(predefined().comm_world, world_id, std::move(members), proposals);
  }
  adopt(predefined().comm_self);
}

int adopt_new(int code, const MPI_Comm* comm) {
  if (engaged() && code == MPI_SUCCESS && *comm != predefined().comm_null) {
    communicators.erase(*comm, adopted(*comm));  // of that address before, which another thread has freed and not forgotten yet
    adopt(*comm);
  }
  return code;
}

/// The host may have given the handle out again, to another thread.
void forget_communicator(Communicator& communicator) {
  communicators.erase(communicator.handle, &communicator);
  communicator.freed.store(true, std::memory_order_relaxed);
  if (communicator.team) engine().collectives().retire(*std::exchange(communicator.team, nullptr));
  engine().contexts().retire(communicator.context);
  communicator.neighbours.reset();
}

void forget_all_communicators() {
  detail::world = nullptr;
  communicators.clear();
}

namespace calls {
namespace {

int Comm_free(CallSite, MPI_Comm* comm) { return release_handle(host().Comm_free, comm); }
int Comm_disconnect(CallSite, MPI_Comm* comm) { return release_handle(host().Comm_disconnect, comm); }

int Comm_set_info(CallSite, MPI_Comm comm, MPI_Info info) {
  const HostCall host_call;
  const int code = host().Comm_set_info(comm, info);
  if (Communicator* communicator = adopted(comm); communicator && code == MPI_SUCCESS) {
    take_rendezvous_hint(*communicator, info);
    agree_on_collectives(*communicator, info);
  }
  return code;
}

/// Nothing but the handler changes, so what is under guard stays so.
int Comm_set_errhandler(CallSite, MPI_Comm comm, MPI_Errhandler handler) {
  const int code = host().Comm_set_errhandler(comm, handler);
  if (Communicator* communicator = adopted(comm); communicator && code == MPI_SUCCESS) note_error_handler(*communicator);
  return code;
}

}  // namespace
}  // namespace calls
}  // namespace sluice

#include "exports.hpp"
EXPORT(Comm_free)
EXPORT(Comm_disconnect)
EXPORT(Comm_set_info)
EXPORT(Comm_set_errhandler)
