#include "runtime/policy/read_window.hpp"

namespace sluice {

bool ReadWindow::take(const Wish& wish, std::uint64_t now_ns) {
  if (under_way_ > 0) {
    const std::size_t share = window_ / (chunk() * std::max<std::size_t>(wish.peers, 1));
    const std::size_t reads = std::clamp<std::size_t>(share, 1, most_reads_of_peer);
    if (wish.reads_of_peer >= reads || under_way_ + wish.bytes > window_) {
      wanted_more_ = true;
      return false;
    }
  } else {
    round_begun_ns_ += now_ns - idle_since_ns_;
  }
  under_way_ += wish.bytes;
  round_most_ = std::max(round_most_, under_way_);
  return true;
}

bool ReadWindow::give_back(std::size_t bytes, std::uint64_t posted_ns, std::uint64_t now_ns, bool timely) {
  under_way_ -= bytes;
  if (under_way_ == 0) idle_since_ns_ = now_ns;
  round_bytes_ += bytes;
  if (timely) {
    const std::uint64_t took = now_ns - posted_ns;
    round_least_ns_ = std::min(round_least_ns_, took);
    if (took < quickest_ns_) {
      quickest_ns_ = took;
      quickest_bytes_ = bytes;
    }
  }
  return round_bytes_ >= std::min(window_, round_most_) && end_round(now_ns);
}

/// The quickest read, less the time of its own bytes.
std::uint64_t ReadWindow::undelayed_ns() const {
  if (quickest_ns_ == no_time || most_rate_ == 0) return 0;
  const double own = static_cast<double>(quickest_bytes_) / most_rate_;
  return static_cast<std::uint64_t>(std::max(static_cast<double>(quickest_ns_) - own, 0.0));
}

bool ReadWindow::end_round(std::uint64_t now_ns) {
  if (now_ns > round_begun_ns_) {
    most_rate_ = std::max(most_rate_, static_cast<double>(round_bytes_) / static_cast<double>(now_ns - round_begun_ns_));
  }
  const bool filled = round_most_ >= window_ / 2;
  const bool judged = adapts_ && round_least_ns_ != no_time && (filled || wanted_more_);
  const bool delayed = judged && round_least_ns_ > target_ns();
  const bool shrinks = delayed && window_ > least;
  if (shrinks) {
    const double kept = std::max(0.5, static_cast<double>(target_ns()) / static_cast<double>(round_least_ns_));
    window_ = std::max(static_cast<std::size_t>(static_cast<double>(window_) * kept), least);
  } else if (judged && !delayed && filled && wanted_more_) {
    window_ = std::min(window_ + chunk(), most);
  }
  round_begun_ns_ = now_ns;
  round_bytes_ = 0;
  round_most_ = under_way_;
  round_least_ns_ = no_time;
  wanted_more_ = false;
  return shrinks;
}

}  // namespace sluice
