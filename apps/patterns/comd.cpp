// The exchanges of the proxy application CoMD, with embedded atoms. Before each look at the neighbours, atoms at a block's six
// faces go to the ranks beyond, with those that have left by it: one axis after the other, both ways, by MPI_Sendrecv. How many
// come, nobody knows before. What follows from their densities goes the same ways. Energies are summed up now and then.
#include <mpi.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <vector>

#include "apps/patterns/atom_block.hpp"
#include "apps/patterns/crystal.hpp"
#include "apps/patterns/pattern.hpp"
#include "apps/support/grid.hpp"

namespace patterns {

namespace {

constexpr int checker = 0;
constexpr std::size_t ends = 2;  // of an axis

class Comd : public Pattern {
 public:
  Comd(apps::World world, const Problem& problem) : problem_(problem), grid_(world), block_(grid_, whole_of(problem, grid_)) {
    if (world.rank == checker) crystal_.emplace(whole_of(problem, grid_));
    for (std::vector<Atom>& atoms : incoming_atoms_) atoms.resize(block_.atoms_of_face());
    for (std::vector<double>& slopes : incoming_slopes_) slopes.resize(block_.atoms_of_face());
  }

  void prepare(int /*trial*/) override {}

  void run(MPI_Comm comm, apps::Look /*look*/) override {
    for (int step = 0; step < problem_.steps; ++step) {
      block_.move();
      exchange_atoms(comm);
      block_.settle();
      block_.find_slopes();
      exchange_slopes(comm);
      block_.push();
      if (++steps_ % problem_.interval == 0) sum_energies(comm);
    }
  }

  /// The same steps in one process. What a rank has of the atoms is told by a sum of hashes.
  [[nodiscard]] bool correct(int /*trial*/) const override {
    std::uint64_t mine = 0;
    for (const Atom& atom : block_.own()) mine += hash_of(atom);
    std::uint64_t all = 0;
    MPI_Reduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, checker, MPI_COMM_WORLD);
    return !crystal_ || crystal_agrees(all);
  }

 private:
  template <class Value>
  using Both = std::array<std::vector<Value>, ends>;  // lower and upper

  /// To the neighbour beyond the face, while as much comes from that beyond the other one. How many values.
  template <class Value>
  std::size_t exchange(apps::Face face, const std::vector<Value>& outgoing, std::vector<Value>& incoming, MPI_Comm comm) const {
    MPI_Status status;
    MPI_Sendrecv(outgoing.data(), static_cast<int>(outgoing.size() * sizeof(Value)), MPI_BYTE, grid_.neighbour_around(face),
                 apps::tag_of(face), incoming.data(), static_cast<int>(incoming.size() * sizeof(Value)), MPI_BYTE,
                 grid_.neighbour_around(apps::opposite(face)), apps::tag_of(face), comm, &status);
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    return static_cast<std::size_t>(bytes) / sizeof(Value);
  }

  void exchange_atoms(MPI_Comm comm) {
    for (std::size_t axis = 0; axis < axes; ++axis) {
      for (const bool upper : {false, true}) block_.pack_atoms({axis, upper}, outgoing_atoms_[upper ? 1 : 0]);
      std::array<std::size_t, ends> counts{};
      for (const bool upper : {false, true}) {
        const std::size_t end = upper ? 1 : 0;
        counts[end] = exchange({axis, upper}, outgoing_atoms_[end], incoming_atoms_[end], comm);
      }
      for (std::size_t end = 0; end < ends; ++end) block_.add(std::span(incoming_atoms_[end]).first(counts[end]));
    }
  }

  void exchange_slopes(MPI_Comm comm) {
    for (std::size_t axis = 0; axis < axes; ++axis) {
      for (const bool upper : {false, true}) block_.pack_slopes({axis, upper}, outgoing_slopes_[upper ? 1 : 0]);
      for (const bool upper : {false, true}) {
        const apps::Face face{axis, upper};
        const std::size_t end = upper ? 1 : 0;
        const std::size_t count = exchange(face, outgoing_slopes_[end], incoming_slopes_[end], comm);
        // What leaves by the lower face comes in by the upper one.
        const std::span<const double> slopes = std::span(incoming_slopes_[end]).first(count);
        if (!block_.unpack_slopes(apps::opposite(face), slopes)) lost_atoms(count);
      }
    }
  }

  [[noreturn]] void lost_atoms(std::size_t slopes) const {
    std::fprintf(stderr, "comd: %zu slopes came in step %d for other atoms than there are\n", slopes, steps_);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    std::abort();
  }

  void sum_energies(MPI_Comm comm) {
    Energies mine;
    for (const Atom& atom : block_.own()) mine.add(atom);
    const std::array<double, 2> terms{mine.kinetic, mine.atoms};
    std::array<double, 2> sums{};
    MPI_Allreduce(terms.data(), sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM, comm);
    energies_ = {.kinetic = sums[0], .atoms = sums[1]};
  }

  [[nodiscard]] bool crystal_agrees(std::uint64_t hash) const {
    bool right = true;
    for (int step = steps_ - problem_.steps + 1; step <= steps_; ++step) {
      crystal_->step();
      if (step % problem_.interval == 0) expected_ = crystal_->energies();
    }
    right &= energies_ == expected_;
    return right && hash == crystal_->hash();
  }

  Problem problem_;
  apps::Grid grid_;
  AtomBlock block_;
  Both<Atom> outgoing_atoms_;
  Both<Atom> incoming_atoms_;
  Both<double> outgoing_slopes_;
  Both<double> incoming_slopes_;
  int steps_ = 0;
  Energies energies_;  // summed up last
  // On the rank that checks, one trial behind until it does.
  mutable std::optional<Crystal> crystal_;
  mutable Energies expected_;
};

}  // namespace

std::unique_ptr<Pattern> comd(apps::World world, const Problem& problem) { return std::make_unique<Comd>(world, problem); }

}  // namespace patterns
