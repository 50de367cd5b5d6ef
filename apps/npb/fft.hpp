// The fast Fourier transform of a line whose length is a power of two. Knows nothing of MPI.
#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

namespace npb {

using Complex = std::complex<double>;

class Fft {
 public:
  explicit Fft(std::size_t length);

  enum class Direction : bool { forward, inverse };
  /// In place, without the factor of the inverse, 1 over the length.
  void transform(std::span<Complex> line, Direction direction) const;

 private:
  std::vector<std::size_t> reversed_;  // the places with the order of their bits turned around
  std::vector<Complex> roots_;         // half of the roots of unity
};

}  // namespace npb
