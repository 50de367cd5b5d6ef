#include "interpose/host/host_library.hpp"

#include <dlfcn.h>

#include <string_view>
#include <vector>

namespace sluice {
namespace {

/// Of Open MPI 3.0 to 6.0, whose handles are the same. Open MPI 2 has another, MPICH and its kin have libmpi.so.12 or
/// libmpich.so.12, the standard interface has libmpi_abi.so.1.
constexpr std::string_view known_soname = "libmpi.so.40";
/// Also in Open MPI's derivates with other handles, so it is not enough by itself.
constexpr const char* known_object = "ompi_mpi_comm_world";
constexpr const char* sought = "PMPI_Init";

int collect(dl_phdr_info* info, std::size_t, void* names) {
  // The program itself has no name; its scope is the one that was searched already.
  if (info->dlpi_name && *info->dlpi_name) static_cast<std::vector<std::string>*>(names)->emplace_back(info->dlpi_name);
  return 0;
}

/// Whatever the library is called: objects that were loaded with local scope are looked into one by one, with what they need.
void* find_in_loaded_objects() {
  std::vector<std::string> names;
  dl_iterate_phdr(collect, &names);
  Dl_info own{};
  dladdr(reinterpret_cast<void*>(&find_in_loaded_objects), &own);
  for (const std::string& name : names) {
    if (own.dli_fname && name == own.dli_fname) continue;
    void* const object = dlopen(name.c_str(), RTLD_NOLOAD | RTLD_LAZY);
    if (!object) continue;
    void* const function = dlsym(object, sought);
    dlclose(object);
    if (function) return function;
  }
  return nullptr;
}

const link_map* object_with(void* address) {
  Dl_info info{};
  void* map = nullptr;
  return address && dladdr1(address, &info, &map, RTLD_DL_LINKMAP) != 0 ? static_cast<const link_map*>(map) : nullptr;
}

}  // namespace

std::string soname_of(const link_map& map) {
  const char* strings = nullptr;
  const ElfW(Dyn)* name = nullptr;
  for (const ElfW(Dyn)* entry = map.l_ld; entry && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_SONAME) name = entry;
  }
  if (strings && name) return strings + name->d_un.d_val;
  const std::string_view path = map.l_name;
  return std::string(path.substr(path.rfind('/') + 1));
}

const HostLibrary& HostLibrary::get() {
  static const HostLibrary* const instance = new HostLibrary;  // never destroyed: MPI may be called in destructors
  return *instance;
}

HostLibrary::HostLibrary() {
  void* init = dlsym(RTLD_NEXT, sought);
  if (!init) init = find_in_loaded_objects();
  map_ = object_with(init);
  if (!map_) return;
  handle_ = dlopen(map_->l_name, RTLD_NOLOAD | RTLD_LAZY);
  soname_ = soname_of(*map_);
  known_ = soname_ == known_soname && object(known_object) != nullptr;
}

void* HostLibrary::function(const char* name) const {
  if (void* found = dlsym(RTLD_NEXT, name)) return found;
  return handle_ ? dlsym(handle_, name) : nullptr;
}

/// From the start of the search order: a program that is not position-independent, or was linked as if it were not, holds the
/// host's objects itself (copy relocation), and libmpi uses those.
void* HostLibrary::object(const char* name) const {
  if (void* found = dlsym(RTLD_DEFAULT, name)) return found;
  return handle_ ? dlsym(handle_, name) : nullptr;
}

}  // namespace sluice
