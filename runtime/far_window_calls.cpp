#include "runtime/far_window_calls.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "runtime/engine_impl.hpp"

namespace sluice {
namespace {

/// So long a reader lets waiting writers go first; then for twice as long, and so on.
constexpr std::uint64_t first_insistence_ns = 1'000'000;

WindowSync::Members numbers_below(std::size_t end) {
  WindowSync::Members numbers(end);
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  return numbers;
}

}  // namespace

/// A thread in one of them.
class FarWindowCalls::Call {
 public:
  explicit Call(FarWindowCalls& calls)
      : impl_(calls.impl_), window_(calls.window_), lock_(impl_.mutex), inside_(impl_.progress, lock_) {}

  template <typename Condition>
  void wait(Condition is_there) {
    if (is_there()) return;
    Waiter waiter(impl_.progress, Waiter::Who::application);
    std::uint64_t next_insistence_ns = first_insistence_ns;
    do {
      if (impl_.progress.round(lock_)) continue;
      waiter.step(lock_, next_insistence_ns);
      waiter.let_cancellation_act(lock_);
      if (waiter.waited_ns() < next_insistence_ns) continue;
      window_.origin().insist();
      next_insistence_ns = 2 * waiter.waited_ns();
    } while (!is_there());
    impl_.statistics.waited_ns += waiter.waited_ns();
  }
  /// Until it is so of each. What has become so stays so.
  template <typename Targets, typename Condition>
  void wait_for_each(const Targets& targets, Condition is_so) {
    auto next = targets.begin();
    wait([&] {
      while (next != targets.end() && is_so(*next)) ++next;
      return next == targets.end();
    });
  }
  template <typename Targets>
  void wait_here(const Targets& targets) {
    for (const std::size_t target : targets) window_.origin().push(target);
    wait_for_each(targets, [this](std::size_t target) { return window_.origin().is_over_here(target); });
  }
  template <typename Targets>
  void wait_there(const Targets& targets) {
    wait_for_each(targets, [this](std::size_t target) { return window_.origin().is_answered(target); });
    wait_here(targets);
  }

