// The 3-D stencil of the cooperative-rendezvous paper (section IV-C): every rank has a block of the field, and exchanges its
// faces with six neighbours before each step.
#include <mpi.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "apps/stencil/block.hpp"
#include "apps/stencil/halo.hpp"
#include "apps/stencil/options.hpp"
#include "apps/support/grid.hpp"

namespace {

stencil::Place origin_of(const apps::Grid& grid, std::size_t cells) {
  stencil::Place origin = grid.place();
  for (std::size_t& number : origin) number *= cells;
  return origin;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const apps::World world = apps::world();
  const stencil::Options options = stencil::parse_options(argc, argv, world);
  const apps::Grid grid(world);
  stencil::Block block(options.cells, options.variables, origin_of(grid, options.cells));
  stencil::Halo halo(grid, block.face_values());

  const apps::Operation exchange{
      .prepare =
          [&](int) {
            for (const stencil::Face face : stencil::faces) {
              if (grid.neighbour(face) == MPI_PROC_NULL) block.set_boundary(face);
            }
            halo.pack(block);
          },
      .run = [&](MPI_Comm comm, apps::Look look) { halo.exchange(comm, look); },
      .correct =
          [&](int) {
            halo.unpack(block);
            block.step();
            return block.ghosts_were_correct();
          },
  };
  if (world.rank == 0) {
    const std::array<int, 3>& ranks = grid.dimensions();
    std::printf("stencil: %d x %d x %d ranks, %d steps\n", ranks[0], ranks[1], ranks[2], options.steps.trials);
  }
  apps::try_often(exchange, options.steps, "stencil", block.face_values() * sizeof(double));
  if (!block.correct()) apps::wrong_result("stencil", options.steps.trials);
  MPI_Finalize();
  return EXIT_SUCCESS;
}
