// dlopen may bring in a GPU's runtime: the next call looks. Passed on by a jump, so that the C library sees who called, whose
// search path holds.

#include "interpose/libc/next.hpp"
// The shape of the wrappers comes first.
#include <dlfcn.h>

#include "interpose/device/memory.hpp"

// clang-format off
#define SLUICE_LIBC_CALL(name, offset) asm(".set sluice_offset_of_" #name ", " #offset "\n");
#include "libc_calls.inc"
#undef SLUICE_LIBC_CALL

namespace sluice {
extern "C" {
/// For a call that comes before the functions were looked up.
[[gnu::visibility("hidden"), gnu::used]] void* sluice_find_dlopen() { return detail::look_up(LibcCall::dlopen); }
}
}  // namespace sluice

asm(".text\n .globl dlopen\n .type dlopen, @function\n"
    "dlopen:\n"
    "  movb $1, sluice_device_search(%rip)\n"
    "  movq sluice_libc_next + sluice_offset_of_dlopen(%rip), %rax\n"
    "  testq %rax, %rax\n"
    "  jne 1f\n"
    "  pushq %rdi\n  pushq %rsi\n  subq $8, %rsp\n"
    "  call sluice_find_dlopen\n"
    "  addq $8, %rsp\n  popq %rsi\n  popq %rdi\n"
    "1: jmp *%rax\n"
    "  .size dlopen, . - dlopen\n");
// clang-format on