 private:
  Engine::Impl& impl_;
  FarWindow& window_;
  Lock lock_;
  const Inside inside_;
};

FarWindowCalls::FarWindowCalls(Engine& engine, const Opening& opening)
    : WindowSync(opening.members.size()),
      impl_(*engine.impl_),
      all_(numbers_below(opening.members.size())),
      self_(static_cast<std::size_t>(opening.members.self())),
      is_dynamic_(opening.is_dynamic),
      window_(open(opening)) {}

FarWindow& FarWindowCalls::open(const Opening& opening) {
  std::vector<Peer> group;
  for (std::size_t rank = 0; rank < opening.members.size(); ++rank)
    group.push_back(opening.members.peer(Rank{static_cast<int>(rank)}));
  Lock lock(impl_.mutex);
  const Inside inside(impl_.progress, lock);  // from now on messages wake the helper thread
  const auto unexposed = opening.is_dynamic ? FarTarget::Unexposed::is_refused : FarTarget::Unexposed::is_damage;
  FarWindow& window = impl_.far_windows.open(opening.id, std::move(group), opening.members.self(), unexposed);
  window.target().expose(opening.exposed);
  return window;
}

FarWindowCalls::~FarWindowCalls() {
  const Lock lock(impl_.mutex);
  impl_.far_windows.close(window_);
}

void FarWindowCalls::expose(ByteRange bytes) {
  const Lock lock(impl_.mutex);
  window_.target().expose(bytes);
}

void FarWindowCalls::withdraw(const void* base) {
  const Lock lock(impl_.mutex);
  window_.target().withdraw(base);
}

// --- operations

template <typename Issue>
bool FarWindowCalls::operate(std::size_t target, Request** whole, Issue issue) {
  Call call(*this);
  FarOrigin& origin = window_.origin();
  ++impl_.statistics.window_operations;
  const std::size_t open = origin.open(target);
  issue(origin);
  if (whole) origin.push(target);
  if (whole && !is_dynamic_) *whole = origin.stand_for(target, open);
  if (!is_dynamic_) return true;
  origin.ask(target, FarOrigin::Asks::always);
  call.wait_there(std::array{target});
  return !origin.was_refused(target);
}

/// True: it is only drafted, without the thread's entering the engine.
template <typename Issue>
bool FarWindowCalls::drafts(std::size_t target, std::size_t bytes, const UserBuffer& place, Issue issue) {
  const Lock lock(impl_.mutex);
  if (is_dynamic_ || !window_.origin().only_drafts(target, bytes, place)) return false;
  ++impl_.statistics.window_operations;
  issue(window_.origin());
  return true;
}

bool FarWindowCalls::put(std::size_t target, const UserBuffer& origin, const UserBuffer& place, Request** whole) {
  const auto issue = [&](FarOrigin& self) { self.put(target, origin, place); };
  return drafts(target, origin.bytes(), place, issue) || operate(target, whole, issue);
}

bool FarWindowCalls::get(std::size_t target, const UserBuffer& result, const UserBuffer& place, Request** whole) {
  return operate(target, whole, [&](FarOrigin& self) { self.get(target, result, place); });
}

bool FarWindowCalls::accumulate(std::size_t target, FarOrigin::Combination combination, const UserBuffer* operand,
                                const UserBuffer* result, const UserBuffer& place, Request** whole) {
  const auto issue = [&](FarOrigin& self) { self.accumulate(target, combination, operand, result, place); };
  return (!result && drafts(target, operand->bytes(), place, issue)) || operate(target, whole, issue);
}

bool FarWindowCalls::compare_and_swap(std::size_t target, const UserBuffer& compared, const UserBuffer& new_value,
                                      const UserBuffer& result, const UserBuffer& place) {
  return operate(target, nullptr, [&](FarOrigin& self) { self.compare_and_swap(target, compared, new_value, result, place); });
}

void FarWindowCalls::wait_here(std::size_t target) { Call(*this).wait_here(std::array{target}); }

// --- synchronisation

/// A target counts an origin in once all is done that it has asked for before.
bool FarWindowCalls::fence(bool opens) {
  if (!epochs_.may_fence()) return false;
  Call call(*this);
  const std::uint64_t number = epochs_.next_fence();
  for (const std::size_t target : all_) window_.origin().tell(target, FarMessage::Kind::arrive);
  call.wait_here(all_);
  call.wait_for_each(all_, [&](std::size_t member) { return window_.target().arrivals(member) >= number; });
  epochs_.fence(opens);
  return true;
}

bool FarWindowCalls::post(Members origins) {
  if (!epochs_.post(std::move(origins))) return false;
  const Call call(*this);
  for (const std::size_t origin : epochs_.origins()) window_.origin().tell_at_once(origin, FarMessage::Kind::post);
  return true;
}

bool FarWindowCalls::start(Members targets) {
  if (!epochs_.start(std::move(targets))) return false;
  Call(*this).wait_for_each(epochs_.targets(),
                            [&](std::size_t target) { return window_.posts(target) >= epochs_.starts_for(target); });
  return true;
}

bool FarWindowCalls::complete() {
  if (!epochs_.is_started()) return false;
  Call call(*this);
  for (const std::size_t target : epochs_.targets()) window_.origin().tell(target, FarMessage::Kind::complete);
  call.wait_here(epochs_.targets());
  epochs_.end_access();
  return true;
}

bool FarWindowCalls::has_completed(std::size_t origin) const {
  return window_.target().completed(origin) >= epochs_.posts_to(origin);
}

bool FarWindowCalls::wait() {
  if (!epochs_.is_posted()) return false;
  Call(*this).wait_for_each(epochs_.origins(), [&](std::size_t origin) { return has_completed(origin); });
  epochs_.end_exposure();
  return true;
}

std::optional<bool> FarWindowCalls::test() {
  if (!epochs_.is_posted()) return std::nullopt;
  const Lock lock(impl_.mutex);
  const Members& origins = epochs_.origins();
  if (!std::all_of(origins.begin(), origins.end(), [&](std::size_t origin) { return has_completed(origin); })) return false;
  epochs_.end_exposure();
  return true;
}

/// The program may load and store in its own memory from now on.
void FarWindowCalls::wait_for_own_lock(Call& call) {
  window_.origin().ask_for_lock(self_);
  call.wait_there(std::array{self_});
}

bool FarWindowCalls::lock(std::size_t target, WindowEpochs::Lock lock) {
  if (!epochs_.may_lock(target)) return false;
  if (lock.is_taken) {
    Call call(*this);
    window_.origin().lock(target, lock.use);
    if (target == self_) wait_for_own_lock(call);
  }
  epochs_.lock(target, lock);
  return true;
}

bool FarWindowCalls::unlock(std::size_t target) {
  if (!epochs_.lock_of(target)) return false;
  Call call(*this);
  end_access(call, std::array{target});
  epochs_.unlock(target);
  return true;
}

bool FarWindowCalls::lock_all(bool takes) {
  if (!epochs_.may_lock_all()) return false;
  if (takes) {
    Call call(*this);
    for (const std::size_t target : all_) window_.origin().lock(target, LockWord::Use::shared);
    wait_for_own_lock(call);
  }
  epochs_.lock_all(takes);
  return true;
}

bool FarWindowCalls::unlock_all() {
  if (!epochs_.lock_of_all()) return false;
  Call call(*this);
  end_access(call, all_);
  epochs_.unlock_all();
  return true;
}

template <typename Targets>
void FarWindowCalls::end_access(Call& call, const Targets& targets) {
  for (const std::size_t target : targets) {
    window_.origin().unlock(target);
    window_.origin().ask(target);
  }
  call.wait_there(targets);
}

template <typename Targets>
void FarWindowCalls::flush_each(const Targets& targets, Flushed where) {
  Call call(*this);
  if (where == Flushed::at_origin) return call.wait_here(targets);
  for (const std::size_t target : targets) window_.origin().ask(target);
  call.wait_there(targets);
}

bool FarWindowCalls::flush(std::size_t target, Flushed where) {
  if (!epochs_.is_locked(target)) return false;
  flush_each(std::array{target}, where);
  return true;
}

bool FarWindowCalls::flush_all(Flushed where) {
  if (!epochs_.is_any_locked()) return false;
  flush_each(all_, where);
  return true;
}

}  // namespace sluice
