#include "tcp/unsent_limit.hpp"

#include <linux/tcp.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstddef>

#include "net/system.hpp"
#include "runtime/base/clock.hpp"

namespace sluice {
namespace {

/// 95 KB at 1 Gbit/s. A step of nbody (1024 particles, 512 KB each way, computing included), ms: without a limit 5.9 to 8.0, 256
/// KB 7.4, 192 KB 5.6, 128 KB 4.9 and 5.9, 96 KB 4.8 and 5.0, 64 KB 4.6 and 4.8; by hand 5.2.
constexpr std::uint64_t max_us = 800;
/// A thread that sends is woken when half of it is left.
constexpr std::uint64_t min_bytes = std::uint64_t{64} << 10;
/// Links that take more in that time are fast.
constexpr std::uint64_t max_bytes = std::uint64_t{512} << 10;
constexpr std::uint64_t look_interval_ns = 5'000'000;
/// After a rate that says nothing: it was measured while the socket had nothing more to send.
constexpr std::uint64_t next_try_ns = 1'000'000;

}  // namespace

std::uint64_t UsualRate::with(std::uint64_t sample) {
  samples_[next_++ % samples_.size()] = sample;
  auto sorted = samples_;
  const auto middle = sorted.begin() + sorted.size() / 2;
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

std::uint32_t UnsentLimit::bytes_for(std::uint64_t bytes_per_second) {
  if (bytes_per_second == 0) return 0;  // not known yet
  const std::uint64_t bytes = bytes_per_second / 1'000'000 * max_us;
  return bytes > max_bytes ? 0 : static_cast<std::uint32_t>(std::max(bytes, min_bytes));
}

void UnsentLimit::adjust(int socket) {
  const std::uint64_t now = now_ns();
  if (now < look_at_ns_) return;
  tcp_info info{};  // a kernel or a socket that does not tell leaves zeros
  const bool told = system::get_option(socket, IPPROTO_TCP, TCP_INFO, info) == 0;
  const bool of_the_link = told && info.tcpi_delivery_rate_app_limited == 0;
  look_at_ns_ = now + (of_the_link ? look_interval_ns : next_try_ns);
  if (!of_the_link) return;
  set(socket, bytes_for(rate_.with(info.tcpi_delivery_rate)));
}

void UnsentLimit::set(int socket, std::uint32_t bytes) {
  const std::uint32_t apart = std::max(bytes, bytes_) - std::min(bytes, bytes_);
  if (apart <= bytes_ / 8) return;
  if (system::set_option(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, bytes) == 0) bytes_ = bytes;
}

}  // namespace sluice
