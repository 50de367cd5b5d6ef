#include "apps/support/sides.hpp"

#include <sstream>

namespace apps {

namespace {

MPI_Comm world_with_hint(const std::string& protocol) {
  MPI_Comm comm{};
  MPI_Info hints{};
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Info_create(&hints);
  MPI_Info_set(hints, "sluice_rndv", protocol.c_str());
  MPI_Comm_set_info(comm, hints);
  MPI_Info_free(&hints);
  return comm;
}

}  // namespace

Sides::Sides(const std::string& names) {
  std::istringstream list(names);
  for (std::string name; std::getline(list, name, ',');) sides_.push_back({name, world_with_hint(name)});
  if (sides_.empty()) sides_.push_back({{}, MPI_COMM_WORLD});
}

Sides::~Sides() {
  for (Side& side : sides_) {
    if (side.comm != MPI_COMM_WORLD) MPI_Comm_free(&side.comm);
  }
}

}  // namespace apps
