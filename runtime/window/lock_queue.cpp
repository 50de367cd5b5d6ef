#include "runtime/window/lock_queue.hpp"

#include <algorithm>

namespace sluice {

void LockQueue::give(std::size_t member, Use use) {
  places_[member] = Place::holds;
  ++holders_;
  has_writer_ = use == Use::exclusive;
}

bool LockQueue::lock(std::size_t member, Use use) {
  if (places_[member] != Place::none) return places_[member] == Place::holds;
  if (waiting_.empty() && is_free_for(use)) {
    give(member, use);
    return true;
  }
  places_[member] = Place::waits;
  waiting_.push_back({member, use});
  return false;
}

std::vector<std::size_t> LockQueue::unlock(std::size_t member) {
  places_[member] = Place::none;
  --holders_;
  has_writer_ = false;
  std::vector<std::size_t> given;
  while (!waiting_.empty() && is_free_for(waiting_.front().use)) {
    const Waiting next = waiting_.front();
    waiting_.pop_front();
    give(next.member, next.use);
    given.push_back(next.member);
  }
  return given;
}

bool LockQueue::insist(std::size_t member) {
  const auto place = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& one) { return one.member == member; });
  if (place == waiting_.end() || place->use != Use::shared || !is_free_for(Use::shared)) return false;
  waiting_.erase(place);
  give(member, Use::shared);
  return true;
}

}  // namespace sluice
