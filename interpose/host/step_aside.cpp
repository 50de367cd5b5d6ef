#include "interpose/host/step_aside.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cctype>
#include <cstdio>

#include "interpose/host/host_library.hpp"
#include "interpose/host/launcher_rank.hpp"
#include "runtime/config/config.hpp"

namespace sluice {
namespace {

/// MPI_MAX_LIBRARY_VERSION_STRING is 8192 in MPICH and in the standard interface, the most that there is.
constexpr std::size_t longest_version = 8192;

std::string version_of_host() {
  using GetLibraryVersion = int (*)(char*, int*);
  const auto get_version = reinterpret_cast<GetLibraryVersion>(HostLibrary::get().function("PMPI_Get_library_version"));
  std::array<char, longest_version + 1> text{};
  int length = 0;
  if (!get_version || get_version(text.data(), &length) != 0) return "an MPI library that does not tell its version";
  return version_in(text.data());
}

}  // namespace

std::string version_in(std::string_view told) {
  std::string version;
  for (const char letter : told.substr(0, told.find_first_of("\n,"))) {
    const bool space = std::isspace(static_cast<unsigned char>(letter)) != 0;
    if (!space) version += letter;
    if (space && !version.empty() && version.back() != ' ') version += ' ';
  }
  if (version.ends_with(' ')) version.pop_back();
  return version;
}

void step_aside() {
  static std::atomic_flag said;
  if (said.test_and_set() || !parse_config(environ).config.enable || rank_told_by_launcher(environ).value_or(0) != 0) return;
  std::fprintf(stderr,
               "sluice: warning: the MPI library is %s (%s), whose handles Sluice does not know; Sluice steps aside, and it "
               "carries everything\n",
               version_of_host().c_str(), HostLibrary::get().soname().c_str());
}

}  // namespace sluice
