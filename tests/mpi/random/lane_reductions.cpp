// Reductions: operands that every rank can compute, and the result that follows from them.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "lane.hpp"
#include "lane_call.hpp"

namespace random_program {

namespace {

struct Element {
  long value = 0;
  int rank = 0;  // of MPI_MAXLOC
};

Element operand(const Collective& call, std::size_t rank, std::size_t index) {
  const std::uint64_t word = scramble(combine(call.key, rank) + index);
  switch (call.reducing) {
    case Reducing::bxor_int64:
      return {static_cast<long>(word)};
    case Reducing::max_uint8:
      return {static_cast<long>(word % 256)};
    case Reducing::maxloc_int:
      return {static_cast<long>(word % 8), static_cast<int>(rank)};
    default:
      return {static_cast<long>(word % 1000)};
  }
}

Element joined(Reducing reducing, const Element& lower, const Element& upper) {
  switch (reducing) {
    case Reducing::max_uint8:
    case Reducing::max_float64:
    case Reducing::maxloc_int:
      return upper.value > lower.value ? upper : lower;
    case Reducing::min_int16:
      return upper.value < lower.value ? upper : lower;
    case Reducing::bxor_int64:
      return {lower.value ^ upper.value};
    default:
      return {lower.value + upper.value};
  }
}

void add_own(void* given, void* result, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i) static_cast<std::int64_t*>(result)[i] += static_cast<std::int64_t*>(given)[i];
}

MPI_Op own_operation() {
  static const MPI_Op operation = [] {
    MPI_Op made = MPI_OP_NULL;
    MPI_Op_create(add_own, 1, &made);
    return made;
  }();
  return operation;
}

template <typename T>
void store(std::byte* target, T value) {
  std::memcpy(target, &value, sizeof value);
}

struct Numbers {
  MPI_Datatype type;
  MPI_Op operation;
  std::size_t bytes;
  void (*write)(std::byte*, const Element&);
};

template <typename T>
Numbers numbers(MPI_Datatype type, MPI_Op operation) {
  return {type, operation, sizeof(T),
          [](std::byte* target, const Element& element) { store(target, static_cast<T>(element.value)); }};
}

Numbers numbers_of(Reducing reducing) {
  switch (reducing) {
    case Reducing::sum_int32:
      return numbers<std::int32_t>(MPI_INT32_T, MPI_SUM);
    case Reducing::sum_int64:
      return numbers<std::int64_t>(MPI_INT64_T, MPI_SUM);
    case Reducing::sum_float32:
      return numbers<float>(MPI_FLOAT, MPI_SUM);
    case Reducing::sum_float64:
      return numbers<double>(MPI_DOUBLE, MPI_SUM);
    case Reducing::max_uint8:
      return numbers<std::uint8_t>(MPI_UNSIGNED_CHAR, MPI_MAX);
    case Reducing::max_float64:
      return numbers<double>(MPI_DOUBLE, MPI_MAX);
    case Reducing::min_int16:
      return numbers<std::int16_t>(MPI_SHORT, MPI_MIN);
    case Reducing::bxor_int64:
      return numbers<std::int64_t>(MPI_LONG, MPI_BXOR);
    case Reducing::own_int64:
      return numbers<std::int64_t>(MPI_LONG_LONG, own_operation());
    case Reducing::maxloc_int:
      break;
  }
  return {MPI_2INT, MPI_MAXLOC, 2 * sizeof(int), [](std::byte* target, const Element& element) {
            store(target, static_cast<int>(element.value));
            store(target + sizeof(int), element.rank);
          }};
}

/// Elements [first, first + count) of what the ranks [0, ranks) give together, or of what one of them gives.
class Vector {
 public:
  Vector(const Collective& call, std::size_t first, std::size_t count) : call_(call), first_(first), count_(count) {}

  [[nodiscard]] std::vector<std::byte> of_rank(std::size_t rank) const {
    return written([&](std::size_t index) { return operand(call_, rank, index); });
  }
  [[nodiscard]] std::vector<std::byte> of_ranks(std::size_t ranks) const {
    return written([&](std::size_t index) {
      Element all = operand(call_, 0, index);
      for (std::size_t rank = 1; rank < ranks; ++rank) all = joined(call_.reducing, all, operand(call_, rank, index));
      return all;
    });
  }

