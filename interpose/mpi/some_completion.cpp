#include "interpose/mpi/some_completion.hpp"

namespace sluice {

Seen SomeCompletion::go_through() {
  FinishedHandles finished;
  const Seen seen = look_at_each(count_, requests_, [&](Handle& handle, int i) {
    add(handle, i, finished);
    return true;
  });
  finished.give_back();
  return seen;
}

bool SomeCompletion::test_short() {
  const std::uint64_t completions = engine().completion().completions();
  Seen seen = go_through();
  if (seen.others > 1) return false;
  if (found_ == 0 && seen.open != 0) {
    poll_for(seen);
    if (engine().completion().completions() != completions) seen = go_through();
  }
  exhausted_ = found_ == 0 && seen.open == 0;
  if (seen.others != 0) {
    HostRequest other(requests_, seen.other);
    found_ += other.test_some(indices_ + found_, status_at(statuses_, found_));
    host_code_ = other.code();
    exhausted_ = exhausted_ && found_ == 0 && other.inactive();
  }
  return true;
}

bool SomeCompletion::wait_short() {
  const Seen seen = go_through();
  if (seen.others != 0) return false;
  exhausted_ = found_ == 0 && seen.open == 0;
  if (found_ == 0 && seen.open == 1) {
    const LastOpen last(count_, requests_);
    wait_for_last(*last.handle, last.index);
  } else if (found_ == 0 && seen.open != 0) {
    engine().completion().wait_any(OpenOfShort(count_, requests_).requests());
    go_through();
  }
  return true;
}

void SomeCompletion::wait_for_last(Handle& handle, int index) {
  if (!handle.is_complete()) engine().wait_all({&handle.active, 1}, site_);
  FinishedHandles finished;
  add(handle, index, finished);
  finished.give_back();
}

void SomeCompletion::wait_for_last(RequestArray& array) {
  const std::size_t index = array.only_one();
  wait_for_last(*array.handle(index), static_cast<int>(index));
  array.forget();
}

bool SomeCompletion::collect_unremembered(RequestArray& array) {
  if (array.is_remembered() || count_ <= max_looked_at || !requests_) return false;
  const Seen seen = go_through();
  if (seen.others != 0) return false;
  exhausted_ = found_ == 0 && seen.open == 0;
  if (found_ == 0 && seen.open != 0) return false;
  if (static_cast<std::size_t>(seen.open) > found_) array.follow(count_);  // it is polled, most likely
  return true;
}

void SomeCompletion::collect_ours(RequestArray& array, std::size_t first) {
  const auto own = array.own_changes();
  const std::size_t before = found_;
  FinishedHandles finished;
  for (std::size_t i = first; i < array.size(); i = array.next_complete(i + 1)) {
    add(*array.handle(i), static_cast<int>(i), finished);
  }
  finished.give_back();
  for (std::size_t k = before; k < found_; ++k) array.finished(static_cast<std::size_t>(indices_[k]));
}

bool SomeCompletion::collect_hosts(RequestArray& array) {
  HostPart part(array, statuses_);
  found_ += part.test_some(indices_ + found_, status_at(statuses_, found_));
  host_code_ = part.code();
  return part.inactive();
}

bool SomeCompletion::collect(RequestArray& array, std::size_t first) {
  collect_ours(array, first);
  exhausted_ = found_ == 0 && array.ours() == 0;
  if (array.hosts() != 0) {
    const bool are_inactive = collect_hosts(array);
    exhausted_ = exhausted_ && found_ == 0 && are_inactive;
  }
  if (array.ours() == 0) array.forget();
  return found_ != 0 || exhausted_;
}

int SomeCompletion::conclude(int* completed) {
  *completed = exhausted_ ? MPI_UNDEFINED : static_cast<int>(found_);
  return completion_.conclude(host_code_);
}

}  // namespace sluice
