#include "interpose/mpi/short_blocks.hpp"

#include <algorithm>
#include <utility>
#include <vector>

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

bool is_odd(const OneBlock& own, const BufferArgument& theirs) {
  return !own.is_in_place() && own.argument().bytes() != theirs.bytes();
}

}  // namespace

std::optional<ShortCall<GatherStep>> short_gather(CallSite site, const OneBlock& own, const OneBlock& each, int root,
                                                  MPI_Comm comm) {
  Communicator* const communicator = with_lanes(comm, root);
  if (!communicator) return std::nullopt;
  const bool is_root = communicator->rank == root;
  if (is_root ? !are_valid(own, each) : !is_valid(own)) return std::nullopt;
  const bool odd = is_root && is_odd(own, each.argument());
  const std::size_t bytes = (is_root ? each : own).argument().bytes();
  if (bytes > most_bytes(*communicator, Kind::gather)) return std::nullopt;
  PreparedBuffers call(*communicator, site);
  std::optional<UserBuffer> part;
  std::optional<UserBuffer> all;
  if (!own.is_in_place() && !odd) part = call.read(own.argument());
  if (is_root) all = own.is_in_place() ? call.exchange(all_of(each, *communicator)) : call.write(all_of(each, *communicator));
  return ShortCall<GatherStep>{std::move(call),
                               {Rank{root}, std::move(part), std::move(all), bytes},
                               bytes * static_cast<std::size_t>(communicator->size),
                               odd};
}

std::optional<ShortCall<ScatterStep>> short_scatter(CallSite site, const OneBlock& each, const OneBlock& own, int root,
                                                    MPI_Comm comm) {
  Communicator* const communicator = with_lanes(comm, root);
  if (!communicator) return std::nullopt;
  const bool is_root = communicator->rank == root;
  if (is_root ? !are_valid(own, each) : !is_valid(own)) return std::nullopt;
  const bool odd = is_root && is_odd(own, each.argument());
  const std::size_t bytes = (is_root ? each : own).argument().bytes();
  if (bytes > most_bytes(*communicator, Kind::scatter)) return std::nullopt;
  PreparedBuffers call(*communicator, site);
  std::optional<UserBuffer> part;
  std::optional<UserBuffer> all;
  if (is_root) all = call.read(all_of(each, *communicator));
  if (!own.is_in_place() && !odd) part = call.write(own.argument());
  return ShortCall<ScatterStep>{std::move(call), {Rank{root}, std::move(all), std::move(part), bytes}, bytes, odd};
}

std::optional<ShortCall<AllgatherStep>> short_allgather(CallSite site, const OneBlock& own, const OneBlock& each, MPI_Comm comm) {
  Communicator* const communicator = with_lanes(comm);
  if (!communicator || !are_valid(own, each)) return std::nullopt;
  const std::size_t most = most_bytes(*communicator, Kind::allgather);
  const bool odd = is_odd(own, each.argument());
  const std::size_t bytes = each.argument().bytes();
  if (bytes > most) return std::nullopt;
  PreparedBuffers call(*communicator, site);
  std::optional<UserBuffer> part;
  std::optional<UserBuffer> all;
  if (!own.is_in_place()) part = call.read(own.argument());
  if (!odd) all = part ? call.write(all_of(each, *communicator)) : call.exchange(all_of(each, *communicator));
  const std::size_t sent = odd ? std::min(part->bytes(), most) : bytes;
  return ShortCall<AllgatherStep>{
      std::move(call), {std::move(part), std::move(all), sent}, bytes * static_cast<std::size_t>(communicator->size), odd};
}

std::optional<ShortCall<AllgathervStep>> short_allgatherv(CallSite site, const OneBlock& own, const Blocks& theirs,
                                                          MPI_Comm comm) {
  Communicator* const communicator = with_lanes(comm);
  if (!communicator || (!own.is_in_place() && !own.argument().valid())) return std::nullopt;
  if (!std::ranges::all_of(theirs, &BufferArgument::valid)) return std::nullopt;
  const std::size_t most = std::ranges::max(theirs, {}, &BufferArgument::bytes).bytes();
  if (most > most_bytes(*communicator, Kind::allgather)) return std::nullopt;
  const auto self = static_cast<std::size_t>(communicator->rank);
  const bool odd = is_odd(own, theirs[self]);
  PreparedBuffers call(*communicator, site);
  std::optional<UserBuffer> part;
  if (!own.is_in_place()) part = call.read(own.argument());
  std::vector<UserBuffer> all;
  all.reserve(odd ? 0 : theirs.size());
  std::size_t bytes = 0;
  for (std::size_t rank = 0; rank < theirs.size() && !odd; ++rank) {
    all.push_back(!part && rank == self ? call.exchange(theirs[rank]) : call.write(theirs[rank]));
    bytes += theirs[rank].bytes();
  }
  return ShortCall<AllgathervStep>{std::move(call), {std::move(part), std::move(all), most}, bytes, odd};
}

std::optional<ShortCall<AlltoallStep>> short_alltoall(CallSite site, const OneBlock& sent, const OneBlock& received,
                                                      MPI_Comm comm) {
  Communicator* const communicator = with_lanes(comm);
  if (!communicator || !are_valid(sent, received)) return std::nullopt;
  const std::size_t most = most_bytes(*communicator, Kind::alltoall);
  const bool odd = is_odd(sent, received.argument());
  const std::size_t bytes = received.argument().bytes();
  if (bytes > most) return std::nullopt;
  PreparedBuffers call(*communicator, site);
  std::optional<UserBuffer> all;
  const BufferArgument every = all_of(received, *communicator);
  if (!odd) all = sent.is_in_place() ? call.exchange(every) : call.write(every);
  UserBuffer own = sent.is_in_place() ? *all : call.read(all_of(sent, *communicator));
  const std::size_t part = odd ? std::min(sent.argument().bytes(), most) : bytes;
  return ShortCall<AlltoallStep>{
      std::move(call), {std::move(own), std::move(all), part}, bytes * static_cast<std::size_t>(communicator->size), odd};
}

}  // namespace sluice
