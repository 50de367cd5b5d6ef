#include "tools/host_mpi.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

namespace sluice {

namespace {

/// Of Open MPI 4, 5 and 6, whose handles and predefined objects Sluice knows.
constexpr const char* host_library = "libmpi.so.40";
constexpr std::size_t longest_version = 8192;  // MPI_MAX_LIBRARY_VERSION_STRING of the standard interface; Open MPI has 256
constexpr std::array<std::string_view, 3> tested = {"Open MPI v4.1.", "Open MPI v5.0.", "Open MPI v6.0."};
/// With other handles: MPICH as Debian names it, MPICH and its kin, and the standard interface of any.
constexpr std::array others = {"libmpich.so.12", "libmpi.so.12", "libmpi_abi.so.1"};

struct Unload {
  void operator()(void* handle) const { ::dlclose(handle); }
};

using Library = std::unique_ptr<void, Unload>;

Library load(const char* name) { return Library(::dlopen(name, RTLD_LAZY | RTLD_LOCAL)); }

/// Why there is no host, and what there is in its place.
std::string without_host(std::string why) {
  for (const char* const other : others) {
    if (load(other)) return why + "; there is " + other + ", beside which Sluice steps aside";
  }
  return why;
}

}  // namespace

const char* const tested_versions = "4.1, 5.0 and 6.0";

HostMpi find_host_mpi() {
  const Library handle = load(host_library);
  if (!handle) return {false, "", without_host(::dlerror()), ""};

  using GetLibraryVersion = int (*)(char*, int*);
  const auto get_version = reinterpret_cast<GetLibraryVersion>(::dlsym(handle.get(), "PMPI_Get_library_version"));
  std::array<char, longest_version + 1> text{};
  int length = 0;
  if (!get_version || get_version(text.data(), &length) != 0)
    return {false, "", std::string(host_library) + " does not tell its version", ""};
  HostMpi host{true, text.data(), "", ""};
  const auto is_told = [&](std::string_view version) { return host.version.find(version) != std::string::npos; };
  if (!is_told("Open MPI v")) {
    host.problem = "Sluice is made for Open MPI";
  } else if (std::none_of(tested.begin(), tested.end(), is_told)) {
    host.remark = std::string("Sluice is tested with ") + tested_versions;
  }
  return host;
}

}  // namespace sluice
