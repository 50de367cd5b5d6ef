// How much of a stream of data a socket is given that its link has not taken yet.
//
// Everything behind it waits for it: when two processes send to each other, the request for the other's data waits for one's own.
// A socket's buffer of 512 KB lasts for 4 ms at 1 Gbit/s, and exchanges of so much went one way after the other. So it is given
// what its link takes in less than a millisecond (TCP_NOTSENT_LOWAT), by the rate that the kernel has measured while the socket
// had more to send. A fast link takes the whole buffer in that time, and needs it, as there is nobody to fill it again in time.
//
// The price: on a busy machine the thread that fills it again gets a processor late, and a slow link may run dry meanwhile. To
// let the limit grow when that had happened gave back most of what the exchanges gain.
//
// Threading: engine lock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

/// What a link usually takes in a second, by samples of the kernel's: their median. Single samples are far too high, as where a
/// shaper lets a burst through at once, or far too low, as where a connection has just begun to send (docs/tcp.md has figures).
class UsualRate {
 public:
  static constexpr std::uint64_t unknown = ~std::uint64_t{0};

  UsualRate() { samples_.fill(unknown); }
  /// With one sample more; `unknown` for the first two.
  [[nodiscard]] std::uint64_t with(std::uint64_t sample);

 private:
  std::array<std::uint64_t, 5> samples_;
  std::size_t next_ = 0;
};

class UnsentLimit {
 public:
  /// Before a frame of a stream is given to the socket. Asks the kernel now and then, and tells it what follows.
  void adjust(int socket);
  /// Bytes for a link of so many in a second; 0: no limit.
  [[nodiscard]] static std::uint32_t bytes_for(std::uint64_t bytes_per_second);

 private:
  void set(int socket, std::uint32_t bytes);

  std::uint32_t bytes_ = 0;  // that the kernel knows
  UsualRate rate_;
  std::uint64_t look_at_ns_ = 0;
};

}  // namespace sluice
