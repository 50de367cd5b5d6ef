#include "interpose/mpi/short_blocks.hpp"

#include <algorithm>
#include <vector>

#include "interpose/mpi/errors.hpp"
#include "runtime/collective/description.hpp"

namespace sluice {
namespace {

using Kind = Description::Kind;

Communicator* with_lanes(MPI_Comm comm) {
  Communicator* const communicator = adopted(comm);
  return communicator && communicator->carries_collectives() && communicator->team ? communicator : nullptr;
}
Communicator* with_lanes(MPI_Comm comm, int root) {
  Communicator* const communicator = with_lanes(comm);
  return communicator && communicator->has_rank(root) ? communicator : nullptr;
}

bool is_valid(const OneBlock& block) { return !block.is_in_place() && block.argument().valid(); }
bool are_valid(const OneBlock& own, const OneBlock& each) {
  return is_valid(each) && (own.is_in_place() || own.argument().valid());
}

std::size_t most_bytes(const Communicator& communicator, Kind kind) {
  return Engine::Collectives::most_bytes(static_cast<std::size_t>(communicator.size), kind);
}

BufferArgument all_of(const OneBlock& each, const Communicator& communicator) {
  return {each.base, each.count * communicator.size, each.type};
}

/// The block that this rank has for itself has two lengths: an error that only it can know. It takes part all the same, so that
/// the members stay in step, and without that block, or without all of them.
bool is_odd(const OneBlock& own, const BufferArgument& theirs) {
  return !own.is_in_place() && own.argument().bytes() != theirs.bytes();
}

int concluded(PreparedCollective& call, const std::optional<Mismatch>& mismatch, bool is_odd, std::size_t bytes) {
  const int code = call.concluded(mismatch, bytes);
  return is_odd && !mismatch ? raise_error(call.communicator, MPI_ERR_TRUNCATE, call.site.function()) : code;
}

const UserBuffer* address_of(const std::optional<UserBuffer>& buffer) { return buffer ? &*buffer : nullptr; }

}  // namespace

std::optional<int> short_gather(CallSite site, const OneBlock& own, const OneBlock& each, int root, MPI_Comm comm) {
  Communicator* const communicator = with_lanes(comm, root);
  if (!communicator) return std::nullopt;
  const bool is_root = communicator->rank == root;
  if (is_root ? !are_valid(own, each) : !is_valid(own)) return std::nullopt;
  const bool odd = is_root && is_odd(own, each.argument());
  const std::size_t bytes = (is_root ? each : own).argument().bytes();
  if (bytes > most_bytes(*communicator, Kind::gather)) return std::nullopt;
  PreparedCollective call(*communicator, site);
  std::optional<UserBuffer> part;
  std::optional<UserBuffer> all;
  if (!own.is_in_place() && !odd) part = call.read(own.argument());
  if (is_root) all = own.is_in_place() ? call.exchange(all_of(each, *communicator)) : call.write(all_of(each, *communicator));
  const auto mismatch = engine().collectives().gather(*communicator->team, Rank{root}, address_of(part), address_of(all), bytes);
  return concluded(call, mismatch, odd, bytes * static_cast<std::size_t>(communicator->size));
}

std::optional<int> short_scatter(CallSite site, const OneBlock& each, const OneBlock& own, int root, MPI_Comm comm) {
  Communicator* const communicator = with_lanes(comm, root);
  if (!communicator) return std::nullopt;
  const bool is_root = communicator->rank == root;
  if (is_root ? !are_valid(own, each) : !is_valid(own)) return std::nullopt;
  const bool odd = is_root && is_odd(own, each.argument());
  const std::size_t bytes = (is_root ? each : own).argument().bytes();
  if (bytes > most_bytes(*communicator, Kind::scatter)) return std::nullopt;
  PreparedCollective call(*communicator, site);
  std::optional<UserBuffer> part;
  std::optional<UserBuffer> all;
  if (is_root) all = call.read(all_of(each, *communicator));
  if (!own.is_in_place() && !odd) part = call.write(own.argument());
  const auto mismatch = engine().collectives().scatter(*communicator->team, Rank{root}, address_of(all), address_of(part), bytes);
  return concluded(call, mismatch, odd, bytes);
}

std::optional<int> short_allgather(CallSite site, const OneBlock& own, const OneBlock& each, MPI_Comm comm) {
  Communicator* const communicator = with_lanes(comm);
  if (!communicator || !are_valid(own, each)) return std::nullopt;
  const std::size_t most = most_bytes(*communicator, Kind::allgather);
  const bool odd = is_odd(own, each.argument());
  const std::size_t bytes = each.argument().bytes();
  if (bytes > most) return std::nullopt;
  PreparedCollective call(*communicator, site);
  std::optional<UserBuffer> part;
  std::optional<UserBuffer> all;
  if (!own.is_in_place()) part = call.read(own.argument());
  if (!odd) all = part ? call.write(all_of(each, *communicator)) : call.exchange(all_of(each, *communicator));
  const std::size_t sent = odd ? std::min(part->bytes(), most) : bytes;
  const auto mismatch = engine().collectives().allgather(*communicator->team, address_of(part), address_of(all), sent);
  return concluded(call, mismatch, odd, bytes * static_cast<std::size_t>(communicator->size));
}

std::optional<int> short_allgatherv(CallSite site, const OneBlock& own, const Blocks& theirs, MPI_Comm comm) {
  Communicator* const communicator = with_lanes(comm);
  if (!communicator || (!own.is_in_place() && !own.argument().valid())) return std::nullopt;
  if (!std::ranges::all_of(theirs, &BufferArgument::valid)) return std::nullopt;
  const std::size_t most = std::ranges::max(theirs, {}, &BufferArgument::bytes).bytes();
  if (most > most_bytes(*communicator, Kind::allgather)) return std::nullopt;
  const auto self = static_cast<std::size_t>(communicator->rank);
  const bool odd = is_odd(own, theirs[self]);
  PreparedCollective call(*communicator, site);
  std::optional<UserBuffer> part;
  if (!own.is_in_place()) part = call.read(own.argument());
  std::vector<UserBuffer> all;
  all.reserve(odd ? 0 : theirs.size());
  std::size_t bytes = 0;
  for (std::size_t rank = 0; rank < theirs.size() && !odd; ++rank) {
    all.push_back(!part && rank == self ? call.exchange(theirs[rank]) : call.write(theirs[rank]));
    bytes += theirs[rank].bytes();
  }
  const auto mismatch = engine().collectives().allgather(*communicator->team, address_of(part), all, most);
  return concluded(call, mismatch, odd, bytes);
}

std::optional<int> short_alltoall(CallSite site, const OneBlock& sent, const OneBlock& received, MPI_Comm comm) {
  Communicator* const communicator = with_lanes(comm);
  if (!communicator || !are_valid(sent, received)) return std::nullopt;
  const std::size_t most = most_bytes(*communicator, Kind::alltoall);
  const bool odd = is_odd(sent, received.argument());
  const std::size_t bytes = received.argument().bytes();
  if (bytes > most) return std::nullopt;
  PreparedCollective call(*communicator, site);
  std::optional<UserBuffer> all;
  const BufferArgument every = all_of(received, *communicator);
  if (!odd) all = sent.is_in_place() ? call.exchange(every) : call.write(every);
  const UserBuffer own = sent.is_in_place() ? *all : call.read(all_of(sent, *communicator));
  const std::size_t part = odd ? std::min(sent.argument().bytes(), most) : bytes;
  const auto mismatch = engine().collectives().alltoall(*communicator->team, own, address_of(all), part);
  return concluded(call, mismatch, odd, bytes * static_cast<std::size_t>(communicator->size));
}

}  // namespace sluice
