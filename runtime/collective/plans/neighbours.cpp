// Every block goes straight to its neighbour, all at once. What a rank gives to itself is copied.

#include "runtime/collective/plans/parts.hpp"
#include "runtime/collective/plans/plans.hpp"

namespace sluice::plans {
namespace {

enum class Sent : std::uint8_t { one_block, block_each };

class Exchange {
 public:
  Exchange(const Shape& shape, Sent sent) : shape_(shape), sent_(sent) {}

  Schedule schedule() {
    Schedule schedule;
    Round& round = schedule.rounds.emplace_back();
    for (std::size_t block = 0; block < shape_.sources.size(); ++block) {
      if (comes_from_another(block)) add(round.receives, shape_.sources[block], coming(block));
    }
    for (std::size_t block = 0; block < shape_.destinations.size(); ++block) {
      if (!shape_.destinations[block].exists()) continue;
      if (shape_.destinations[block].rank == shape_.self) {
        give_to_self(round, block);
      } else {
        add(round.sends, shape_.destinations[block], going(block));
      }
    }
    return finished(std::move(schedule));
  }

 private:
  [[nodiscard]] Region coming(std::size_t block) const { return result(shape_.bytes_from(block), 0, block); }
  [[nodiscard]] Region going(std::size_t block) const {
    return operand(shape_.bytes_to(block), 0, sent_ == Sent::one_block ? 0 : block);
  }

  [[nodiscard]] bool comes_from_another(std::size_t block) const {
    return shape_.sources[block].exists() && shape_.sources[block].rank != shape_.self;
  }

  void give_to_self(Round& round, std::size_t block) const {
    const auto& sources = shape_.sources;
    const auto found = std::find(sources.begin(), sources.end(), shape_.destinations[block]);
    if (found != sources.end()) copy(round, going(block), coming(static_cast<std::size_t>(found - sources.begin())));
  }

  static void add(std::vector<Round::Message>& messages, const Edge& neighbour, const Region& region) {
    if (region.bytes != 0) messages.push_back({neighbour.rank, region, neighbour.part});
  }

  const Shape& shape_;
  Sent sent_;
};

}  // namespace

Schedule neighbour_allgather(const Shape& shape) { return Exchange(shape, Sent::one_block).schedule(); }
Schedule neighbour_alltoall(const Shape& shape) { return Exchange(shape, Sent::block_each).schedule(); }

}  // namespace sluice::plans
