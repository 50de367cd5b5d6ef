#include "runtime/collective/started_calls.hpp"

namespace sluice {

StartedCalls::Call& StartedCalls::begin(const Description& what) {
  if (at_) at_->running_ = team_.suspend();
  team_.begin(what);
  team_.await_room();
  Call& call = calls_.emplace_back();
  call.number_ = team_.suspend().number;
  at_ = &call;
  return call;
}

Team& StartedCalls::at(Call& call) {
  if (at_ != &call) {
    if (at_) at_->running_ = team_.suspend();
    team_.resume(call.running_);
    at_ = &call;
  }
  return team_;
}

Team* StartedCalls::to_publish(Call& call) { return &calls_[published_] == &call ? that_is_there(call) : nullptr; }

bool StartedCalls::end(Call& call) {
  if (at_ == &call) at_ = nullptr;
  call.stage_ = Call::Stage::ended;
  while (!calls_.empty() && calls_.front().stage_ == Call::Stage::ended) {
    calls_.pop_front();
    --published_;
  }
  const bool told = team_.have_ended_before(calls_.empty() ? team_.next() : calls_.front().number_);
  if (is_closed_) close();
  return told || is_closed_;
}

void StartedCalls::close() {
  is_closed_ = true;
  if (calls_.empty()) team_.end();
}

}  // namespace sluice
