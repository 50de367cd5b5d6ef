// `syscall`, by which programs make the calls that the C library has no function for. Those that have the kernel hold memory, or
// keep something with it, are told apart here; all others are passed on by a jump, with all registers as they came, errno
// included.
//
// The entry reads a table of bytes by the number; whatever is not in it, or comes before the functions were looked up, costs
// three instructions. A call that is taken arrives in `watched_system_call` as if it had been called itself: of six arguments and
// the number, five and the number are in registers and the last one is on the stack, for a function with `...` as for one
// without.

#include "interpose/libc/next.hpp"
// The shape of the wrappers comes first.
#include <linux/aio_abi.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "interpose/libc/kept_calls.hpp"
#include "runtime/alias/watched_memory.hpp"

namespace sluice {
namespace {

// Newer than the headers of older systems.
constexpr long call_mseal = 462;
constexpr unsigned register_buffers = 0;
constexpr unsigned register_buffers_2 = 15;
/// Of io_uring, for `register_buffers_2`.
struct BufferList {
  std::uint32_t count;
  std::uint32_t flags;
  std::uint64_t reserved;
  std::uint64_t vectors;
  std::uint64_t tags;
};

constexpr std::size_t max_numbers = 512;
constexpr std::array<std::uint8_t, max_numbers> taken = [] {
  std::array<std::uint8_t, max_numbers> table{};
  for (const long number :
       {long{SYS_munmap}, long{SYS_mmap}, long{SYS_mremap}, long{SYS_shmat}, long{SYS_brk}, long{SYS_ioctl}, long{SYS_madvise},
        long{SYS_vmsplice}, long{SYS_io_submit}, long{SYS_pkey_mprotect}, long{SYS_io_uring_register}, call_mseal})
    table[static_cast<std::size_t>(number)] = 1;
  return table;
}();

void* as_pointer(long argument) { return reinterpret_cast<void*>(argument); }
std::size_t as_size(long argument) { return static_cast<std::size_t>(argument); }

/// Registered buffers stay the kernel's until the ring is closed.
void lend_registered(unsigned operation, const void* argument, std::size_t count) {
  if (!argument) return;
  if (operation == register_buffers) return lend(static_cast<const iovec*>(argument), count);
  if (operation != register_buffers_2) return;
  const auto& list = *static_cast<const BufferList*>(argument);
  lend(reinterpret_cast<const iovec*>(list.vectors), list.count);
}

/// How long the operations last is told to io_getevents, or to nobody.
void lend_submitted(const iocb* const* operations, long count) {
  for (long i = 0; operations && i < count; ++i) {
    const iocb& operation = *operations[i];
    if (operation.aio_lio_opcode == IOCB_CMD_PREAD || operation.aio_lio_opcode == IOCB_CMD_PWRITE)
      lend(reinterpret_cast<const void*>(operation.aio_buf), operation.aio_nbytes);
    if (operation.aio_lio_opcode == IOCB_CMD_PREADV || operation.aio_lio_opcode == IOCB_CMD_PWRITEV)
      lend(reinterpret_cast<const iovec*>(operation.aio_buf), operation.aio_nbytes);
  }
}

std::optional<Keeping> keeping_of(long number, long first, long second, long third, long fourth) {
  switch (number) {
    case SYS_munmap:
      watched_memory::note_end(ByteRange::of(as_pointer(first), as_size(second)));
      return std::nullopt;
    case SYS_mmap:
    case SYS_mremap:
    case SYS_shmat:
    case SYS_brk:
      watched_memory::note_end_of_everything();
      return std::nullopt;
    case SYS_ioctl:
      return keeping_of_ioctl(static_cast<unsigned long>(second), as_pointer(third));
    case SYS_madvise:
      return keeping_of_advice(as_pointer(first), as_size(second), static_cast<int>(third));
    case SYS_pkey_mprotect:
      return keeping_of_key(as_pointer(first), as_size(second), static_cast<int>(fourth));
    case call_mseal:
      return keeping_of_seal(as_pointer(first), as_size(second));
    case SYS_vmsplice:
      lend(static_cast<const iovec*>(as_pointer(second)), as_size(third));
      return std::nullopt;
    case SYS_io_submit:
      lend_submitted(static_cast<const iocb* const*>(as_pointer(third)), second);
      return std::nullopt;
    case SYS_io_uring_register:
      lend_registered(static_cast<unsigned>(second), as_pointer(third), as_size(fourth));
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace
}  // namespace sluice

extern "C" {
/// Read by the entry.
[[gnu::visibility("hidden"), gnu::used]] extern const std::uint8_t* const sluice_taken_system_calls = sluice::taken.data();

[[gnu::visibility("hidden"), gnu::used]] long sluice_watched_system_call(long number, long first, long second, long third,
                                                                         long fourth, long fifth, long sixth) {
  return sluice::keep(sluice::keeping_of(number, first, second, third, fourth),
                      [&] { return NEXT(syscall)(number, first, second, third, fourth, fifth, sixth); });
}
}

// clang-format off
#define SLUICE_LIBC_CALL(name, offset) asm(".set sluice_offset_" #name ", " #offset "\n");
#include "libc_calls.inc"
#undef SLUICE_LIBC_CALL
asm(".text\n .globl syscall\n .type syscall, @function\n"
    "syscall:\n"
    "  cmpq $512, %rdi\n"
    "  jae 1f\n"
    "  movq sluice_taken_system_calls(%rip), %rax\n"
    "  cmpb $0, (%rax,%rdi)\n"
    "  jne 2f\n"
    "1: movq sluice_libc_next + sluice_offset_syscall(%rip), %rax\n"
    "  testq %rax, %rax\n"
    "  je 2f\n"
    "  jmp *%rax\n"
    "2: jmp sluice_watched_system_call\n"
    "  .size syscall, . - syscall\n");
// clang-format on
