#include "runtime/far_windows.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

void FarWindow::take_at_once(std::size_t from, const FarMessage& message) {
  if (message.kind == FarMessage::Kind::answer) origin_.take_answer(from, message);
  if (message.kind == FarMessage::Kind::post) ++posts_[from];
  messenger_.parts().sleepers.wake();
}

FarWindow& FarWindows::open(ContextId id, std::vector<Peer> group, Rank self, FarTarget::Unexposed unexposed) {
  Context& context = parts_.matcher.adopt(id, std::move(group), self);
  ++parts_.requests.open_windows();
  return *open_.emplace_back(std::make_unique<FarWindow>(parts_, memory_, context, unexposed));
}

void FarWindows::close(FarWindow& window) {
  Context& context = window.messenger().context();
  std::erase_if(open_, [&](const auto& one) { return one.get() == &window; });
  --parts_.requests.open_windows();
  parts_.matcher.retire(&context);
}

bool FarWindows::advance(Lock& lock) {
  bool moved = false;
  for (const auto& window : open_) moved |= window->advance();
  // An operation may take many rounds.
  if (moved && lock.mutex()->contended()) lock.mutex()->give_way();
  return moved;
}

bool FarWindows::has_work() const {
  return std::any_of(open_.begin(), open_.end(), [](const auto& window) { return window->has_work(); });
}

}  // namespace sluice
