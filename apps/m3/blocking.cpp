// Master and slaves as in the paper: one message for a slice, whole slices are waited for.
#include <array>

#include "apps/m3/roles.hpp"
#include "apps/support/hash.hpp"

namespace m3 {

Generator source_of(int iteration) { return Generator(static_cast<std::uint64_t>(iteration)); }

Master::Master(const Options& options, apps::World world)
    : options_(options), slaves_(world.ranks - 1), results_(apps::hash_start) {}

void Master::run() { options_.by_hand ? run_by_hand() : run_blocking(); }

/// The last product is looked at while the slaves work on the next.
void Master::run_blocking() {
  std::vector<double> matrix(options_.rows * options_.size);
  std::array<std::vector<double>, 2> products{matrix, matrix};
  for (int iteration = 0; iteration < options_.iterations; ++iteration) {
    const auto turn = static_cast<std::size_t>(iteration) % products.size();
    apps::Requests receives;
    post_receives(products[turn], receives);
    Generator source = source_of(iteration);
    computing_.time([&] { fill_random(matrix.data(), matrix.size(), source); });
    send_slices(matrix);
    if (iteration > 0) digest(products[1 - turn]);
    receives.wait();
  }
  if (options_.iterations > 0) digest(products[static_cast<std::size_t>(options_.iterations - 1) % products.size()]);
}

void Master::send_slices(const std::vector<double>& matrix) {
  for (int slave = 1; slave <= slaves_; ++slave) {
    const apps::Part part = apps::part_of(options_.rows, slave - 1, slaves_);
    MPI_Send(matrix.data() + part.first * options_.size, static_cast<int>(part.count * options_.size), MPI_DOUBLE, slave, 0,
             MPI_COMM_WORLD);
  }
}

void Master::post_receives(std::vector<double>& product, apps::Requests& receives) const {
  for (int slave = 1; slave <= slaves_; ++slave) {
    const apps::Part part = apps::part_of(options_.rows, slave - 1, slaves_);
    MPI_Irecv(product.data() + part.first * options_.size, static_cast<int>(part.count * options_.size), MPI_DOUBLE, slave, 0,
              MPI_COMM_WORLD, receives.add());
  }
}

void Master::digest(const std::vector<double>& product) { results_ = apps::mix(results_, product.data(), product.size()); }

Slave::Slave(const Options& options, apps::World world, const std::vector<double>& transposed)
    : options_(options), part_(apps::part_of(options.rows, world.rank - 1, world.ranks - 1)), transposed_(transposed) {}

/// The receive of the next slice is posted before this one is multiplied.
void Slave::run_blocking() {
  std::vector<double> product(part_.count * options_.size);
  std::array<std::vector<double>, 2> slices{product, product};
  std::array<apps::Requests, 2> arrivals;
  const auto count = static_cast<int>(product.size());
  const auto receive = [&](std::size_t turn) {
    MPI_Irecv(slices[turn].data(), count, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, arrivals[turn].add());
  };
  if (options_.iterations > 0) receive(0);
  for (int iteration = 0; iteration < options_.iterations; ++iteration) {
    const auto turn = static_cast<std::size_t>(iteration) % slices.size();
    arrivals[turn].wait();
    if (iteration + 1 < options_.iterations) receive(1 - turn);
    computing_.time([&] { multiply(slices[turn].data(), part_.count, transposed_, options_.size, product.data()); });
    MPI_Send(product.data(), count, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
  }
}

}  // namespace m3
