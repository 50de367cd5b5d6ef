#include "runtime/window/epochs.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

bool WindowEpochs::has_access() const {
  return std::any_of(targets_.begin(), targets_.end(), [](const auto& target) { return target.load() != Access::none; });
}

bool WindowEpochs::may_fence() const { return !is_started() && !is_posted() && !has_access(); }

bool WindowEpochs::post(Members origins) {
  if (is_posted()) return false;
  for (const std::size_t origin : origins) ++posts_[origin];
  posted_ = std::move(origins);
  return true;
}

bool WindowEpochs::start(Members targets) {
  if (is_started() || has_access()) return false;
  fence(false);
  for (const std::size_t target : targets) {
    ++starts_[target];
    set(target, Access::started);
  }
  started_ = std::move(targets);
  return true;
}

void WindowEpochs::end_access() {
  for (const std::size_t target : *started_) set(target, Access::none);
  started_.reset();
}

void WindowEpochs::lock(std::size_t target, Lock lock) {
  fence(false);
  if (lock.use == LockWord::Use::shared) {
    set(target, lock.is_taken ? Access::shared : Access::unchecked_shared);
  } else {
    set(target, lock.is_taken ? Access::exclusive : Access::unchecked_exclusive);
  }
}

std::optional<WindowEpochs::Lock> WindowEpochs::lock_of(std::size_t target) const {
  switch (access(target)) {
    case Access::shared:
      return Lock{LockWord::Use::shared, true};
    case Access::exclusive:
      return Lock{LockWord::Use::exclusive, true};
    case Access::unchecked_shared:
      return Lock{LockWord::Use::shared, false};
    case Access::unchecked_exclusive:
      return Lock{LockWord::Use::exclusive, false};
    case Access::none:
    case Access::started:
    case Access::all:
      break;
  }
  return std::nullopt;
}

void WindowEpochs::unlock(std::size_t target) { set(target, Access::none); }

bool WindowEpochs::may_lock_all() const { return !is_started() && !has_access(); }

void WindowEpochs::lock_all(bool is_taken) {
  fence(false);
  for (std::size_t target = 0; target < targets_.size(); ++target) set(target, Access::all);
  all_locked_ = Lock{LockWord::Use::shared, is_taken};
}

std::optional<WindowEpochs::Lock> WindowEpochs::lock_of_all() const { return all_locked_; }

void WindowEpochs::unlock_all() {
  for (std::size_t target = 0; target < targets_.size(); ++target) set(target, Access::none);
  all_locked_.reset();
}

bool WindowEpochs::is_locked(std::size_t target) const {
  const Access now = access(target);
  return now != Access::none && now != Access::started;
}

bool WindowEpochs::is_any_locked() const {
  for (std::size_t target = 0; target < targets_.size(); ++target) {
    if (is_locked(target)) return true;
  }
  return false;
}

}  // namespace sluice
