// Looks for a request of an array that is still open, for calls that want all of them.
//
// Most of a large array may be complete while one is not, and programs that poll it come back for the same one. So the look
// begins where it ended the last time, and goes round from there; all are complete when it has come round. A hint for each of
// some arrays is kept between calls, by the array's place.
//
// Threading: hints are single words (relaxed); one that is wrong, or of another array, costs time only.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <span>

#include "interpose/mpi/handles.hpp"

namespace sluice {

class OpenRequests {
 public:
  static constexpr std::size_t max_kept = 64;

  OpenRequests(int count, const MPI_Request requests[]);

  enum class Found : unsigned char {
    none,    // all are complete, null or inactive
    open,    // one of Sluice's
    others,  // a request of the host's, or none at all: this look is of no use
  };
  /// From the last one that was found open on.
  Found look();
  /// When none was: the handle of each, nullptr for what is null or inactive. Only of so many are they kept.
  [[nodiscard]] bool keeps_handles() const { return count_ <= max_kept; }
  [[nodiscard]] std::span<Handle* const> handles() const { return {handles_.data(), count_}; }

 private:
  Found look_until(std::size_t end);
  void remember(std::size_t index) const;

  const MPI_Request* requests_;
  std::size_t count_;
  std::size_t start_;
  std::size_t next_;
  bool came_round_ = false;
  HandleSearch search_;
  std::array<Handle*, max_kept> handles_;
};

}  // namespace sluice
