// The communication patterns of the cooperative-rendezvous paper's section IV, by point-to-point calls, as MPI libraries write
// them inside of their collectives, and two that pairs of ranks have. Rank 0 is the root. What a rank has for itself is not
// copied. And those of its section V: the exchanges of three programs, with what these compute between them. Any number of ranks
// has these; rank 0 computes the same by itself between trials.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>

#include "apps/patterns/options.hpp"
#include "apps/support/job.hpp"
#include "apps/support/payload.hpp"

namespace patterns {

/// Has the buffers of this rank. Members are called by all ranks alike.
class Pattern {
 public:
  Pattern() = default;
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;
  virtual ~Pattern() = default;

  /// Writes what this rank contributes to this trial.
  virtual void prepare(int trial) = 0;
  /// Ends when what this rank received has been looked at.
  virtual void run(MPI_Comm comm, apps::Look look) = 0;
  /// Whether all bits received are right.
  [[nodiscard]] virtual bool correct(int trial) const = 0;
};

/// One to all: the root sends to all without blocking, the others receive blocking. `bytes` for each.
std::unique_ptr<Pattern> scatter(apps::World world, std::size_t bytes);
/// All to one: the others send blocking, the root receives from all without blocking. `bytes` from each.
std::unique_ptr<Pattern> gather(apps::World world, std::size_t bytes);
/// Sums of vectors of doubles on the root: every rank adds up one part of them, which the others send it (one to all, from each
/// rank), and the root collects the parts (all to one). `bytes`: of a vector.
std::unique_ptr<Pattern> reduce(apps::World world, std::size_t bytes);
/// A pipeline along the ranks: each passes on a segment as soon as it has it. `bytes` altogether.
std::unique_ptr<Pattern> broadcast(apps::World world, std::size_t bytes, std::size_t segment);
/// Each rank of a pair (0 and 1, 2 and 3, ...) sends to the other one and receives from it at once. `bytes` each way.
std::unique_ptr<Pattern> exchange(apps::World world, std::size_t bytes);
/// The first of a pair sends, and the second one sends back what came; blocking calls, one buffer. `bytes` each way.
std::unique_ptr<Pattern> echo(apps::World world, std::size_t bytes);

/// Graph500: a search of a graph, from another root in each trial.
std::unique_ptr<Pattern> graph(apps::World world, const Problem& problem);
/// CoMD: steps of the atoms of a metal.
std::unique_ptr<Pattern> comd(apps::World world, const Problem& problem);
/// MiniGhost: steps of a stencil on several variables.
std::unique_ptr<Pattern> ghost(apps::World world, const Problem& problem);

}  // namespace patterns
