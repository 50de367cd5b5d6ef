// Random matrices, and the product with a transposed one. Knows nothing of MPI.
#pragma once

#include <cstddef>
#include <random>
#include <vector>

namespace m3 {

/// What the inner loop takes at once.
constexpr std::size_t size_multiple = 4;

using Generator = std::mt19937_64;

/// Normally distributed numbers, the next ones of a sequence.
void fill_random(double* values, std::size_t count, Generator& generator);

/// Rows of A times B: `transposed` has the columns of B, `size` by `size`, one after the other. Each number of the result is
/// formed in the same order, however many rows there are.
void multiply(const double* rows, std::size_t count, const std::vector<double>& transposed, std::size_t size, double* result);

}  // namespace m3
