// Keeps the longest of a stream of pieces, and hands the others on as they fall behind. Of equally long ones those are kept that
// a hash prefers, so that they come from everywhere in the trace. Memory: twice what is kept at most.
//
// Threading: one thread for each object.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sluice::timeline {

/// `Piece` has length_ns(), and identity(): a number that differs from those of its neighbours.
template <class Piece>
class Longest {
 public:
  explicit Longest(std::size_t max_kept) : max_(max_kept) {}

  /// Calls left_out(piece) for each that is too many.
  template <class LeaveOut>
  void add(const Piece& piece, LeaveOut&& leave_out) {
    if (rank_of(piece) < longest_left_out_) {
      ++left_out_;
      leave_out(piece);
      return;
    }
    kept_.push_back(piece);
    if (kept_.size() >= 2 * max_ + 1) cut(leave_out);
  }

  /// When there are no more.
  template <class LeaveOut>
  std::vector<Piece>& finish(LeaveOut&& leave_out) {
    if (kept_.size() > max_) cut(leave_out);
    return kept_;
  }

  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }
  /// No piece that was left out is longer than this; 0 when none was.
  [[nodiscard]] std::uint64_t longest_left_out_ns() const { return longest_left_out_.first; }

 private:
  using Rank = std::pair<std::uint64_t, std::uint64_t>;

  static Rank rank_of(const Piece& piece) {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // spreads neighbours; any odd number does
    const std::uint64_t hash = (piece.identity() ^ piece.identity() >> 32) * odd;
    return {piece.length_ns(), (hash ^ hash >> 29) * odd};
  }

  template <class LeaveOut>
  void cut(LeaveOut& leave_out) {
    const auto last = kept_.begin() + static_cast<std::ptrdiff_t>(max_);
    std::nth_element(kept_.begin(), last, kept_.end(), [](const Piece& a, const Piece& b) { return rank_of(a) > rank_of(b); });
    longest_left_out_ = std::max(longest_left_out_, rank_of(*last));
    for (auto piece = last; piece != kept_.end(); ++piece) leave_out(*piece);
    left_out_ += static_cast<std::uint64_t>(kept_.end() - last);
    kept_.erase(last, kept_.end());
  }

  std::size_t max_;
  std::vector<Piece> kept_;
  Rank longest_left_out_{};
  std::uint64_t left_out_ = 0;
};

}  // namespace sluice::timeline
