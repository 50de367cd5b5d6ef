#include "collective.hpp"

#include <algorithm>
#include <array>

namespace random_program {

namespace {

using enum CollectiveKind;

/// Every element of a layout has a divisor of so many units.
constexpr std::size_t units_of_all_elements = 8;

constexpr std::array kinds{barrier,
                           bcast,
                           bcast,
                           bcast,
                           gather,
                           gatherv,
                           scatter,
                           scatterv,
                           allgather,
                           allgather,
                           allgatherv,
                           alltoall,
                           alltoall,
                           alltoallv,
                           alltoallv,
                           alltoallw,
                           reduce,
                           reduce,
                           allreduce,
                           allreduce,
                           allreduce,
                           reduce_scatter,
                           reduce_scatter_block,
                           scan,
                           exscan};

/// After a nonblocking exchange of blocks in place the host hangs in a later call that makes a communicator.
bool has_place(const Collective& call) {
  const bool is_exchange = call.kind >= alltoall && call.kind <= alltoallw;
  return call.kind > bcast && !(is_exchange && call.is_nonblocking);
}

}  // namespace

Collective Collective::make(Random& random, std::size_t ranks, std::size_t bytes) {
  static constexpr std::array<std::size_t, 12> bounds{0, 64, 64, 256, 1024, 4096, 16384, 65536, 131072, 262144, 524288, 1048576};
  static constexpr std::array bases{Base::byte, Base::int32, Base::int16, Base::float64, Base::record};
  Collective call;
  call.kind = random.pick<CollectiveKind>(kinds);
  call.reducing = static_cast<Reducing>(random.below(static_cast<std::size_t>(Reducing::own_int64) + 1));
  call.is_nonblocking = random.chance(50);
  call.is_in_place = random.chance(20) && has_place(call);
  call.base = random.pick<Base>(bases);
  call.key = random.next();
  if (call.is_reduction()) call.base = Base::float64;  // no element is longer
  const std::size_t most = std::min(random.pick<std::size_t>(bounds), bytes) / ranks;
  const std::size_t least = random.chance(50) ? most / 2 : 0;
  call.max_units = random.between(least, most) / packed_bytes(call.base);
  return call;
}

Collective Collective::in_group(int lowest_rank) const {
  Collective call = *this;
  call.key = combine(key, static_cast<std::uint64_t>(lowest_rank));
  return call;
}

bool Collective::has_equal_blocks() const {
  static constexpr std::array unequal{gatherv, scatterv, allgatherv, alltoallv, alltoallw, reduce_scatter};
  return std::ranges::find(unequal, kind) == unequal.end();
}

bool Collective::has_block_for_each(std::size_t rank, std::size_t ranks, bool is_receiver) const {
  switch (kind) {
    case scatterv:
      return !is_receiver && rank == root(ranks);
    case gatherv:
      return is_receiver && rank == root(ranks);
    case allgatherv:
      return is_receiver;
    case alltoallw:
      return ranks > 1;  // alone, the host takes displacements for numbers of elements
    default:
      return kind == alltoallv;
  }
}

/// In place both of a pair have as much for each other.
BlockSpec Collective::block(std::size_t source, std::size_t target) const {
  const std::uint64_t own = combine(combine(key, source), target);
  if (has_equal_blocks()) return {own, max_units / units_of_all_elements * units_of_all_elements};
  const std::uint64_t length = is_in_place ? combine(combine(key, std::min(source, target)), std::max(source, target)) : own;
  if (length % 4 == 0) return {own, 0};
  return {own, length / 4 % (max_units + 1) / units_of_all_elements * units_of_all_elements};
}

std::vector<BlockSpec> Collective::given(std::size_t rank, std::size_t ranks) const {
  const bool is_root = rank == root(ranks);
  std::vector<BlockSpec> blocks;
  switch (kind) {
    case bcast:
      if (is_root) blocks.push_back(block(rank, 0));
      break;
    case gather:
    case gatherv:
      blocks.push_back(block(rank, root(ranks)));
      break;
    case allgather:
    case allgatherv:
      blocks.push_back(block(rank, rank));
      break;
    case scatter:
    case scatterv:
      for (std::size_t target = 0; is_root && target < ranks; ++target) blocks.push_back(block(rank, target));
      break;
    case alltoall:
    case alltoallv:
    case alltoallw:
      for (std::size_t target = 0; target < ranks; ++target) blocks.push_back(block(rank, target));
      break;
    default:
      break;
  }
  return blocks;
}

std::vector<BlockSpec> Collective::got(std::size_t rank, std::size_t ranks) const {
  const bool is_root = rank == root(ranks);
  std::vector<BlockSpec> blocks;
  switch (kind) {
    case bcast:
      if (!is_root) blocks.push_back(block(root(ranks), 0));
      break;
    case scatter:
    case scatterv:
      blocks.push_back(block(root(ranks), rank));
      break;
    case gather:
    case gatherv:
      for (std::size_t source = 0; is_root && source < ranks; ++source) blocks.push_back(block(source, rank));
      break;
    case allgather:
    case allgatherv:
      for (std::size_t source = 0; source < ranks; ++source) blocks.push_back(block(source, source));
      break;
    case alltoall:
    case alltoallv:
    case alltoallw:
      for (std::size_t source = 0; source < ranks; ++source) blocks.push_back(block(source, rank));
      break;
    default:
      break;
  }
  return blocks;
}

LayoutSpec Collective::layout(std::size_t rank, bool is_receiver) const {
  Random random(combine(combine(key, rank), is_receiver ? 2 : 1));
  LayoutSpec spec;
  spec.seed = random.next();
  // The host asks how long an element is where the call begins, and goes one way or another by what each rank says.
  if (kind == allgatherv) spec.units_per_element = std::size_t{1} << key % 4;
  if (random.chance(50)) return spec;
  spec.kind = static_cast<LayoutKind>(random.below(static_cast<std::size_t>(LayoutKind::resized) + 1));
  if (spec.kind != LayoutKind::plain && kind != allgatherv) spec.units_per_element = std::size_t{1} << random.below(4);
  return spec;
}

std::size_t Collective::strip_units(std::size_t rank) const {
  return kind == reduce_scatter_block ? max_units : block(rank, rank).units;
}

}  // namespace random_program
