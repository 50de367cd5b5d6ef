#include "runtime/process/fault_stack.hpp"

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>

namespace sluice::fault_stack {
namespace {

/// As many threads can be in the handler on small alternate stacks at once. They are pages of zeros until used.
constexpr std::size_t count = 32;
struct alignas(64) Stack {
  std::array<std::byte, roomy> bytes;
};
constinit std::array<Stack, count> stacks{};
constinit std::atomic<std::uint32_t> taken{0};
static_assert(count == 32, "one bit of `taken` for each");

constexpr std::size_t none = count;

std::size_t take() {
  std::uint32_t seen = taken.load(std::memory_order_relaxed);
  while (seen != ~std::uint32_t{0}) {
    const auto index = static_cast<std::size_t>(std::countr_one(seen));
    if (taken.compare_exchange_weak(seen, seen | (std::uint32_t{1} << index), std::memory_order_acquire)) return index;
  }
  return none;
}

void give_back(std::size_t index) { taken.fetch_and(~(std::uint32_t{1} << index), std::memory_order_release); }

}  // namespace

bool is_cramped(const stack_t& alternate) {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const auto begin = reinterpret_cast<std::uintptr_t>(alternate.ss_sp);
  return alternate.ss_size != 0 && here - begin < alternate.ss_size && here - begin < roomy;
}

void run(void (*function)(void*), void* argument) {
  const std::size_t index = take();
  if (index == none) return function(argument);
  std::byte* top = stacks[index].bytes.data() + roomy;
  asm volatile(
      "movq %%rsp, %%rbx\n\t"
      "movq %[top], %%rsp\n\t"
      "callq *%[function]\n\t"
      "movq %%rbx, %%rsp"
      : [top] "+r"(top), [function] "+r"(function), "+D"(argument)
      :
      : "rbx", "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6",
        "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "mm0", "st", "memory", "cc");
  give_back(index);
}

}  // namespace sluice::fault_stack
