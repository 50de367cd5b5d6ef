#include "apps/patterns/edges.hpp"

#include <bit>

namespace patterns {

namespace {

// Of the benchmark: where in a quarter of the matrix an edge lies, in percent.
constexpr std::uint64_t upper_left = 57;
constexpr std::uint64_t upper_right = 19;
constexpr std::uint64_t lower_left = 19;
constexpr std::uint64_t percent = 100;

/// splitmix64 of a number: as good as drawn by chance.
std::uint64_t drawn(std::uint64_t number) {
  number += 0x9e3779b97f4a7c15U;
  number = (number ^ (number >> 30U)) * 0xbf58476d1ce4e5b9U;
  number = (number ^ (number >> 27U)) * 0x94d049bb133111ebU;
  return number ^ (number >> 31U);
}

}  // namespace

Edges::Edges(std::size_t vertices) : vertices_(vertices), levels_(static_cast<unsigned>(std::bit_width(vertices - 1))) {}

Edge Edges::edge(std::size_t number) const {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  for (unsigned level = 0; level < levels_; ++level) {
    const std::uint64_t chance = drawn(number * 64 + level) % percent;
    const bool lower = chance >= upper_left + upper_right;
    const bool right = lower ? chance >= upper_left + upper_right + lower_left : chance >= upper_left;
    from = from * 2 + (lower ? 1 : 0);
    to = to * 2 + (right ? 1 : 0);
  }
  return {scrambled(from), scrambled(to)};
}

/// Another label, so that no part has the vertices with most edges. A product that is larger than the graph is folded.
Vertex Edges::scrambled(std::uint64_t label) const {
  const std::uint64_t mask = (std::uint64_t{1} << levels_) - 1;
  label = (label * 0x9e3779b97f4a7c15U + 0x3c6ef372U) & mask;
  label ^= label >> (levels_ / 2 + 1);
  return static_cast<Vertex>(((label * 0xbf58476d1ce4e5b9U) & mask) % vertices_);
}

Vertex Edges::root(int trial) const {
  for (std::uint64_t number = drawn(static_cast<std::uint64_t>(trial));; ++number) {
    if (const Edge one = edge(number % count()); one.from != one.to) return one.from;
  }
}

Adjacency::Adjacency(const Edges& edges, int part, int parts)
    : first_((edges.vertices() + static_cast<std::size_t>(parts - part) - 1) / static_cast<std::size_t>(parts) + 1) {
  const auto for_each = [&](auto visit) {
    for (std::size_t number = 0; number < edges.count(); ++number) {
      const auto [from, to] = edges.edge(number);
      if (from == to) continue;
      if (from % parts == part) visit(static_cast<std::size_t>(from / parts), to);
      if (to % parts == part) visit(static_cast<std::size_t>(to / parts), from);
    }
  };
  for_each([&](std::size_t index, Vertex) { ++first_[index + 1]; });
  for (std::size_t index = 0; index + 1 < first_.size(); ++index) first_[index + 1] += first_[index];
  neighbours_.resize(first_.back());
  std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
  for_each([&](std::size_t index, Vertex neighbour) { neighbours_[next[index]++] = neighbour; });
}

std::vector<Vertex> levels_from(Vertex root, const Adjacency& whole) {
  std::vector<Vertex> levels(whole.vertices(), no_vertex);
  levels[static_cast<std::size_t>(root)] = 0;
  std::vector<Vertex> queue{root};
  for (std::size_t done = 0; done < queue.size(); ++done) {
    const auto vertex = static_cast<std::size_t>(queue[done]);
    for (const Vertex neighbour : whole.neighbours(vertex)) {
      Vertex& level = levels[static_cast<std::size_t>(neighbour)];
      if (level != no_vertex) continue;
      level = levels[vertex] + 1;
      queue.push_back(neighbour);
    }
  }
  return levels;
}

}  // namespace patterns
