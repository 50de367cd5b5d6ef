// Stack walks of call paths (call_paths.hpp).

#include <dlfcn.h>
#include <link.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include <atomic>

#include "runtime/trace/call_paths.hpp"

#define SLUICE_TEXT(name) #name
/// The name that a macro of libunwind's stands for.
#define SLUICE_NAME_OF(name) SLUICE_TEXT(name)

namespace sluice::trace {
namespace {

constexpr const char* library_name = "libunwind.so.8";
/// Written once by `load`, before any thread may unwind.
struct Library {
  decltype(&unw_init_local) init_local = nullptr;
  decltype(&unw_step) step = nullptr;
  decltype(&unw_get_reg) get_reg = nullptr;
  decltype(&unw_flush_cache) flush_cache = nullptr;
  unw_addr_space_t* address_space = nullptr;
  int (*get_context)(unw_tdep_context_t*) = nullptr;
};
constinit Library library{};
constinit std::atomic<bool> loaded{false};

/// Objects that were unloaded so far, when libunwind last forgot what it knows of addresses: others may have taken their place.
constinit std::atomic<unsigned long long> unloaded_then{0};

unsigned long long unloaded_objects() {
  unsigned long long count = 0;
  const auto look = [](dl_phdr_info* info, std::size_t, void* result) {
    *static_cast<unsigned long long*>(result) = info->dlpi_subs;
    return 1;
  };
  dl_iterate_phdr(look, &count);
  return count;
}

void forget_what_was_unloaded() {
  const unsigned long long now = unloaded_objects();
  if (unloaded_then.exchange(now, std::memory_order_relaxed) != now) library.flush_cache(*library.address_space, 0, 0);
}

template <typename Function>
bool look_up(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  return function != nullptr;
}

}  // namespace

std::string StackWalk::load() {
  if (is_loaded()) return {};
  void* const handle = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
  if (!handle) return dlerror();
  const bool complete = look_up(handle, SLUICE_NAME_OF(unw_init_local), library.init_local) &&
                        look_up(handle, SLUICE_NAME_OF(unw_step), library.step) &&
                        look_up(handle, SLUICE_NAME_OF(unw_get_reg), library.get_reg) &&
                        look_up(handle, SLUICE_NAME_OF(unw_flush_cache), library.flush_cache) &&
                        look_up(handle, SLUICE_NAME_OF(unw_local_addr_space), library.address_space) &&
                        look_up(handle, SLUICE_NAME_OF(UNW_ARCH_OBJ(getcontext)), library.get_context);
  if (!complete) return std::string(library_name) + ": its local interface is incomplete";
  loaded.store(true, std::memory_order_release);
  CallPath unused;
  (void)find(reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)),
             reinterpret_cast<std::uintptr_t>(__builtin_dwarf_cfa()), max_frames, unused);
  return {};
}

bool StackWalk::is_loaded() { return loaded.load(std::memory_order_acquire); }

bool StackWalk::find(std::uintptr_t return_address, std::uintptr_t frame, std::size_t max_depth, CallPath& path) {
  forget_what_was_unloaded();
  unw_tdep_context_t context;
  unw_cursor_t cursor;
  library.get_context(&context);
  if (library.init_local(&cursor, &context) < 0) return false;
  path.depth = 0;
  for (std::size_t steps = 0; path.depth < max_depth && steps < max_own_frames + max_depth; ++steps) {
    unw_word_t address = 0;
    unw_word_t above = 0;
    if (library.step(&cursor) <= 0 || library.get_reg(&cursor, UNW_REG_IP, &address) < 0 || address == 0 ||
        library.get_reg(&cursor, UNW_REG_SP, &above) < 0)
      break;
    const CallPath::Level level{address, above - sizeof(std::uintptr_t)};
    if (path.depth == 0 && (address != return_address || above != frame)) continue;
    path.levels[path.depth++] = level;
  }
  return path.depth != 0;
}

}  // namespace sluice::trace