 private:
  template <typename Value>
  [[nodiscard]] std::vector<std::byte> written(Value value) const {
    const Numbers as = numbers_of(call_.reducing);
    std::vector<std::byte> bytes(count_ * as.bytes);
    for (std::size_t i = 0; i < count_; ++i) as.write(bytes.data() + i * as.bytes, value(first_ + i));
    return bytes;
  }

  const Collective& call_;
  std::size_t first_;
  std::size_t count_;
};

}  // namespace

/// A buffer of so many bytes, what is in it before the call, and what its first bytes must be after it.
std::shared_ptr<Lane::Side> Lane::make_operand_side(const Collective& what, std::size_t bytes,
                                                    const std::vector<std::byte>& before, std::vector<std::byte> after) {
  constexpr std::size_t alignment = 16;
  auto side = std::make_shared<Side>();
  side->slot = memory_.allocate(bytes, alignment, Memory::Placement::anywhere, random_);
  std::ranges::copy(before, side->slot.origin);
  side->image = std::move(after);
  side->what = what;
  return side;
}

void Lane::make_reduction_sides(Call& call, std::size_t element_bytes) {
  using enum CollectiveKind;
  const Collective& what = call.what;
  const bool has_strips = what.kind == reduce_scatter || what.kind == reduce_scatter_block;
  for (std::size_t rank = 0; has_strips && rank < call.ranks; ++rank)
    call.counts.push_back(static_cast<int>(what.strip_units(rank)));
  const auto own_strip = call.counts.begin() + static_cast<std::ptrdiff_t>(has_strips ? call.rank : 0);
  const auto first = static_cast<std::size_t>(std::accumulate(call.counts.begin(), own_strip, 0));
  const auto all =
      has_strips ? static_cast<std::size_t>(std::accumulate(call.counts.begin(), call.counts.end(), 0)) : what.max_units;
  call.count = has_strips ? *own_strip : static_cast<int>(what.max_units);

  const auto operand = Vector(what, 0, all).of_rank(call.rank);
  const bool has_result = what.kind != reduce || call.is_root();
  const bool is_in_place = what.is_in_place && has_result;
  if (!is_in_place) call.given = make_operand_side(what, operand.size(), operand, operand);
  if (!has_result) return;
  const auto own = static_cast<std::size_t>(call.count);
  const std::size_t ranks = what.kind == scan ? call.rank + 1 : what.kind == exscan ? call.rank : call.ranks;
  std::vector<std::byte> result;  // of MPI_Exscan on rank 0, whatever it likes
  if (ranks != 0) result = Vector(what, first, own).of_ranks(ranks);
  const std::size_t bytes = is_in_place ? operand.size() : own * element_bytes;
  call.got = make_operand_side(what, bytes, is_in_place ? operand : std::vector<std::byte>{}, std::move(result));
  call.got->is_received = true;
}

void Lane::make_reduction(Call& call) {
  using enum CollectiveKind;
  const Numbers as = numbers_of(call.what.reducing);
  make_reduction_sides(call, as.bytes);
  const void* const sent = call.given ? call.given->slot.origin : MPI_IN_PLACE;
  void* const received = call.got ? call.got->slot.origin : nullptr;
  switch (call.what.kind) {
    case reduce:
      return call.make(MPI_Reduce, MPI_Ireduce, sent, received, call.count, as.type, as.operation, call.root());
    case allreduce:
      return call.make(MPI_Allreduce, MPI_Iallreduce, sent, received, call.count, as.type, as.operation);
    case reduce_scatter:
      return call.make(MPI_Reduce_scatter, MPI_Ireduce_scatter, sent, received, call.counts.data(), as.type, as.operation);
    case reduce_scatter_block:
      return call.make(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, sent, received, call.count, as.type, as.operation);
    case scan:
      return call.make(MPI_Scan, MPI_Iscan, sent, received, call.count, as.type, as.operation);
    default:
      return call.make(MPI_Exscan, MPI_Iexscan, sent, received, call.count, as.type, as.operation);
  }
}

}  // namespace random_program
