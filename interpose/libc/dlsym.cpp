// MPI calls that are asked for by name: a part of the program (a ctypes module, a plugin, a tool) may have them from the handle
// of the host's library, past the search order in which Sluice stands first. They are answered with Sluice's own, since both
// sides of a message must go the same way.
//
// Sluice has all calls of MPI-4, whatever the host has. A program that asks the whole search order whether there is one of them
// must hear what the host says.
//
// What RTLD_NEXT and the like mean depends on who calls, which the C library sees by the return address. So whatever is not
// answered here goes on to the next dlsym by a jump, with arguments and stack as they came. dlvsym is left alone: the host's
// symbols have no versions.

#include "interpose/libc/next.hpp"
// The shape of the wrappers comes first.
#include <dlfcn.h>

#include <array>
#include <string>
#include <string_view>

#include "interpose/mpi/entry.hpp"

namespace sluice {
namespace {

struct EntryPoint {
  std::string_view name;
  void* own;
};

/// By MPI_X, or MPIX_X. It is PMPI_X, since another tool in front of Sluice may define MPI_X.
const EntryPoint* find_entry_point(std::string_view name) {
  static const std::array all = {
#define SLUICE_ENTRY_POINT(name) EntryPoint{#name, reinterpret_cast<void*>(&::P##name)},
#include "entry_points.inc"
#undef SLUICE_ENTRY_POINT
  };
  for (const EntryPoint& entry : all) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

const void* object_of(void* address) {
  Dl_info found{};
  return address && dladdr(address, &found) != 0 ? found.dli_fbase : nullptr;
}

/// Where Sluice's wrapper of that name would go on to, looked for as host.cpp does, but with nothing remembered: libmpi may come
/// in later.
void* next_of(const char* pmpi_name) {
  if (void* found = NEXT(dlsym)(RTLD_NEXT, pmpi_name)) return found;
  void* const library = dlopen("libmpi.so.40", RTLD_NOLOAD | RTLD_LAZY);
  if (!library) return nullptr;
  void* const found = NEXT(dlsym)(library, pmpi_name);
  dlclose(library);
  return found;
}

/// The call that a name of either kind is about.
const EntryPoint* entry_point_of(std::string_view name) {
  if (name.starts_with('P')) name.remove_prefix(1);
  return name.starts_with("MPI") ? find_entry_point(name) : nullptr;
}

/// The host is there, and has no such call.
bool is_missing_in_host(const char* name) {
  const EntryPoint* const entry = entry_point_of(name);
  if (!entry || next_of((std::string("P").append(entry->name)).c_str())) return false;
  return next_of("PMPI_Init") != nullptr;
}

/// Answers for the next dlsym.
void* nothing(void*, const char*) { return nullptr; }

/// Sluice's own, when the answer would be the function of the host that Sluice calls. The answer may also be that of another
/// tool, of a second MPI library, or Sluice's anyway.
void* own_in_place_of(void* handle, const char* name) {
  const EntryPoint* const entry = entry_point_of(name);
  if (!entry) return nullptr;
  const void* const object = object_of(NEXT(dlsym)(handle, name));
  const std::string pmpi_name = std::string("P").append(entry->name);
  return object && object == object_of(next_of(pmpi_name.c_str())) ? entry->own : nullptr;
}

}  // namespace

/// The answer in rax, or where to go on in rdx.
struct NamedFunction {
  void* answer;
  void* next;
};
extern "C" NamedFunction sluice_named_function(void* handle, const char* name);
extern "C" NamedFunction sluice_named_function(void* handle, const char* name) {
  auto* const next = reinterpret_cast<void*>(NEXT(dlsym));
  if (handle == RTLD_DEFAULT && name && is_missing_in_host(name)) return {nullptr, reinterpret_cast<void*>(&nothing)};
  const bool from_a_library = handle != RTLD_DEFAULT && handle != RTLD_NEXT;
  return {from_a_library && name ? own_in_place_of(handle, name) : nullptr, next};
}

}  // namespace sluice

asm(R"(
  .text
  .p2align 4
  .globl dlsym
  .type dlsym, @function
dlsym:
  .cfi_startproc
  endbr64
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  call sluice_named_function
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
  testq %rax, %rax
  jz 1f
  ret
1:
  jmpq *%rdx
  .cfi_endproc
  .size dlsym, . - dlsym
)");
