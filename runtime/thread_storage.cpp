#include "runtime/thread_storage.hpp"

#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sluice {
namespace {

/// glibc keeps 1.7 KB for libraries that come later, and its control block is 2.3 KB; the robust list's head, which the kernel
/// knows, lies in the control block.
constexpr std::size_t room = 2 * page_bytes;

int add_storage(dl_phdr_info* library, std::size_t, void* sum) {
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const auto& header = library->dlpi_phdr[i];
    if (header.p_type == PT_TLS) *static_cast<std::size_t*>(sum) += header.p_memsz + header.p_align;
  }
  return 0;
}

ByteRange measure() {
  std::uintptr_t control_block = 0;
  std::size_t bytes = 0;
  if (syscall(SYS_get_robust_list, getpid(), &control_block, &bytes) != 0 || control_block == 0) return {};
  std::size_t variables = 0;
  dl_iterate_phdr(add_storage, &variables);
  return PageRange::covering({control_block - variables - room, control_block + room}).bytes();
}

}  // namespace

ByteRange main_thread_storage() {
  static const ByteRange storage = measure();
  return storage;
}

}  // namespace sluice
