#include "interpose/mpi/open_requests.hpp"

#include <array>
#include <atomic>
#include <cstdint>

namespace sluice {
namespace {

/// The index that was found open, in a hash of the array's place.
struct Hints {
  static constexpr unsigned log2_size = 4;

  std::array<std::atomic<std::uint32_t>, std::size_t{1} << log2_size> indices{};

  std::atomic<std::uint32_t>& of(const MPI_Request* array) {
    return indices[(reinterpret_cast<std::uintptr_t>(array) * 0x9E3779B97F4A7C15u) >> (64 - log2_size)];
  }
};

constinit Hints hints;

}  // namespace

OpenRequests::OpenRequests(int count, const MPI_Request requests[])
    : requests_(requests), count_(static_cast<std::size_t>(count)), start_(hints.of(requests).load(std::memory_order_relaxed)) {
  if (start_ >= count_) start_ = 0;
  next_ = start_;
}

void OpenRequests::remember(std::size_t index) const {
  auto& hint = hints.of(requests_);
  const auto now = static_cast<std::uint32_t>(index);
  if (hint.load(std::memory_order_relaxed) != now) hint.store(now, std::memory_order_relaxed);
}

/// What changes is local: it stays in registers.
OpenRequests::Found OpenRequests::look_until(std::size_t end) {
  const MPI_Request null = predefined().request_null;
  const MPI_Request* const requests = requests_;
  HandleSearch search = search_;
  Found found = Found::none;
  std::size_t i = next_;
  for (; i < end; ++i) {
    Handle*& kept = handles_[i % max_kept];
    kept = nullptr;
    const HandleSearch::Passed passed = search.pass(requests[i]);
    if (passed == HandleSearch::Passed::open) {
      found = Found::open;
      break;
    }
    if (passed == HandleSearch::Passed::inactive || requests[i] == null) continue;
    Handle* const handle = search.find(requests[i]);
    if (!handle || !handle->is_complete()) {
      found = handle ? Found::open : Found::others;
      break;
    }
    if (!handle->is_inactive()) kept = handle;
  }
  search_ = search;
  next_ = i;
  return found;
}

OpenRequests::Found OpenRequests::look() {
  Found found = Found::none;
  if (!came_round_) {
    found = look_until(count_);
    if (found == Found::none) {
      came_round_ = true;
      next_ = 0;
    }
  }
  if (came_round_) found = look_until(start_);
  if (found == Found::open) remember(next_);
  return found;
}

}  // namespace sluice
