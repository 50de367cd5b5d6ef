#include "runtime/collective/description.hpp"

#include <array>

namespace sluice {

std::string Description::text() const {
  static constexpr std::array names{"no call", "MPI_Barrier", "MPI_Bcast", "MPI_Reduce", "MPI_Allreduce"};
  const auto index = static_cast<std::size_t>(kind);
  std::string text = index < names.size() ? names[index] : "a call that is not known";
  if (kind == Kind::barrier) return text;
  text += " of " + std::to_string(bytes) + " bytes";
  if (kind != Kind::allreduce) text += ", root " + std::to_string(root);
  return text;
}

}  // namespace sluice
