// One look at each request of an array, for the calls that want any or some of them.
//
// Most are open, most often, and of those as little is read as can be. So of a short array nothing is remembered: a look at it
// costs less than what is remembered would (request_array.hpp).
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <span>

#include "interpose/mpi/handles.hpp"

namespace sluice {

/// Arrays of so many are looked at, and longer ones are remembered when they are polled.
inline constexpr int max_looked_at = 32;
inline bool is_short(int count, const MPI_Request requests[]) { return count > 0 && count <= max_looked_at && requests; }

/// What was not complete.
struct Seen {
  int open = 0;    // of Sluice's
  int others = 0;  // the host's, or no requests at all
  int other = 0;   // the last of these
};

/// `complete(handle, index)` is called for each of Sluice's that is active and complete, as long as it returns true.
template <typename Complete>
Seen look_at_each(int count, const MPI_Request requests[], const Complete& complete) {
  const MPI_Request null = predefined().request_null;
  HandleSearch search;
  Seen seen;
  for (int i = 0; i < count; ++i) {
    const MPI_Request request = requests[i];
    const HandleSearch::Passed passed = search.pass(request);
    if (passed == HandleSearch::Passed::open) ++seen.open;
    if (passed != HandleSearch::Passed::none || request == null) continue;
    Handle* const handle = search.find(request);
    if (!handle) {
      ++seen.others;
      seen.other = i;
    } else if (!handle->is_complete()) {
      ++seen.open;
    } else if (!handle->is_inactive() && !complete(*handle, i)) {
      break;
    }
  }
  return seen;
}

/// The first that is complete; nullptr: none is. What is counted then is what stands in front of it.
struct FirstLook {
  FirstLook(int count, const MPI_Request requests[])
      : seen(look_at_each(count, requests, [this](Handle& handle, int i) {
          complete = &handle;
          index = i;
          return false;
        })) {}

  Handle* complete = nullptr;
  int index = 0;
  Seen seen;
};

/// The only one that is open, where a look has seen one. A call that wants any or some of the array then waits for it as MPI_Wait
/// does, which may release it.
struct LastOpen {
  /// The only request of an array.
  explicit LastOpen(Handle& only) : handle(&only) {}
  LastOpen(int count, const MPI_Request requests[]) {
    HandleSearch search;
    for (int i = 0; i < count && !handle; ++i) {
      Handle* const found = search.find(requests[i]);
      if (!found || found->is_inactive()) continue;
      handle = found;
      index = i;
    }
  }

  Handle* handle = nullptr;
  int index = 0;
};

/// The engine's side of what is open in a short array, for a wait.
class OpenOfShort {
 public:
  OpenOfShort(int count, const MPI_Request requests[]) {
    HandleSearch search;
    for (int i = 0; i < count; ++i) {
      const Handle* const handle = search.find(requests[i]);
      if (handle && !handle->is_complete()) open_[size_++] = handle->active;
    }
  }
  [[nodiscard]] std::span<Request* const> requests() const { return {open_.data(), size_}; }

 private:
  std::array<Request*, max_looked_at> open_;
  std::size_t size_ = 0;
};

}  // namespace sluice
