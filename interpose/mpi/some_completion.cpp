#include "interpose/mpi/some_completion.hpp"

#include <utility>

namespace sluice {

void SomeCompletion::finish() {
  const int* const places = indices_ + found_;
  const auto place = [places](std::size_t i) { return places[i]; };
  completion_.finish({handles_.data(), waiting_}, requests_, place, status_at(statuses_, found_),
                     [](std::size_t i) { return i; });
  found_ += std::exchange(waiting_, 0);
}

bool SomeCompletion::go_through() {
  const MPI_Request null = predefined().request_null;
  const MPI_Request* const requests = requests_;
  const int count = count_;
  HandleSearch search;
  bool plain = true;
  std::size_t open = 0;
  for (int i = 0; i < count; ++i) {
    if (requests[i] == null) continue;
    Handle* const handle = search.find(requests[i]);
    if (!handle) {
      plain = false;
    } else if (!handle->is_complete()) {
      ++open;
    } else if (!handle->is_inactive()) {
      add(*handle, i);
    }
  }
  finish();
  open_ = open;
  return plain;
}

bool SomeCompletion::collect_unremembered(RequestArray& array) {
  if (array.is_remembered() || count_ <= 0 || !requests_ || !go_through()) return false;
  exhausted_ = found_ == 0 && open_ == 0;
  if (found_ == 0 && open_ != 0) return false;
  if (array.is_long(count_) && open_ > found_) array.follow(count_);  // it is polled, most likely
  return true;
}

void SomeCompletion::collect_ours(RequestArray& array, std::size_t first) {
  const auto own = array.own_changes();
  const std::size_t before = found_;
  for (std::size_t i = first; i < array.size(); i = array.next_complete(i + 1)) {
    add(*array.handle(i), static_cast<int>(i));
  }
  finish();
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
