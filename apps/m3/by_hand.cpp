// Master and slaves as somebody would write them who knows how to hide messages: slices travel in pieces, which a slave
// multiplies and returns one by one, and the next matrix is on its way meanwhile. Two of everything, so that one can be filled
// while the other is used.
#include <algorithm>
#include <array>

#include "apps/m3/roles.hpp"

namespace m3 {

namespace {

/// Multiplications between two looks at the messages, some ten microseconds.
constexpr std::size_t multiplications_between_looks = 65536;

std::size_t rows_per_piece(const Options& options) {
  return std::max<std::size_t>(1, apps::bytes_of_piece / (options.size * sizeof(double)));
}

/// Calls `take` with the pieces of a part, in order.
template <class Take>
void each_piece(const Options& options, apps::Part part, Take take) {
  const std::size_t piece = rows_per_piece(options);
  for (std::size_t done = 0; done < part.count; done += piece) take({part.first + done, std::min(piece, part.count - done)});
}

/// Matrices that are used in turn, and what is under way from or to each of them.
struct Buffer {
  std::vector<double> values;
  apps::Requests requests;
};
using Buffers = std::array<Buffer, 2>;

Buffers make_buffers(std::size_t numbers) {
  return {Buffer{std::vector<double>(numbers), {}}, Buffer{std::vector<double>(numbers), {}}};
}

Buffer& of(Buffers& buffers, int iteration) { return buffers[static_cast<std::size_t>(iteration) % 2]; }

}  // namespace

void Master::run_by_hand() {
  const auto count = [&](apps::Part piece) { return static_cast<int>(piece.count * options_.size); };
  Buffers matrices = make_buffers(options_.rows * options_.size);
  Buffers products = make_buffers(options_.rows * options_.size);
  const auto finish = [&](int iteration) {
    of(products, iteration).requests.wait();
    digest(of(products, iteration).values);
  };
  for (int iteration = 0; iteration < options_.iterations; ++iteration) {
    Buffer& matrix = of(matrices, iteration);
    Buffer& product = of(products, iteration);
    matrix.requests.wait();
    Generator source = source_of(iteration);
    for (int slave = 1; slave <= slaves_; ++slave) {
      each_piece(options_, apps::part_of(options_.rows, slave - 1, slaves_), [&](apps::Part piece) {
        const std::size_t start = piece.first * options_.size;
        computing_.time([&] { fill_random(matrix.values.data() + start, piece.count * options_.size, source); });
        MPI_Irecv(product.values.data() + start, count(piece), MPI_DOUBLE, slave, 0, MPI_COMM_WORLD, product.requests.add());
        MPI_Isend(matrix.values.data() + start, count(piece), MPI_DOUBLE, slave, 0, MPI_COMM_WORLD, matrix.requests.add());
        of(products, iteration + 1).requests.progress();
      });
    }
    if (iteration > 0) finish(iteration - 1);
  }
  if (options_.iterations > 0) finish(options_.iterations - 1);
  for (Buffer& matrix : matrices) matrix.requests.wait();
}

void Slave::run_by_hand() {
  const apps::Part all{0, part_.count};
  const std::size_t rows_between_looks =
      std::max<std::size_t>(1, multiplications_between_looks / (options_.size * options_.size));
  Buffers products = make_buffers(part_.count * options_.size);
  std::array<std::vector<double>, 2> slices;
  for (auto& slice : slices) slice.resize(part_.count * options_.size);
  std::array<std::vector<apps::Requests>, 2> arrivals;  // one for each piece
  const auto index = [](int iteration) { return static_cast<std::size_t>(iteration) % 2; };
  const auto receive = [&](int iteration) {
    arrivals[index(iteration)].clear();
    each_piece(options_, all, [&](apps::Part piece) {
      MPI_Irecv(slices[index(iteration)].data() + piece.first * options_.size, static_cast<int>(piece.count * options_.size),
                MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, arrivals[index(iteration)].emplace_back().add());
    });
  };
  const auto progress = [&] {
    for (Buffer& product : products) product.requests.progress();
  };

  if (options_.iterations > 0) receive(0);
  for (int iteration = 0; iteration < options_.iterations; ++iteration) {
    if (iteration + 1 < options_.iterations) receive(iteration + 1);
    Buffer& product = of(products, iteration);
    product.requests.wait();
    auto arrival = arrivals[index(iteration)].begin();
    each_piece(options_, all, [&](apps::Part piece) {
      (arrival++)->wait();
      for (std::size_t row = piece.first; row < piece.first + piece.count; row += rows_between_looks) {
        const std::size_t rows = std::min(rows_between_looks, piece.first + piece.count - row);
        computing_.time([&] {
          multiply(slices[index(iteration)].data() + row * options_.size, rows, transposed_, options_.size,
                   product.values.data() + row * options_.size);
        });
        progress();
      }
      MPI_Isend(product.values.data() + piece.first * options_.size, static_cast<int>(piece.count * options_.size), MPI_DOUBLE, 0,
                0, MPI_COMM_WORLD, product.requests.add());
    });
  }
  for (Buffer& product : products) product.requests.wait();
}

}  // namespace m3
