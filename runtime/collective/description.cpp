#include "runtime/collective/description.hpp"

#include <array>

namespace sluice {

std::string Description::text() const {
  static constexpr std::array names{"no call",
                                    "MPI_Barrier",
                                    "MPI_Bcast",
                                    "MPI_Reduce",
                                    "MPI_Allreduce",
                                    "MPI_Gather",
                                    "MPI_Scatter",
                                    "MPI_Allgather",
                                    "MPI_Alltoall",
                                    "MPI_Reduce_scatter",
                                    "MPI_Scan",
                                    "MPI_Exscan",
                                    "MPI_Neighbor_allgather",
                                    "MPI_Neighbor_alltoall"};
  const auto index = static_cast<std::size_t>(kind);
  std::string text = index < names.size() ? names[index] : "a call that is not known";
  if (kind == Kind::barrier || is_between_neighbours()) return text;
  text += is_counted() ? "v" : " of " + std::to_string(bytes) + " bytes";
  if (has_root()) text += ", root " + std::to_string(root);
  return text;
}

}  // namespace sluice
