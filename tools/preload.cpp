#include "tools/preload.hpp"

#include <algorithm>
#include <system_error>

namespace sluice {

namespace {

constexpr std::string_view library_name = "libsluice.so";
constexpr std::string_view separators = ": ";  // both are understood by the dynamic linker

}  // namespace

std::vector<std::filesystem::path> library_candidates(const std::filesystem::path& directory,
                                                      const std::filesystem::path& installed_bindir,
                                                      const std::filesystem::path& installed_libdir) {
  const auto installed = directory / installed_libdir.lexically_relative(installed_bindir) / library_name;
  const auto built = directory / ".." / "interpose" / library_name;
  return {installed.lexically_normal(), built.lexically_normal()};
}

std::optional<std::filesystem::path> find_library() {
  std::error_code error;
  const auto command = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return std::nullopt;
  const auto candidates = library_candidates(command.parent_path(), SLUICE_BINDIR, SLUICE_LIBDIR);
  const auto found = std::find_if(candidates.begin(), candidates.end(),
                                  [&](const auto& path) { return std::filesystem::is_regular_file(path, error); });
  if (found == candidates.end()) return std::nullopt;
  return *found;
}

std::vector<std::string> preload_entries(std::string_view preload) {
  std::vector<std::string> entries;
  while (!preload.empty()) {
    const auto end = std::min(preload.find_first_of(separators), preload.size());
    if (end > 0) entries.emplace_back(preload.substr(0, end));
    preload.remove_prefix(std::min(end + 1, preload.size()));
  }
  return entries;
}

std::string with_preload(std::string_view existing, std::string_view library) {
  if (existing.empty()) return std::string(library);
  const auto entries = preload_entries(existing);
  if (std::find(entries.begin(), entries.end(), library) != entries.end()) return std::string(existing);
  return std::string(existing) + ":" + std::string(library);
}

}  // namespace sluice
