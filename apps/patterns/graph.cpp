// The search of the Graph500 benchmark, level by level, as its simple reference implementation does it. Who meets an edge to a
// vertex of another rank puts it into that rank's buffer; full buffers leave without blocking, while others' come in. Receivers
// do not know whose comes next, nor how much. An empty message ends a rank's level.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "apps/patterns/edges.hpp"
#include "apps/patterns/pattern.hpp"

namespace patterns {

namespace {

constexpr int checker = 0;
constexpr std::size_t vertices_of_pair = 2;

/// Buffers for every other rank, of which each waits here until the one before it has left.
class Outgoing {
 public:
  Outgoing(int ranks, std::size_t pairs) : room_(pairs * vertices_of_pair), buffers_(static_cast<std::size_t>(ranks)) {}

  void use(MPI_Comm comm) { comm_ = comm; }

  /// False while the buffer is on its way.
  bool add(int target, Edge edge) {
    Buffer& buffer = at(target);
    if (!has_left(buffer)) return false;
    buffer.filled.push_back(edge.to);
    buffer.filled.push_back(edge.from);
    if (buffer.filled.size() == room_) send(target);
    return true;
  }
  /// The same of what is left, and of the empty message that ends the level.
  bool flush(int target) {
    Buffer& buffer = at(target);
    if (!has_left(buffer)) return false;
    if (!buffer.filled.empty()) send(target);
    return true;
  }
  bool end_level(int target) {
    if (!has_left(at(target))) return false;
    send(target);
    return true;
  }
  bool have_all_left() {
    return std::all_of(buffers_.begin(), buffers_.end(), [](Buffer& buffer) { return has_left(buffer); });
  }

 private:
  struct Buffer {
    std::vector<Vertex> filled;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  Buffer& at(int target) { return buffers_[static_cast<std::size_t>(target)]; }

  static bool has_left(Buffer& buffer) {
    if (buffer.request == MPI_REQUEST_NULL) return true;
    int done = 0;
    MPI_Test(&buffer.request, &done, MPI_STATUS_IGNORE);
    if (done != 0) buffer.filled.clear();
    return done != 0;
  }
  void send(int target) {
    Buffer& buffer = at(target);
    MPI_Isend(buffer.filled.data(), static_cast<int>(buffer.filled.size()), MPI_INT64_T, target, 0, comm_, &buffer.request);
  }

  std::size_t room_;  // values
  std::vector<Buffer> buffers_;
  MPI_Comm comm_ = MPI_COMM_NULL;
};

class Graph : public Pattern {
 public:
  Graph(apps::World world, const Problem& problem)
      : world_(world),
        edges_(vertices_of(problem, world)),
        adjacency_(edges_, world.rank, world.ranks),
        outgoing_(world.ranks, problem.pairs),
        incoming_(problem.pairs * vertices_of_pair),
        parents_(adjacency_.vertices()),
        levels_(adjacency_.vertices()) {
    if (world.rank == checker) whole_.emplace(edges_, 0, 1);
  }

  void prepare(int trial) override {
    std::fill(parents_.begin(), parents_.end(), no_vertex);
    std::fill(levels_.begin(), levels_.end(), no_vertex);
    root_ = edges_.root(trial);
    level_ = 0;
    reached_.clear();
    if (owner(root_) == world_.rank) reach(index(root_), root_);
  }

  void run(MPI_Comm comm, apps::Look /*look*/) override {
    comm_ = comm;
    outgoing_.use(comm);
    for (bool goes_on = true; goes_on;) {
      ++level_;
      search_level();
      const auto mine = static_cast<std::int64_t>(reached_.size());
      std::int64_t all = 0;
      MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, comm);
      goes_on = all != 0;
    }
  }

  /// By the levels of a search in one process. Parents may be others, but each is one level nearer, and a neighbour.
  [[nodiscard]] bool correct(int /*trial*/) const override {
    const std::vector<Vertex> parents = gathered(parents_);
    const std::vector<Vertex> levels = gathered(levels_);
    if (world_.rank != checker) return true;
    if (levels != levels_from(root_, *whole_)) return false;
    const auto is_right = [&](Vertex vertex) {
      const auto place = static_cast<std::size_t>(vertex);
      const Vertex parent = parents[place];
      if (levels[place] <= 0) return parent == (levels[place] == 0 ? root_ : no_vertex);
      if (parent < 0 || static_cast<std::size_t>(parent) >= levels.size()) return false;
      const std::span<const Vertex> known = whole_->neighbours(place);
      return levels[static_cast<std::size_t>(parent)] == levels[place] - 1 &&
             std::find(known.begin(), known.end(), parent) != known.end();
    };
    bool right = true;
    for (std::size_t vertex = 0; vertex < parents.size(); ++vertex) right &= is_right(static_cast<Vertex>(vertex));
    return right;
  }

