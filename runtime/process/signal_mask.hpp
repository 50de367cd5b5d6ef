// SIGSEGV in signal masks. On a fault whose signal is blocked the kernel ends the process, so that a thread that blocks
// SIGSEGV could not touch a page under guard. Once there is a guard, no mask that the kernel gets contains it.
//
// Whether the program has blocked it is kept in the same mask, under the bit of a signal that neither the kernel nor anybody
// else uses (SIGSTKFLT, the stack fault of a coprocessor that Linux never had). So it is saved and restored by whatever saves
// and restores masks, seen by Sluice or not: threads that inherit it, siglongjmp, the return from a handler. And a SIGSEGV
// that is sent to a thread that has blocked it can be kept waiting by sending it on as the stand-in, which really is blocked.
//
// Price: the program's own mask bit of SIGSTKFLT is lost. It is reported as that of its neighbour, SIGTERM.
#pragma once

#include <csignal>
#include <cstdint>
#include <cstring>

namespace sluice::signal_mask {

constexpr int stand_in = SIGSTKFLT;
/// By which the C library cancels threads, the first of the signals that it keeps for itself.
constexpr int cancellation = __SIGRTMIN;

/// What the kernel reads and writes: one bit for each of 64 signals. The rest of a sigset_t means nothing, and a program
/// need not have it.
using Bits = std::uint64_t;

constexpr Bits bit(int signal) { return Bits{1} << (signal - 1); }
constexpr Bits everything = ~Bits{0};

inline Bits load(const sigset_t& set) {
  Bits bits = 0;
  std::memcpy(&bits, &set, sizeof bits);
  return bits;
}

inline void store(sigset_t& set, Bits bits) { std::memcpy(&set, &bits, sizeof bits); }

inline sigset_t set_of(Bits bits) {
  sigset_t set{};
  store(set, bits);
  return set;
}

/// The mask, or change of a mask, that the program asks for, as the kernel is to have it.
constexpr Bits for_kernel(Bits program) {
  const Bits others = program & ~(bit(SIGSEGV) | bit(stand_in));
  return (program & bit(SIGSEGV)) != 0 ? others | bit(stand_in) : others;
}

/// The mask that the kernel has, as the program is to see it.
constexpr Bits for_program(Bits kernel) {
  const Bits others = kernel & ~(bit(SIGSEGV) | bit(stand_in));
  if ((kernel & (bit(SIGSEGV) | bit(stand_in))) == 0) return others;
  return others | bit(SIGSEGV) | ((kernel & bit(SIGTERM)) != 0 ? bit(stand_in) : 0);
}

}  // namespace sluice::signal_mask
