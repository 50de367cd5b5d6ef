#include "tests/unit/support/model_wire.hpp"

#include <algorithm>

namespace sluice {

ModelWire::ModelWire(std::size_t adapters, bool by_hand, std::chrono::microseconds pace) : adapters_(adapters), pace_(pace) {
  if (!by_hand) thread_ = std::thread([this] { run(); });
}

ModelWire::~ModelWire() {
  {
    const std::lock_guard lock(mutex);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void ModelWire::at(Nanoseconds due, std::function<void()> event) {
  events_.emplace(std::pair(std::max(due, now_), ++count_), std::move(event));
  changed_.notify_all();
}

void ModelWire::send(std::size_t adapter, Flow flow, Nanoseconds duration, std::function<void()> left) {
  Adapter& by = adapters_[adapter];
  std::deque<Segment>& queue = by.waiting[flow];
  if (queue.empty()) by.turns.push_back(flow);
  queue.push_back({duration, std::move(left)});
  if (!by.sends) send_next(by);
}

void ModelWire::send_next(Adapter& adapter) {
  adapter.sends = !adapter.turns.empty();
  if (!adapter.sends) return;
  const Flow flow = adapter.turns.front();
  adapter.turns.pop_front();
  const auto queue = adapter.waiting.find(flow);
  Segment segment = std::move(queue->second.front());
  queue->second.pop_front();
  if (queue->second.empty()) {
    adapter.waiting.erase(queue);
  } else {
    adapter.turns.push_back(flow);
  }
  at(now_ + segment.duration, [this, &adapter, left = std::move(segment.left)] {
    left();
    send_next(adapter);
  });
}

void ModelWire::go_on() {
  const std::lock_guard lock(mutex);
  held_ = false;
  changed_.notify_all();
}

void ModelWire::run_next() {
  const auto next = events_.begin();
  now_ = next->first.first;
  const auto event = std::move(next->second);
  events_.erase(next);
  event();
}

bool ModelWire::step() {
  const std::lock_guard lock(mutex);
  if (events_.empty()) return false;
  run_next();
  return true;
}

void ModelWire::run() {
  std::unique_lock lock(mutex);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || (!held_ && !events_.empty()); });
    if (stopping_) return;
    run_next();
    if (pace_.count() == 0) continue;
    lock.unlock();
    std::this_thread::sleep_for(pace_);
    lock.lock();
  }
}

}  // namespace sluice
