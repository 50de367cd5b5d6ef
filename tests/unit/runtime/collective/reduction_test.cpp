#include "runtime/collective/reduction.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <numeric>
#include <random>
#include <vector>

#include "runtime/collective/canonical_order.hpp"

namespace sluice {
namespace {

using Term = std::uint32_t;

/// Terms (lower upper), by number; those below `first_join` are the operands of ranks.
class Terms {
 public:
  static constexpr Term first_join = 1 << 16;

  Term join(Term lower, Term upper) {
    const auto [at, is_new] = numbers_.try_emplace({lower, upper}, first_join + static_cast<Term>(numbers_.size()));
    return at->second;
  }

 private:
  std::map<std::pair<Term, Term>, Term> numbers_;
};

Terms terms;

/// Elements are terms, so a result says how it was computed.
void symbolic_kernel(const std::byte* const* sources, std::size_t n_sources, std::byte* target, std::size_t elements) {
  for (std::size_t i = 0; i < elements; ++i) {
    std::vector<Term> values(n_sources);
    for (std::size_t s = 0; s < n_sources; ++s) std::memcpy(&values[s], sources[s] + i * sizeof(Term), sizeof(Term));
    for (; values.size() > 1;) {
      std::vector<Term> joined;
      for (std::size_t s = 0; s < values.size(); s += 2) joined.push_back(terms.join(values[s], values[s + 1]));
      values = joined;
    }
    std::memcpy(target + i * sizeof(Term), values.data(), sizeof(Term));
  }
}

const Reduction symbolic(symbolic_kernel, sizeof(Term), 1);

/// What each rank has after recursive doubling, as ranks exchange it: distance 1 first, the first 2r ranks in pairs before.
Term by_recursive_doubling(std::size_t ranks) {
  std::vector<Term> held(ranks);
  std::iota(held.begin(), held.end(), Term{0});
  std::size_t power = 1;
  while (2 * power <= ranks) power *= 2;
  const std::size_t extra = ranks - power;
  std::vector<Term> taking_part;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (rank >= 2 * extra) taking_part.push_back(held[rank]);
    if (rank < 2 * extra && rank % 2 == 1) taking_part.push_back(terms.join(held[rank - 1], held[rank]));
  }
  for (std::size_t mask = 1; mask < power; mask *= 2) {
    std::vector<Term> next(power);
    for (std::size_t rank = 0; rank < power; ++rank) {
      const std::size_t other = rank ^ mask;
      next[rank] = terms.join(taking_part[std::min(rank, other)], taking_part[std::max(rank, other)]);
    }
    taking_part = next;
  }
  for (const Term term : taking_part) EXPECT_EQ(term, taking_part[0]);
  return taking_part[0];
}

/// `elements` times each rank's own term, in memory of its own.
class Vectors {
 public:
  Vectors(std::size_t ranks, std::size_t elements) {
    for (std::size_t rank = 0; rank < ranks; ++rank) memory_.emplace_back(elements, static_cast<Term>(rank));
  }
  [[nodiscard]] std::vector<const std::byte*> sources() const {
    std::vector<const std::byte*> made;
    for (const auto& vector : memory_) made.push_back(reinterpret_cast<const std::byte*>(vector.data()));
    return made;
  }
  [[nodiscard]] std::vector<std::byte*> targets() {
    std::vector<std::byte*> made;
    for (auto& vector : memory_) made.push_back(reinterpret_cast<std::byte*>(vector.data()));
    return made;
  }
  [[nodiscard]] const std::vector<Term>& of(std::size_t rank) const { return memory_[rank]; }

