// Where libsluice.so lies, and how it is put into LD_PRELOAD.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// Where the library may lie, best first, for a command in `directory`: installed beside it, or in the same build tree.
std::vector<std::filesystem::path> library_candidates(const std::filesystem::path& directory,
                                                      const std::filesystem::path& installed_bindir,
                                                      const std::filesystem::path& installed_libdir);

/// The library that belongs to the running command.
std::optional<std::filesystem::path> find_library();

/// The libraries that a value of LD_PRELOAD names.
std::vector<std::string> preload_entries(std::string_view preload);

/// LD_PRELOAD with the library at the end, so that other PMPI tools that are there already stay in front of it and see
/// the program's calls. A library that is listed already stays where it is.
std::string with_preload(std::string_view existing, std::string_view library);

}  // namespace sluice
