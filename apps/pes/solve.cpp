#include "apps/pes/solve.hpp"

namespace pes {

namespace {

/// By hand: how much is computed between two looks at the messages. A row of this length takes some ten microseconds.
constexpr std::size_t columns_between_looks = 16384;

}  // namespace

Solver::Solver(Field& field, const Options& options, apps::World world)
    : field_(field), options_(options), world_(world), ghosts_(world.rank, world.ranks) {}

void Solver::solve() { options_.by_hand ? solve_by_hand() : solve_blocking(); }

/// Receives are posted before the sweep and waited for after it; the sends are finished after the next sweep, when the rows that
/// they read are about to be overwritten.
void Solver::solve_blocking() {
  for (int iteration = 0; iteration < options_.iterations; ++iteration) {
    ghosts_.post_receives(field_);
    computing_.time([&] {
      field_.sweep();
      repeat(extra_rows(iteration));
    });
    ghosts_.finish_sends();
    field_.advance();
    ghosts_.send(field_);
    ghosts_.finish_receives();
  }
  ghosts_.finish_sends();
}

/// Inner rows need no ghost rows, so they are computed while these are on their way.
void Solver::solve_by_hand() {
  for (int iteration = 0; iteration < options_.iterations; ++iteration) {
    computing_.time([&] { sweep_inner_rows(); });
    ghosts_.finish_receives();
    ghosts_.post_receives_in_pieces(field_);
    computing_.time([&] {
      field_.update(1);
      if (field_.own_rows() > 1) field_.update(field_.own_rows());
      repeat(extra_rows(iteration));
    });
    ghosts_.finish_sends();
    field_.advance();
    ghosts_.send_in_pieces(field_);
  }
  ghosts_.finish_receives();
  ghosts_.finish_sends();
}

void Solver::sweep_inner_rows() {
  std::size_t since_look = 0;
  for (std::size_t index = 2; index < field_.own_rows(); ++index) {
    field_.update(index);
    since_look += field_.columns();
    if (since_look < columns_between_looks) continue;
    ghosts_.progress();
    since_look = 0;
  }
}

/// Rows that this rank computes once more in this iteration.
std::size_t Solver::extra_rows(int iteration) const {
  const int heavy = options_.heavy_rank >= 0 ? options_.heavy_rank : iteration % world_.ranks;
  return world_.rank == heavy ? field_.own_rows() * static_cast<std::size_t>(options_.imbalance) / 100 : 0;
}

/// To the same values.
void Solver::repeat(std::size_t rows) {
  for (std::size_t done = 0; done < rows; ++done) field_.update(1 + done % field_.own_rows());
}

}  // namespace pes