 private:
  std::vector<std::vector<Term>> memory_;
};

constexpr std::size_t most_ranks = 64;
constexpr std::size_t several_strips = 520;

TEST(CanonicalOrder, is_the_tree_of_recursive_doubling) {
  for (std::size_t ranks = 1; ranks <= 300; ++ranks) {
    const Term term = CanonicalOrder(ranks).fold([](std::size_t rank) { return static_cast<Term>(rank); },
                                                 [](Term lower, Term upper) { return terms.join(lower, upper); });
    ASSERT_EQ(term, by_recursive_doubling(ranks)) << ranks;
  }
}

TEST(Reduction, folds_in_the_canonical_order) {
  for (std::size_t ranks = 1; ranks <= 300; ranks += ranks < 33 ? 1 : 31) {
    const Vectors vectors(ranks, several_strips);
    std::vector<Term> result(several_strips);
    std::byte* target[] = {reinterpret_cast<std::byte*>(result.data())};
    symbolic.fold(vectors.sources(), target, several_strips);
    ASSERT_EQ(result, std::vector<Term>(several_strips, by_recursive_doubling(ranks))) << ranks;
  }
}

TEST(Reduction, folds_into_all_its_sources) {
  for (std::size_t ranks = 1; ranks <= most_ranks; ranks += ranks < 20 ? 1 : 11) {
    Vectors vectors(ranks, several_strips);
    symbolic.fold(vectors.sources(), vectors.targets(), several_strips);
    const std::vector<Term> expected(several_strips, by_recursive_doubling(ranks));
    for (std::size_t rank = 0; rank < ranks; ++rank) ASSERT_EQ(vectors.of(rank), expected) << rank << " of " << ranks;
  }
}

TEST(Reduction, folds_into_any_one_of_its_sources) {
  for (std::size_t ranks = 1; ranks <= most_ranks; ++ranks) {
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      Vectors vectors(ranks, 3);
      std::byte* target[] = {vectors.targets()[rank]};
      symbolic.fold(vectors.sources(), target, 3);
      ASSERT_EQ(vectors.of(rank), std::vector<Term>(3, by_recursive_doubling(ranks))) << rank << " of " << ranks;
      const std::size_t other = (rank + 1) % ranks;
      ASSERT_TRUE(other == rank || vectors.of(other) == std::vector<Term>(3, static_cast<Term>(other)));
    }
  }
}

TEST(Reduction, gives_the_same_bits_to_whoever_computes_a_part) {
  constexpr std::size_t elements = 3000;
  std::mt19937 random(3);
  std::uniform_real_distribution<double> any(-1, 1);
  const Reduction sum = *Reduction::of(ReduceOperation::sum, ElementKind::float64);
  for (const std::size_t ranks : {2u, 3u, 5u, 8u, 12u, 16u, 31u, 64u}) {
    std::vector<std::vector<double>> operands(ranks, std::vector<double>(elements));
    std::vector<const std::byte*> sources;
    for (auto& operand : operands) {
      for (double& value : operand) value = any(random);
      sources.push_back(reinterpret_cast<const std::byte*>(operand.data()));
    }
    std::vector<double> whole(elements);
    std::byte* target[] = {reinterpret_cast<std::byte*>(whole.data())};
    sum.fold(sources, target, elements);
    std::vector<double> in_parts(elements);
    for (std::size_t done = 0; done < elements;) {
      const std::size_t count = std::min<std::size_t>(1 + random() % 300, elements - done);
      std::vector<const std::byte*> part = sources;
      for (const std::byte*& source : part) source += done * sizeof(double);
      std::byte* part_target[] = {reinterpret_cast<std::byte*>(in_parts.data() + done)};
      sum.fold(part, part_target, count);
      done += count;
    }
    ASSERT_EQ(std::memcmp(whole.data(), in_parts.data(), elements * sizeof(double)), 0) << ranks;
  }
}

TEST(Reduction, names_itself_alike_everywhere) {
  const auto one = Reduction::of(ReduceOperation::max, ElementKind::int8);
  const auto other = Reduction::of(ReduceOperation::max, ElementKind::uint8);
  ASSERT_TRUE(one && other);
  EXPECT_NE(one->code(), 0);
  EXPECT_NE(one->code(), other->code());
  EXPECT_FALSE(Reduction::of(ReduceOperation::bxor, ElementKind::float32));
}

}  // namespace
}  // namespace sluice
