// Communicators with the same members, each of which asks Sluice for another protocol (the hint sluice_rndv, which any other MPI
// ignores). Trials on one after the other are made under the same conditions, which two jobs never are.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

namespace apps {

struct Side {
  std::string name;  // of the protocol; empty where there is only one side
  MPI_Comm comm;
};

class Sides {
 public:
  /// `names` separated by commas. Without any, one side: MPI_COMM_WORLD. Collective, as is the end.
  explicit Sides(const std::string& names);
  ~Sides();
  Sides(const Sides&) = delete;
  Sides& operator=(const Sides&) = delete;

  [[nodiscard]] const std::vector<Side>& all() const { return sides_; }
  [[nodiscard]] bool alternate() const { return sides_.size() > 1; }

 private:
  std::vector<Side> sides_;
};

}  // namespace apps
