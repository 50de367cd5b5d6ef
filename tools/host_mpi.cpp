#include "tools/host_mpi.hpp"

#include <dlfcn.h>

#include <array>
#include <memory>

namespace sluice {

namespace {

/// Open MPI 4.x, whose handles and predefined objects Sluice knows.
constexpr const char* library = "libmpi.so.40";
constexpr std::size_t longest_version = 256;  // MPI_MAX_LIBRARY_VERSION_STRING of Open MPI 4

struct Unload {
  void operator()(void* handle) const { ::dlclose(handle); }
};

}  // namespace

HostMpi find_host_mpi() {
  const std::unique_ptr<void, Unload> handle(::dlopen(library, RTLD_LAZY | RTLD_LOCAL));
  if (!handle) return {false, "", ::dlerror()};

  using GetLibraryVersion = int (*)(char*, int*);
  const auto get_version = reinterpret_cast<GetLibraryVersion>(::dlsym(handle.get(), "PMPI_Get_library_version"));
  std::array<char, longest_version + 1> text{};
  int length = 0;
  if (!get_version || get_version(text.data(), &length) != 0)
    return {false, "", std::string(library) + " does not tell its version"};
  HostMpi host{true, text.data(), ""};
  if (host.version.find("Open MPI v4.") == std::string::npos) host.problem = "Sluice is made for Open MPI 4";
  return host;
}

}  // namespace sluice
