#include "runtime/collective/team.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

Team::Team(std::vector<Member> members, Rank self, std::uint64_t first)
    : members_(std::move(members)), self_(static_cast<std::size_t>(self)), number_(first - 1), done_by_all_(number_) {}

void Team::begin(const Description& call) {
  ++number_;
  call_ = call;
}

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

bool Team::has_room() {
  const Written& last = written_[number_ % Lane::slots];
  if (last.readers == Readers::none) return true;
  return last.readers == Readers::one ? has_done(last.reader, last.number) : all_have_done(last.number);
}

void Team::publish(Readers readers, Rank reader) {
  written_[number_ % Lane::slots] = {number_, readers, static_cast<std::size_t>(reader)};
  own().description(number_).store(call_.word(), std::memory_order_relaxed);
  own().sequence(number_).store(number_, std::memory_order_release);
}

void Team::await_all() {
  awaited_ = Awaited::all;
  awaited_member_ = 0;
}

void Team::await(Rank rank) {
  awaited_ = Awaited::one;
  awaited_member_ = static_cast<std::size_t>(rank);
}

bool Team::have_all_come() {
  while (awaited_member_ != members_.size() && (awaited_member_ == self_ || has_come(awaited_member_))) ++awaited_member_;
  return awaited_member_ == members_.size();
}

bool Team::is_there() {
  switch (awaited_) {
    case Awaited::room:
      return has_room();
    case Awaited::one:
      return has_come(awaited_member_);
    case Awaited::all:
      return have_all_come();
    case Awaited::nothing:
      break;
  }
  return true;
}

std::optional<Mismatch> Team::mismatch() const {
  const std::uint64_t own_word = call_.word();
  const bool all = awaited_ == Awaited::all;
  for (std::size_t member = all ? 0 : awaited_member_; member < (all ? members_.size() : awaited_member_ + 1); ++member) {
    if (member == self_) continue;
    const std::uint64_t word = members_[member].lane.description(number_).load(std::memory_order_relaxed);
    const bool runs_ahead = members_[member].lane.sequence(number_).load(std::memory_order_relaxed) != number_;
    if (word != own_word || runs_ahead) return Mismatch{Rank{static_cast<int>(member)}, call_, Description::of(word)};
  }
  return std::nullopt;
}

bool Team::finish() {
  if (std::exchange(awaited_, Awaited::nothing) == Awaited::all) done_by_all_ = number_ - 1;
  if (number_ % Lane::done_interval != 0) return false;
  own().done().store(number_, std::memory_order_release);
  return true;
}

}  // namespace sluice
