// The host: Open MPI's library, its launcher, and its Fortran layers.
#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>

#include "tools/check/elf_file.hpp"
#include "tools/check/finding.hpp"
#include "tools/host_mpi.hpp"

namespace sluice {

namespace {

struct ClosePipe {
  void operator()(std::FILE* pipe) const { ::pclose(pipe); }
};

/// The first line of what a command prints, or nothing.
std::string first_line_printed_by(const char* command) {
  const std::unique_ptr<std::FILE, ClosePipe> pipe(::popen(command, "r"));
  std::array<char, 512> line{};
  if (!pipe || !std::fgets(line.data(), static_cast<int>(line.size()), pipe.get())) return "";
  std::string text = line.data();
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

Finding examine_host(const Examined&) {
  const HostMpi host = find_host_mpi();
  if (!host.found)
    return {State::problem, host.problem, "Install Open MPI (Debian: openmpi-bin), or name its directory in LD_LIBRARY_PATH"};
  const std::string advice = fmt::format("Use Open MPI {}", tested_versions);
  if (!host.problem.empty()) return {State::problem, fmt::format("{}: {}", host.version, host.problem), advice};
  if (!host.remark.empty()) return {State::warning, fmt::format("{}: {}", host.version, host.remark), advice};
  return {State::good, host.version, ""};
}

Finding examine_launcher(const Examined&) {
  const std::string version = first_line_printed_by("mpirun --version 2>/dev/null </dev/null");
  if (version.empty())
    return {State::warning, "no mpirun that tells its version is in the PATH", "Put Open MPI's directory into the PATH"};
  if (version.find("(Open MPI)") == std::string::npos) {
    return {State::problem, fmt::format("mpirun in the PATH is that of another MPI: {}", version),
            "Put Open MPI's directory in front in the PATH"};
  }
  return {State::good, version, ""};
}

/// Path of a library as the dynamic linker finds it, or nothing.
std::string path_of(const std::string& soname) {
  void* const handle = ::dlopen(soname.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!handle) return "";
  link_map* map = nullptr;
  const bool known = ::dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&map)) == 0 && map;
  std::string path = known ? map->l_name : "";
  ::dlclose(handle);
  return path;
}

/// mpif.h and `use mpi` go through libmpi_mpifh, and `use mpi_f08` does, too: in it every call has to leave for MPI_X or PMPI_X
/// of another library, where Sluice stands.
Finding examine_fortran(const Examined&) {
  const std::string path = path_of("libmpi_mpifh.so.40");
  if (path.empty()) return {State::good, "Open MPI's Fortran layer is not installed", ""};
  const ElfFile layer(path);
  for (const char* const call : {"Init", "Send", "Recv", "Isend", "Irecv", "Wait", "Waitall"}) {
    const std::string name = fmt::format("MPI_{}", call);
    const std::string profiled = "P" + name;
    const bool leaves = layer.needs(name) || layer.needs(profiled);
    if (!leaves || layer.defines(name) || layer.defines(profiled)) {
      return {State::problem, fmt::format("{} of Fortran programs does not leave {}", name, path),
              "Build Open MPI with its Fortran layer as a shared library of its own, as distributions do"};
    }
  }
  return {State::good, fmt::format("calls leave {} for libmpi", path), ""};
}

}  // namespace

std::vector<Check> checks_of_host() {
  return {{"Open MPI", examine_host}, {"launcher", examine_launcher}, {"Fortran", examine_fortran}};
}

}  // namespace sluice
