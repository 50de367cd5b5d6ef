// Whether the program's calls reach Sluice: the library, its place in LD_PRELOAD, the variables, the program itself.
#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "tools/check/elf_file.hpp"
#include "tools/check/finding.hpp"
#include "tools/preload.hpp"

namespace sluice {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view library_name = "libsluice.so";
constexpr std::string_view host_soname_end = ".so.40";  // of every library of Open MPI 4, 5 and 6

/// The file that the dynamic linker takes for an entry of LD_PRELOAD: this command has all of them loaded as well. Empty if it
/// could not be loaded.
fs::path file_of(const std::string& entry) {
  void* const handle = ::dlopen(entry.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (!handle) return {};
  link_map* map = nullptr;
  const bool known = ::dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&map)) == 0 && map;
  fs::path file = known ? map->l_name : "";
  ::dlclose(handle);
  return file;
}

bool intercepts_mpi(const fs::path& file) {
  const auto symbols = ElfFile(file).defined();
  return std::any_of(symbols.begin(), symbols.end(), [](const std::string& name) { return name.starts_with("MPI_"); });
}

Finding examine_library(const Examined& examined) {
  if (!examined.library) {
    return {State::problem, "libsluice.so is neither installed beside this command nor in its build tree",
            "Install both: meson install -C build"};
  }
  if (examined.library->find_first_of(": ") != std::string::npos) {
    return {State::problem, *examined.library + ": LD_PRELOAD cannot name a path with a colon or a space",
            "Move the installation to another directory"};
  }
  return {State::good, *examined.library, ""};
}

Finding examine_order(const Examined& examined) {
  const char* const preload = std::getenv("LD_PRELOAD");
  const auto entries = preload_entries(preload ? preload : "");
  if (entries.empty()) return {State::good, "LD_PRELOAD is empty; sluice run fills it", ""};
  std::string first;
  for (const std::string& entry : entries) {
    const fs::path file = file_of(entry);
    if (file.empty()) {
      return {State::problem, fmt::format("{} in LD_PRELOAD cannot be loaded", entry),
              "Correct LD_PRELOAD: ld.so says why at the start of every program"};
    }
    const bool is_ours = file.filename() == library_name;
    if (is_ours && !first.empty() && first != file) {
      return {State::problem, fmt::format("LD_PRELOAD names two libraries: {} and {}", first, file.string()), "Remove one"};
    }
    if (is_ours) first = file;
    if (!is_ours && !first.empty() && intercepts_mpi(file)) {
      return {State::problem, fmt::format("{} stands behind {} in LD_PRELOAD, and sees no call", file.string(), library_name),
              fmt::format("Put it in front: LD_PRELOAD={}:{}", file.string(), first)};
    }
    if (!is_ours && first.empty() && file.filename().string().starts_with("libtcmalloc")) {
      return {State::warning, fmt::format("{} stands in front, and moves memory by system calls that Sluice does not see", entry),
              "Put it behind libsluice.so in LD_PRELOAD"};
    }
  }
  if (first.empty())
    return {State::good, fmt::format("{}; sluice run puts {} behind", fmt::join(entries, ":"), library_name), ""};
  std::error_code error;
  if (examined.library && !fs::equivalent(first, *examined.library, error)) {
    return {State::warning, fmt::format("{} is preloaded, but this command belongs to {}", first, *examined.library),
            "Use the command and the library of one installation"};
  }
  return {State::good, fmt::format("{}", fmt::join(entries, ":")), ""};
}

Finding examine_variables(const Examined& examined) {
  const ParsedConfig& parsed = examined.parsed;
  const char* const advice = "sluice info --config lists the variables and what they expect";
  if (!parsed.errors.empty()) return {State::problem, fmt::format("{}", fmt::join(parsed.errors, "; ")), advice};
  if (!parsed.warnings.empty()) return {State::warning, fmt::format("{}", fmt::join(parsed.warnings, "; ")), advice};
  if (!parsed.config.enable) return {State::warning, "SLUICE_ENABLE=0: Sluice steps aside", "Unset it to use Sluice"};
  if (parsed.config.release == ReleaseMode::off)
    return {State::note, "SLUICE_RELEASE=off: nothing is released early", "Unset it to have receives released"};
  if (parsed.config.keeps_pages())
    return {State::note, "SLUICE_BLOCKS=off: nothing is released early", "Unset it to have receives released"};
  return {State::good, "all values are understood", ""};
}

/// As execvp finds it.
fs::path find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* const path = std::getenv("PATH");
  std::istringstream directories(path ? path : "");
  for (std::string directory; std::getline(directories, directory, ':');) {
    fs::path candidate = fs::path(directory) / name;
    if (::access(candidate.c_str(), X_OK) == 0 && !fs::is_directory(candidate)) return candidate;
  }
  return {};
}

Finding examine_elf(const fs::path& file) {
  const ElfFile program(file);
  if (!program.is_x86_64()) {
    return {State::problem, file.string() + " is not for x86-64", "Use the host MPI alone; Sluice is for x86-64 only"};
  }
  if (!program.has_interpreter())
    return {State::problem, file.string() + " is linked statically", "Link it dynamically: nothing can be preloaded into it"};
  if (program.defines("MPI_Init") || program.defines("MPI_Recv")) {
    return {State::problem, file.string() + " contains an MPI library or tool of its own, which takes its calls first",
            "Link it against the shared library of Open MPI"};
  }
  const auto& needed = program.needed();
  const auto is_mpi = [](const std::string& name) { return name.starts_with("libmpi"); };
  const auto mpi = std::find_if(needed.begin(), needed.end(), is_mpi);
  if (mpi == needed.end()) {
    return {State::note, file.string() + " is not linked against an MPI library",
            "That is right for programs that load MPI later (Python), wrong for any other"};
  }
  if (!mpi->ends_with(host_soname_end))
    return {State::problem, fmt::format("{} is linked against {}, beside which Sluice steps aside", file.string(), *mpi),
            "Build it with Open MPI, in its own interface"};
  return {State::good, fmt::format("{}, linked against {}", file.string(), *mpi), ""};
}

Finding examine_program(const Examined& examined) {
  if (examined.program.empty()) return {State::good, "none was named", ""};
  const fs::path file = find_program(examined.program);
  struct stat status {};
  if (file.empty()) return {State::problem, examined.program + " is not in the PATH", "Name its path"};
  if (::stat(file.c_str(), &status) != 0)
    return {State::problem, fmt::format("{}: {}", file.string(), std::strerror(errno)), "Name another"};
  if (status.st_mode & (S_ISUID | S_ISGID)) {
    return {State::problem, file.string() + " is set-user-ID or set-group-ID: the dynamic linker preloads nothing into it",
            "Use a copy without these bits: chmod u-s,g-s"};
  }
  return examine_elf(file);
}

}  // namespace

std::vector<Check> checks_of_preloading() {
  return {{"library", examine_library},
          {"preload order", examine_order},
          {"variables", examine_variables},
          {"program", examine_program}};
}

}  // namespace sluice
