#include "tests/unit/support/step_counter.hpp"

#include <dlfcn.h>
#include <signal.h>
#include <ucontext.h>
#include <x86intrin.h>

#include <algorithm>
#include <array>
#include <cstdint>

extern "C" const unsigned char __executable_start;  // NOLINT(bugprone-reserved-identifier): of the linker
extern "C" const unsigned char etext;

namespace sluice::step_counter {
namespace {

constexpr unsigned trap_flag = 0x100;

StepCounts counts;
std::array<const void*, 5> allocators;
const void* mutex_lock;
struct sigaction before;

/// An instruction as far as it matters here.
struct Instruction {
  bool has_lock_prefix = false;
  const unsigned char* opcode = nullptr;

  explicit Instruction(const unsigned char* at) : opcode(at) {
    for (;; ++opcode) {
      const unsigned char byte = *opcode;
      const bool segment = byte == 0x26 || byte == 0x2e || byte == 0x36 || byte == 0x3e || byte == 0x64 || byte == 0x65;
      const bool rex = (byte & 0xf0) == 0x40;
      const bool other = byte == 0x66 || byte == 0x67 || byte == 0xf2 || byte == 0xf3;
      if (byte == 0xf0) has_lock_prefix = true;
      if (byte != 0xf0 && !segment && !rex && !other) return;
    }
  }
  [[nodiscard]] unsigned mod() const { return opcode[1] >> 6; }
  [[nodiscard]] unsigned reg() const { return (opcode[1] >> 3) & 7; }
  [[nodiscard]] unsigned rm() const { return opcode[1] & 7; }

  [[nodiscard]] bool locks() const {
    const bool exchanges_memory = (*opcode == 0x86 || *opcode == 0x87) && mod() != 3;
    const bool mfence = opcode[0] == 0x0f && opcode[1] == 0xae && opcode[2] == 0xf0;
    return has_lock_prefix || exchanges_memory || mfence;
  }
  /// Not by a word beside the code, which is how functions of other libraries are called.
  [[nodiscard]] bool branches_indirectly() const {
    const bool beside_the_code = mod() == 0 && rm() == 5;
    return *opcode == 0xff && (reg() == 2 || reg() == 4) && !beside_the_code;
  }
};

void look(int, siginfo_t*, void* context) {
  const auto next = static_cast<std::uintptr_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
  const auto* at = reinterpret_cast<const unsigned char*>(next);
  const Instruction instruction(at);
  ++counts.instructions;
  const bool own = at >= &__executable_start && at < &etext;
  counts.locked += at == mutex_lock || (own && instruction.locks());
  counts.indirect += own && instruction.branches_indirectly();
  counts.system_calls += instruction.opcode[0] == 0x0f && instruction.opcode[1] == 0x05;
  counts.allocations += std::find(allocators.begin(), allocators.end(), static_cast<const void*>(at)) != allocators.end();
}

}  // namespace

void start() {
  std::size_t found = 0;
  for (const char* name : {"malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc"}) {
    allocators[found++] = dlsym(RTLD_DEFAULT, name);
  }
  mutex_lock = dlsym(RTLD_DEFAULT, "pthread_mutex_lock");
  counts = {};
  struct sigaction action = {};
  action.sa_sigaction = look;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, &before);
  __writeeflags(__readeflags() | trap_flag);
}

StepCounts stop() {
  __writeeflags(__readeflags() & ~std::uint64_t{trap_flag});
  sigaction(SIGTRAP, &before, nullptr);
  return counts;
}

}  // namespace sluice::step_counter
