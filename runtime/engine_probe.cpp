// Probes: looking at the unexpected messages, and taking one out of matching.

#include <algorithm>

#include "runtime/engine/state.hpp"

namespace sluice {
namespace {

Message* look(Engine::State& state, Lock& lock, Context& context, Rank from, Tag tag) {
  Message* message = context.find_unexpected(from, tag);
  if (!message && state.progress.round(lock)) message = context.find_unexpected(from, tag);
  return message;
}

Message* wait_for(Engine::State& state, Lock& lock, Context& context, Rank from, Tag tag) {
  Waiter waiter(state.progress, Waiter::Who::application);
  Message* message = nullptr;
  while (!(message = look(state, lock, context, from, tag))) {
    waiter.step(lock);
    waiter.let_cancellation_act(lock);
  }
  return message;
}

Outcome describe(const Message& message) {
  Outcome found;
  found.source = message.source;
  found.tag = message.tag;
  found.bytes = message.message_bytes;
  return found;
}

}  // namespace

bool Engine::Probes::probe(Context& context, Rank from, Tag tag, Outcome& found) {
  Lock lock(state_->mutex);
  Inside inside(state_->progress, lock);
  const Message* message = look(*state_, lock, context, from, tag);
  if (message) {
    found = describe(*message);
  } else {
    state_->progress.idle_call(lock);
  }
  return message != nullptr;
}

void Engine::Probes::wait_probe(Context& context, Rank from, Tag tag, Outcome& found) {
  Lock lock(state_->mutex);
  Inside inside(state_->progress, lock);
  found = describe(*wait_for(*state_, lock, context, from, tag));
}

Message* Engine::Probes::matched_probe(Context& context, Rank from, Tag tag, Outcome& found) {
  Lock lock(state_->mutex);
  Inside inside(state_->progress, lock);
  Message* message = look(*state_, lock, context, from, tag);
  if (!message) {
    state_->progress.idle_call(lock);
    return nullptr;
  }
  found = describe(*message);
  context.remove_unexpected(message);
  return message;
}

Message* Engine::Probes::wait_matched_probe(Context& context, Rank from, Tag tag, Outcome& found) {
  Lock lock(state_->mutex);
  Inside inside(state_->progress, lock);
  Message* message = wait_for(*state_, lock, context, from, tag);
  found = describe(*message);
  context.remove_unexpected(message);
  return message;
}

}  // namespace sluice
