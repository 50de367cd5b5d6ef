#include "apps/npb/fft.hpp"

#include <numbers>
#include <utility>

namespace npb {

Fft::Fft(std::size_t length) : reversed_(length), roots_(length / 2) {
  for (std::size_t place = 0; place < length; ++place) {
    reversed_[place] = reversed_[place / 2] / 2 + (place % 2) * (length / 2);
  }
  for (std::size_t place = 0; place < roots_.size(); ++place) {
    roots_[place] = std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(place) / static_cast<double>(length));
  }
}

void Fft::transform(std::span<Complex> line, Direction direction) const {
  const std::size_t length = reversed_.size();
  for (std::size_t place = 0; place < length; ++place) {
    if (place < reversed_[place]) std::swap(line[place], line[reversed_[place]]);
  }
  for (std::size_t half = 1; half < length; half *= 2) {
    const std::size_t stride = length / (2 * half);
    for (std::size_t begin = 0; begin < length; begin += 2 * half) {
      for (std::size_t place = 0; place < half; ++place) {
        const Complex root = roots_[place * stride];
        const double imaginary = direction == Direction::forward ? root.imag() : -root.imag();
        Complex& low = line[begin + place];
        Complex& high = line[begin + place + half];
        // By hand: the library's product looks for infinities.
        const Complex turned{high.real() * root.real() - high.imag() * imaginary,
                             high.real() * imaginary + high.imag() * root.real()};
        high = low - turned;
        low += turned;
      }
    }
  }
}

}  // namespace npb
