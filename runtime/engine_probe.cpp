// Probes: looking at the unexpected messages, and taking one out of matching.

#include <algorithm>

#include "runtime/engine_impl.hpp"

namespace sluice {
namespace {

Unexpected* look(Progress& progress, Lock& lock, Context& context, Rank from, Tag tag) {
  Unexpected* message = context.find_unexpected(from, tag);
  if (!message && progress.round(lock)) message = context.find_unexpected(from, tag);
  return message;
}

Unexpected* wait_for(Progress& progress, Lock& lock, Context& context, Rank from, Tag tag) {
  Waiter waiter(progress, Waiter::Who::application);
  Unexpected* message = nullptr;
  while (!(message = look(progress, lock, context, from, tag))) {
    waiter.step(lock);
    waiter.let_cancellation_act(lock);
  }
  return message;
}

Outcome describe(const Unexpected& message) {
  Outcome found;
  found.source = message.source;
  found.tag = message.tag;
  found.bytes = message.message_bytes;
  return found;
}

}  // namespace

bool Engine::Probes::probe(Context& context, Rank from, Tag tag, Outcome& found) {
  Lock lock(impl_->mutex);
  Inside inside(impl_->progress, lock);
  const Unexpected* message = look(impl_->progress, lock, context, from, tag);
  if (message) {
    found = describe(*message);
  } else {
    impl_->progress.idle_call(lock);
  }
  return message != nullptr;
}

void Engine::Probes::wait_probe(Context& context, Rank from, Tag tag, Outcome& found) {
  Lock lock(impl_->mutex);
  Inside inside(impl_->progress, lock);
  found = describe(*wait_for(impl_->progress, lock, context, from, tag));
}

Unexpected* Engine::Probes::matched_probe(Context& context, Rank from, Tag tag, Outcome& found) {
  Lock lock(impl_->mutex);
  Inside inside(impl_->progress, lock);
  Unexpected* message = look(impl_->progress, lock, context, from, tag);
  if (!message) {
    impl_->progress.idle_call(lock);
    return nullptr;
  }
  found = describe(*message);
  context.remove_unexpected(message);
  return message;
}

Unexpected* Engine::Probes::wait_matched_probe(Context& context, Rank from, Tag tag, Outcome& found) {
  Lock lock(impl_->mutex);
  Inside inside(impl_->progress, lock);
  Unexpected* message = wait_for(impl_->progress, lock, context, from, tag);
  found = describe(*message);
  context.remove_unexpected(message);
  return message;
}

}  // namespace sluice
