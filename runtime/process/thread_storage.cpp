#include "runtime/process/thread_storage.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sluice {
namespace {

/// glibc's control block, of which the robust list's head, which the kernel knows, begins at 736 (glibc 2.36, measured).
constexpr std::size_t control_block_bytes = 2368;
constexpr std::size_t robust_list_offset = 736;
/// What glibc keeps for the variables of libraries that are loaded later, where it does not tell how much it is.
constexpr std::size_t kept_for_later = page_bytes;

int add_variables(dl_phdr_info* library, std::size_t, void* sum) {
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const auto& header = library->dlpi_phdr[i];
    if (header.p_type == PT_TLS) *static_cast<std::size_t*>(sum) += header.p_memsz + header.p_align;
  }
  return 0;
}

/// Of the variables and the control block together.
std::size_t static_bytes() {
  std::size_t bytes = 0;
  std::size_t alignment = 0;
  // Private to glibc, but there since 2.3, and the only exact answer.
  if (void* tell = dlsym(RTLD_DEFAULT, "_dl_get_tls_static_info")) {
    reinterpret_cast<void (*)(std::size_t*, std::size_t*)>(tell)(&bytes, &alignment);
    return bytes;
  }
  dl_iterate_phdr(add_variables, &bytes);
  return bytes + kept_for_later + control_block_bytes;
}

ByteRange measure() {
  std::uintptr_t robust_list = 0;
  std::size_t bytes = 0;
  if (syscall(SYS_get_robust_list, getpid(), &robust_list, &bytes) != 0 || robust_list == 0) return {};
  const std::uintptr_t end = robust_list - robust_list_offset + control_block_bytes;
  return PageRange::covering({end - static_bytes(), end}).bytes();
}

}  // namespace

ByteRange main_thread_storage() {
  static const ByteRange storage = measure();
  return storage;
}

}  // namespace sluice
