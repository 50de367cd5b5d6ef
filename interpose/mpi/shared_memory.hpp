// Windows of shared memory of the host's: what is asked of it, and where it has put them.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "interpose/mpi/entry.hpp"

namespace sluice {

/// The program's hints, and each rank's memory on pages of its own.
class SharedMemoryInfo {
 public:
  explicit SharedMemoryInfo(MPI_Info hints) {
    if (hints && hints != predefined().info_null) {
      host().Info_dup(hints, &info_);
    } else {
      host().Info_create(&info_);
    }
    host().Info_set(info_, "alloc_shared_noncontig", "true");
  }
  ~SharedMemoryInfo() { host().Info_free(&info_); }
  SharedMemoryInfo(const SharedMemoryInfo&) = delete;
  SharedMemoryInfo& operator=(const SharedMemoryInfo&) = delete;

  [[nodiscard]] MPI_Info get() const { return info_; }

 private:
  MPI_Info info_{};
};

/// Of that rank's memory, here.
inline std::byte* shared_base(MPI_Win window, int rank) {
  MPI_Aint bytes = 0;
  int unit = 0;
  void* base = nullptr;
  host().Win_shared_query(window, rank, &bytes, &unit, &base);
  return static_cast<std::byte*>(base);
}

}  // namespace sluice
