// Windows of shared memory of the host's: what is asked of it, and where it has put them.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <string>

#include "interpose/mpi/entry.hpp"

namespace sluice {

/// The program's hints, and each rank's memory on pages of its own.
class SharedMemoryInfo {
 public:
  explicit SharedMemoryInfo(MPI_Info hints) {
    if (hints && hints != predefined().info_null) {
      host().Info_dup(hints, &info_);
      asked_layout_ = value_in(hints);
    } else {
      host().Info_create(&info_);
    }
    host().Info_set(info_, layout, "true");
  }
  ~SharedMemoryInfo() { host().Info_free(&info_); }
  SharedMemoryInfo(const SharedMemoryInfo&) = delete;
  SharedMemoryInfo& operator=(const SharedMemoryInfo&) = delete;

  [[nodiscard]] MPI_Info get() const { return info_; }
  /// The program's hint of where the memories lie to each other; empty if there is none.
  [[nodiscard]] const std::string& asked_layout() const { return asked_layout_; }
  /// Of what the host says of such a window: that hint as it was.
  static void give_back(MPI_Info info, const std::string& asked_layout) {
    if (!asked_layout.empty()) {
      host().Info_set(info, layout, asked_layout.c_str());
    } else if (!value_in(info).empty()) {
      host().Info_delete(info, layout);
    }
  }

 private:
  static constexpr const char* layout = "alloc_shared_noncontig";

  static std::string value_in(MPI_Info info) {
    std::array<char, MPI_MAX_INFO_VAL + 1> value{};
    int found = 0;
    host().Info_get(info, layout, MPI_MAX_INFO_VAL, value.data(), &found);
    return found != 0 ? std::string(value.data()) : std::string();
  }

  MPI_Info info_{};
  std::string asked_layout_;
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