 private:
  [[nodiscard]] int owner(Vertex vertex) const { return static_cast<int>(vertex % world_.ranks); }
  [[nodiscard]] std::size_t index(Vertex vertex) const { return static_cast<std::size_t>(vertex / world_.ranks); }
  [[nodiscard]] Vertex vertex_at(std::size_t index) const { return static_cast<Vertex>(index) * world_.ranks + world_.rank; }

  void reach(std::size_t index, Vertex parent) {
    if (parents_[index] != no_vertex) return;
    parents_[index] = parent;
    levels_[index] = level_;
    reached_.push_back(index);
  }

  void search_level() {
    std::vector<std::size_t> former;
    former.swap(reached_);
    ranks_at_it_ = world_.ranks - 1;
    receive_next();
    for (const std::size_t index : former) {
      look_around();
      const Vertex vertex = vertex_at(index);
      for (const Vertex neighbour : adjacency_.neighbours(index)) {
        const int target = owner(neighbour);
        if (target == world_.rank) {
          reach(this->index(neighbour), vertex);
        } else {
          until([&] { return outgoing_.add(target, {vertex, neighbour}); });
        }
      }
    }
    for (int step = 1; step < world_.ranks; ++step) {
      const int target = (world_.rank + step) % world_.ranks;
      until([&] { return outgoing_.flush(target); });
      until([&] { return outgoing_.end_level(target); });
    }
    until([&] { return ranks_at_it_ == 0 && outgoing_.have_all_left(); });
  }

  /// Meanwhile what comes in is taken, or nobody would get on.
  template <class Done>
  void until(Done is_done) {
    while (!is_done()) look_around();
  }

  void receive_next() {
    if (ranks_at_it_ == 0) return;
    MPI_Irecv(incoming_.data(), static_cast<int>(incoming_.size()), MPI_INT64_T, MPI_ANY_SOURCE, 0, comm_, &receive_);
  }

  void look_around() {
    while (receive_ != MPI_REQUEST_NULL) {
      int done = 0;
      MPI_Status status;
      MPI_Test(&receive_, &done, &status);
      if (done == 0) return;
      int count = 0;
      MPI_Get_count(&status, MPI_INT64_T, &count);
      if (count == 0) --ranks_at_it_;
      const std::span<const Vertex> pairs = std::span(incoming_).first(static_cast<std::size_t>(count));
      for (std::size_t at = 0; at < pairs.size(); at += vertices_of_pair) reach(index(pairs[at]), pairs[at + 1]);
      receive_next();
    }
  }

  /// Of all vertices, in their order, on the rank that checks. Collective.
  [[nodiscard]] std::vector<Vertex> gathered(const std::vector<Vertex>& mine) const {
    const bool checks = world_.rank == checker;
    const auto ranks = static_cast<std::size_t>(world_.ranks);
    std::vector<int> counts(ranks);
    std::vector<int> first(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      counts[rank] = static_cast<int>((edges_.vertices() + ranks - 1 - rank) / ranks);
      first[rank] = rank == 0 ? 0 : first[rank - 1] + counts[rank - 1];
    }
    std::vector<Vertex> parts(checks ? edges_.vertices() : 0);
    MPI_Gatherv(mine.data(), static_cast<int>(mine.size()), MPI_INT64_T, parts.data(), counts.data(), first.data(), MPI_INT64_T,
                checker, MPI_COMM_WORLD);
    std::vector<Vertex> all(parts.size());
    for (std::size_t vertex = 0; vertex < all.size(); ++vertex) {
      all[vertex] = parts[static_cast<std::size_t>(first[vertex % ranks]) + vertex / ranks];
    }
    return all;
  }

  apps::World world_;
  Edges edges_;
  Adjacency adjacency_;
  std::optional<Adjacency> whole_;  // on the rank that checks
  Outgoing outgoing_;
  std::vector<Vertex> incoming_;
  std::vector<Vertex> parents_;       // of this rank's vertices
  std::vector<Vertex> levels_;        // likewise
  std::vector<std::size_t> reached_;  // in this level; indices of this rank's vertices
  Vertex root_ = no_vertex;
  Vertex level_ = 0;
  int ranks_at_it_ = 0;  // those whose level is not over
  MPI_Request receive_ = MPI_REQUEST_NULL;
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace

std::unique_ptr<Pattern> graph(apps::World world, const Problem& problem) { return std::make_unique<Graph>(world, problem); }

}  // namespace patterns
