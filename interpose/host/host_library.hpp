// Which of the loaded objects is the host MPI, and whether Sluice knows its handles.
//
// It may stand behind Sluice in the search order, or have come in later by dlopen with local scope (a Python module), where
// RTLD_NEXT does not see it. Only Open MPI's own interface is known: Open MPI 6 and MPICH have the standard one as well, in
// libraries of other names.
#pragma once

#include <link.h>

#include <string>

namespace sluice {

class HostLibrary {
 public:
  /// Looks once, at the first call. [any thread]
  static const HostLibrary& get();

  [[nodiscard]] bool found() const { return map_ != nullptr; }
  /// Its predefined objects and handles are Open MPI's.
  [[nodiscard]] bool is_known() const { return known_; }
  /// As its dynamic section names it; of an object without such a name, that of its file.
  [[nodiscard]] const std::string& soname() const { return soname_; }

  /// A function of the host; nullptr when it has none of that name.
  [[nodiscard]] void* function(const char* name) const;
  /// A data symbol, wherever the host itself finds it.
  [[nodiscard]] void* object(const char* name) const;

 private:
  HostLibrary();

  const link_map* map_ = nullptr;
  void* handle_ = nullptr;
  std::string soname_;
  bool known_ = false;
};

/// The DT_SONAME of a loaded object, or the last part of its path.
std::string soname_of(const link_map& map);

}  // namespace sluice
