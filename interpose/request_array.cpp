#include "interpose/request_array.hpp"

#include <algorithm>

#include "interpose/entry.hpp"

namespace sluice {

bool RequestArray::sound(int count, const MPI_Request requests[]) {
  if (count < 0 || (count > 0 && !requests)) return false;
  return std::none_of(requests, requests + count, [](MPI_Request request) { return request == nullptr; });
}

RequestArray::RequestArray(int count, MPI_Request requests[])
    : requests_(requests),
      size_(static_cast<std::size_t>(count)),
      handles_(size_),
      active_(size_),
      is_host_(size_),
      host_requests_(size_),
      host_indices_(size_) {
  const MPI_Request null = predefined().request_null;
  for (std::size_t i = 0; i < size_; ++i) {
    handles_[i] = nullptr;
    is_host_[i] = false;
    if (requests[i] == null) continue;
    Handle* handle = find_handle(requests[i]);
    if (!handle) {
      is_host_[i] = true;
      host_requests_[hosts_] = requests[i];
      host_indices_[hosts_++] = i;
    } else if (handle->is_inactive()) {
      ++inactive_;
    } else {
      handles_[i] = handle;
      active_[ours_++] = handle->active;
    }
  }
}

std::size_t RequestArray::first_complete() {
  for (std::size_t i = 0; i < size_; ++i) {
    if (handles_[i] && handles_[i]->is_complete()) return i;
  }
  return size_;
}

bool RequestArray::all_complete() {
  const auto active = engine_requests();
  return std::all_of(active.begin(), active.end(),
                     [](const Request* request) { return !request || Engine::is_complete(*request); });
}

void RequestArray::host_completed(std::size_t i) {
  MPI_Request& slot = requests_[host_indices_[i]];
  host_activity().completed(slot, host_requests_[i]);
  slot = host_requests_[i];
}

}  // namespace sluice
