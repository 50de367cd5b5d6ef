// The request array of a completion call, sorted into what is Sluice's, what is the host's, and what is null or inactive.
//
// The host's requests are copied into an array of their own, which the host's completion calls work on; what they change is
// written back. Arrays of up to 64 requests take no memory from the heap.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

#include "interpose/handles.hpp"

namespace sluice {

/// Uninitialised room for `size` objects.
template <typename T>
class SmallArray {
 public:
  explicit SmallArray(std::size_t size) : size_(size) {
    if (size > in_place) heap_ = std::make_unique_for_overwrite<T[]>(size);
  }
  [[nodiscard]] T* data() { return heap_ ? heap_.get() : local_.data(); }
  T& operator[](std::size_t i) { return data()[i]; }
  [[nodiscard]] std::span<T> first(std::size_t count) { return {data(), count}; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t in_place = 64;
  std::size_t size_;
  std::unique_ptr<T[]> heap_;
  static_assert(std::is_trivially_copyable_v<T>);
  union {
    std::array<T, in_place> local_;  // in a union, so that no constructor runs
  };
};

class RequestArray {
 public:
  /// `count` and `requests` are sound; see `sound`.
  RequestArray(int count, MPI_Request requests[]);

  /// What a completion call must not be given; the host then says what is wrong with it.
  static bool sound(int count, const MPI_Request requests[]);

  [[nodiscard]] std::size_t size() const { return size_; }
  /// Active requests, complete or not.
  [[nodiscard]] std::size_t ours() const { return ours_; }
  [[nodiscard]] std::size_t hosts() const { return hosts_; }
  /// The host can be given the array as it is.
  [[nodiscard]] bool has_only_hosts() const { return ours_ == 0 && inactive_ == 0 && hosts_ != 0; }

  /// nullptr where the entry is the host's, null or inactive.
  [[nodiscard]] Handle* handle(std::size_t index) { return handles_[index]; }
  [[nodiscard]] bool is_host(std::size_t index) { return is_host_[index]; }
  [[nodiscard]] MPI_Request& slot(std::size_t index) { return requests_[index]; }

  /// Index of the first request of Sluice's that is complete; `size()` when there is none.
  std::size_t first_complete();
  bool all_complete();

  /// The engine's side of all active requests, with null entries for those that were complete at once.
  std::span<Request* const> engine_requests() { return active_.first(ours_); }

  /// The host's requests, close together; `host_index` tells where each came from.
  [[nodiscard]] MPI_Request* host_requests() { return host_requests_.data(); }
  [[nodiscard]] std::size_t host_index(std::size_t i) { return host_indices_[i]; }
  /// The host reported request `i` of its own complete: writes back what it left of it.
  void host_completed(std::size_t i);

 private:
  MPI_Request* requests_;
  std::size_t size_;
  std::size_t ours_ = 0;
  std::size_t hosts_ = 0;
  std::size_t inactive_ = 0;  // persistent requests of Sluice's
  SmallArray<Handle*> handles_;
  SmallArray<Request*> active_;
  SmallArray<bool> is_host_;
  SmallArray<MPI_Request> host_requests_;
  SmallArray<std::size_t> host_indices_;
};

}  // namespace sluice
