#include "tools/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "tools/interruption.hpp"

namespace sluice {

namespace {

constexpr std::chrono::milliseconds interval{200};

}  // namespace

Progress::Progress(std::string what, std::size_t total)
    : what_(std::move(what)), total_(std::max<std::size_t>(total, 1)), shown_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (shown_) fmt::print(stderr, "\r\033[K");
}

void Progress::look() {
  check_for_interruption();
  if (!shown_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + interval;
  fmt::print(stderr, "\r{}: {} %\033[K", what_, std::min<std::size_t>(100 * done_ / total_, 100));
  std::fflush(stderr);
}

}  // namespace sluice
