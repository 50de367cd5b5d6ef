#include "runtime/window/shared_sync.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

/// So long a reader lets waiting writers go first.
constexpr std::uint64_t writers_first_ns = 1'000'000;

template <typename Condition>
class Until final : public WindowWait {
 public:
  explicit Until(Condition condition) : condition_(std::move(condition)) {}
  [[nodiscard]] bool is_there() const override { return condition_(); }

 private:
  mutable Condition condition_;  // may remember how far it has looked
};

/// Says so for as long as the thread waits, also when it is cancelled.
class Waiting {
 public:
  Waiting(LockWord word, LockWord::Use use) : word_(word), use_(use) { word_.begin_wait(use_); }
  ~Waiting() { word_.end_wait(use_); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  LockWord word_;
  const LockWord::Use use_;
};

}  // namespace

void SharedSync::wake_all() {
  for (std::size_t member = 0; member < members_.size(); ++member) wake(member);
}

bool SharedSync::fence(bool opens) {
  if (!epochs_.may_fence()) return false;
  const std::uint64_t number = epochs_.next_fence();
  members_[self_].arrivals().store(number, std::memory_order_release);
  wake_all();
  // Those that have come stay so: each is looked at until it has.
  Until have_come([&, first = std::size_t{0}]() mutable {
    while (first != members_.size() && members_[first].arrivals().load(std::memory_order_acquire) >= number) ++first;
    return first == members_.size();
  });
  host_.wait(have_come, unlimited_ns);
  epochs_.fence(opens);
  return true;
}

bool SharedSync::post(Members origins) {
  if (!epochs_.post(std::move(origins))) return false;
  for (const std::size_t origin : epochs_.origins()) {
    members_[origin].posted(self_).store(epochs_.posts_to(origin), std::memory_order_release);
    wake(origin);
  }
  return true;
}

bool SharedSync::start(Members targets) {
  if (!epochs_.start(std::move(targets))) return false;
  const auto has_posted = [this](std::size_t target) {
    return members_[self_].posted(target).load(std::memory_order_acquire) >= epochs_.starts_for(target);
  };
  Until have_posted([&] { return std::all_of(epochs_.targets().begin(), epochs_.targets().end(), has_posted); });
  host_.wait(have_posted, unlimited_ns);
  return true;
}

bool SharedSync::complete() {
  if (!epochs_.is_started()) return false;
  for (const std::size_t target : epochs_.targets()) {
    members_[target].completed(self_).store(epochs_.starts_for(target), std::memory_order_release);
    wake(target);
  }
  epochs_.end_access();
  return true;
}

bool SharedSync::have_completed() const {
  return std::all_of(epochs_.origins().begin(), epochs_.origins().end(), [this](std::size_t origin) {
    return members_[self_].completed(origin).load(std::memory_order_acquire) >= epochs_.posts_to(origin);
  });
}

bool SharedSync::wait() {
  if (!epochs_.is_posted()) return false;
  Until completed([this] { return have_completed(); });
  host_.wait(completed, unlimited_ns);
  epochs_.end_exposure();
  return true;
}

std::optional<bool> SharedSync::test() {
  if (!epochs_.is_posted()) return std::nullopt;
  if (!have_completed()) return false;
  epochs_.end_exposure();
  return true;
}

void SharedSync::wait_for(LockWord word, LockWord::Use use) {
  const Waiting waiting(word, use);
  auto turn = LockWord::Turn::writers_first;
  do {
    Until is_free([&] { return word.is_free(use, turn); });
    const bool has_limit = use == LockWord::Use::shared && turn == LockWord::Turn::writers_first;
    if (!host_.wait(is_free, has_limit ? writers_first_ns : unlimited_ns)) turn = LockWord::Turn::any;
  } while (!word.try_lock(use, turn));
}

bool SharedSync::lock(std::size_t target, WindowEpochs::Lock lock) {
  if (!epochs_.may_lock(target)) return false;
  if (lock.is_taken) take(members_[target].lock(), lock.use);
  epochs_.lock(target, lock);
  return true;
}

bool SharedSync::unlock(std::size_t target) {
  const auto lock = epochs_.lock_of(target);
  if (!lock) return false;
  epochs_.unlock(target);
  if (lock->is_taken) give_up(members_[target].lock(), lock->use);
  return true;
}

bool SharedSync::lock_all(bool takes) {
  if (!epochs_.may_lock_all()) return false;
  if (takes) {
    for (const WindowControl& member : members_) take(member.lock(), LockWord::Use::shared);
  }
  epochs_.lock_all(takes);
  return true;
}

bool SharedSync::unlock_all() {
  const auto lock = epochs_.lock_of_all();
  if (!lock) return false;
  epochs_.unlock_all();
  if (lock->is_taken) {
    for (const WindowControl& member : members_) give_up(member.lock(), LockWord::Use::shared);
  }
  return true;
}

}  // namespace sluice
