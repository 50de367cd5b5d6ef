// The MPI library that programs on this machine will find.
#pragma once

#include <string>

namespace sluice {

struct HostMpi {
  bool found = false;
  std::string version;  // as the library tells it: "Open MPI v4.1.4, package: ...", on one line
  std::string problem;  // why it was not found, or why Sluice cannot use it
  std::string remark;   // of a version that Sluice was not tested with
};

/// The versions of Open MPI that Sluice is tested with, in words.
extern const char* const tested_versions;

/// Loads the library that Sluice is made for and asks it; MPI is not started.
HostMpi find_host_mpi();

}  // namespace sluice
