// The graph of the Graph500 benchmark: edges drawn from a Kronecker product, so that few vertices have most of them. Every rank
// can draw each edge by its number alone, so that nobody sends a graph, and one process can check what all have found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace patterns {

using Vertex = std::int64_t;
inline constexpr Vertex no_vertex = -1;

inline constexpr std::size_t edges_of_vertex = 16;  // edge factor of the benchmark, and of the paper

struct Edge {
  Vertex from;
  Vertex to;
};

class Edges {
 public:
  explicit Edges(std::size_t vertices);

  [[nodiscard]] std::size_t vertices() const { return vertices_; }
  [[nodiscard]] std::size_t count() const { return vertices_ * edges_of_vertex; }
  [[nodiscard]] Edge edge(std::size_t number) const;
  /// Where the search of this trial begins: a vertex that has an edge to another one.
  [[nodiscard]] Vertex root(int trial) const;

 private:
  [[nodiscard]] Vertex scrambled(std::uint64_t label) const;

  std::size_t vertices_;
  unsigned levels_ = 0;  // of the product
};

/// Neighbours of those vertices whose number modulo `parts` is `part`.
class Adjacency {
 public:
  Adjacency(const Edges& edges, int part, int parts);

  [[nodiscard]] std::size_t vertices() const { return first_.size() - 1; }
  /// `index`: of the vertex among those of this part.
  [[nodiscard]] std::span<const Vertex> neighbours(std::size_t index) const {
    return std::span(neighbours_).subspan(first_[index], first_[index + 1] - first_[index]);
  }

 private:
  std::vector<std::size_t> first_;  // of each vertex's neighbours
  std::vector<Vertex> neighbours_;
};

/// How far each vertex is from the root, of a whole graph; no_vertex: it is not reached.
std::vector<Vertex> levels_from(Vertex root, const Adjacency& whole);

}  // namespace patterns
