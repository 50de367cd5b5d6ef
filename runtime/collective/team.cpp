#include "runtime/collective/team.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

Team::Team(std::vector<Member> members, Rank self, std::uint64_t first)
    : members_(std::move(members)), self_(static_cast<std::size_t>(self)), number_(first - 1), done_by_all_(number_) {}

bool Team::all_have_done(std::uint64_t number) {
  if (done_by_all_ >= number) return true;
  std::uint64_t least = number_;
  for (std::size_t member = 0; member < members_.size(); ++member) {
    if (member != self_) least = std::min(least, done_by(member));
    if (least < number) return false;
  }
  done_by_all_ = least;
  return true;
}

bool Team::has_done(std::size_t member, std::uint64_t number) {
  if (done_by_all_ >= number) return true;
  if (done_by_one_of_ != member || done_by_one_ < number) done_by_one_ = done_by(member);
  done_by_one_of_ = member;
  return done_by_one_ >= number;
}

bool Team::have_read(const Written& last) {
  return last.readers == Readers::one ? has_done(last.reader, last.number) : all_have_done(last.number);
}

std::optional<Mismatch> Team::find_mismatch() const {
  const std::size_t end = awaits_several() ? awaited_end_ : awaited_member_ + 1;
  for (std::size_t member = awaits_several() ? 0 : awaited_member_; member < end; ++member) {
    if (member == self_) continue;
    const std::uint64_t word = members_[member].lane.description(number_).load(std::memory_order_relaxed);
    const bool runs_ahead = members_[member].lane.sequence(number_).load(std::memory_order_relaxed) != number_;
    if (((word ^ word_) & compared_) != 0 || runs_ahead)
      return Mismatch{Rank{static_cast<int>(member)}, call_, Description::of(word)};
  }
  return std::nullopt;
}

}  // namespace sluice
