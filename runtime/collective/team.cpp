#include "runtime/collective/team.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

Team::Team(std::vector<Member> members, Rank self, std::uint64_t first, Calls calls)
    : members_(std::move(members)),
      self_(static_cast<std::size_t>(self)),
      begun_(first - 1),
      ended_before_(calls == Calls::overlap ? first : always),
      done_by_all_(begun_) {}

bool Team::have_ended_before(std::uint64_t number) {
  const auto last_told = [](std::uint64_t end) { return (end - 1) / Lane::long_done_interval; };
  const bool is_due = last_told(number) != last_told(ended_before_);
  ended_before_ = number;
  if (is_due) tell_done(number - 1);
  return is_due;
}

bool Team::all_have_done(std::uint64_t number) {
  if (done_by_all_ >= number) return true;
  std::uint64_t least = begun_;
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
  if (last.readers == Readers::one) return has_done(last.reader, last.number);
  if (last.readers == Readers::all) return all_have_done(last.number);
  return std::all_of(last.some.begin(), last.some.end(), [&](Rank reader) {
    const auto member = static_cast<std::size_t>(reader);
    return member == self_ || done_by(member) >= last.number;
  });
}

std::optional<Mismatch> Team::find_mismatch() const {
  const std::size_t end = awaits_several() ? now_.awaited_end : now_.awaited_member + 1;
  for (std::size_t place = awaits_several() ? 0 : now_.awaited_member; place < end; ++place) {
    const std::size_t member = member_at(place);
    if (member == self_) continue;
    const std::uint64_t word = members_[member].lane.description(now_.number).load(std::memory_order_relaxed);
    const bool runs_ahead = members_[member].lane.sequence(now_.number).load(std::memory_order_relaxed) != now_.number;
    if (((word ^ now_.word) & now_.compared) != 0 || runs_ahead)
      return Mismatch{Rank{static_cast<int>(member)}, now_.call, Description::of(word)};
  }
  return std::nullopt;
}

}  // namespace sluice
