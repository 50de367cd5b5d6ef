#include "runtime/engine/causality.hpp"

#include "runtime/base/clock.hpp"
#include "runtime/engine/trace_events.hpp"

namespace sluice {

void Causality::add(Request& request) {
  released_.push_back(&request);
  if (request.unknown) ++unmatched_;
}

void Causality::note_match(Request& receive) {
  receive.unknown = false;
  --unmatched_;
  watcher_->matched(receive);
  let_go();
}

bool Causality::must_hold(std::uint64_t operation) const {
  if (unmatched_ == 0) return false;
  // In order of release, so the first unknown one has the lowest mark.
  const Request* receive = released_.first();
  while (!receive->unknown) receive = Released::next(receive);
  return operation > receive->release_mark;
}

void Causality::hold(HeldBack item) {
  if (trace::on()) [[unlikely]] {
    item.since_ns = now_ns();
    trace::held(item.traced, item.peer, static_cast<trace::Held>(item.what));
  }
  held_.push_back(item);
}

/// What need not be held back any longer. Held sends have growing numbers, so those that may go keep their order.
void Causality::let_go() {
  for (std::size_t left = held_.size(); left > 0; --left) {
    const HeldBack item = held_.front();
    held_.pop_front();
    if (must_hold(item.operation)) {
      held_.push_back(item);
    } else {
      do_held(item);
    }
  }
}

void Causality::do_held(const HeldBack& item) {
  if (trace::on()) [[unlikely]]
    trace::let_go(item.traced, item.peer, static_cast<trace::Held>(item.what), item.since_ns);
  switch (item.what) {
    case HeldBack::What::send:
      sink_.send_held(*item.request);
      break;
    case HeldBack::What::transfer:
      sink_.begin_held(*item.request);
      break;
    case HeldBack::What::acknowledgement:
      sink_.acknowledge_held(item.peer, item.subject, item.traced);
      break;
  }
}

}  // namespace sluice
