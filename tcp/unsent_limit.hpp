// How much of a stream of data a socket is given that its link has not taken yet.
//
// Everything behind it waits for it: when two processes send to each other, the request for the other's data waits for one's own.
// A socket's buffer of 512 KB lasts for 4 ms at 1 Gbit/s, and exchanges of so much went one way after the other. So it is given
// what its link takes in less than a millisecond (TCP_NOTSENT_LOWAT), by the rate that the kernel has measured. A fast link takes
// the whole buffer in that time, and needs it, as there is nobody to fill it again in time.
//
// The price: on a busy machine the thread that fills it again gets a processor late, and a slow link may run dry meanwhile. To
// let the limit grow when that had happened gave back most of what the exchanges gain.
//
// Threading: engine lock.
#pragma once

#include <cstdint>

namespace sluice {

class UnsentLimit {
 public:
  /// Before a frame of a stream is given to the socket. Asks the kernel now and then, and tells it what follows.
  void adjust(int socket);
  /// Bytes for a link of so many in a second; 0: no limit.
  [[nodiscard]] static std::uint32_t bytes_for(std::uint64_t bytes_per_second);

 private:
  void set(int socket, std::uint32_t bytes);

  static constexpr std::uint64_t unknown = ~std::uint64_t{0};

  std::uint32_t bytes_ = 0;  // that the kernel knows
  std::uint64_t last_rate_ = unknown;
  std::uint64_t look_at_ns_ = 0;
};

}  // namespace sluice
