#include "interpose/mpi/messages.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <mutex>

#include "interpose/mpi/entry.hpp"
#include "interpose/mpi/spin_lock.hpp"

namespace sluice {
namespace {

constexpr std::size_t max_messages = std::size_t{1} << 20;
/// Fortran integers: the host counts up from 0 and never gets here.
constexpr MPI_Fint first_fortran_index = 1 << 30;

/// Address space for all handles at once; memory comes with the first use of a page.
MatchedProbe* reserve_slots() {
  void* memory = mmap(nullptr, max_messages * sizeof(MatchedProbe), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<MatchedProbe*>(memory);
}

constinit std::atomic<MatchedProbe*> first_slot{nullptr};
constinit SpinLock slots_lock;
constinit std::size_t slots_used = 0;          // belongs to slots_lock
constinit MatchedProbe* free_slots = nullptr;  // belongs to slots_lock

MatchedProbe* take_slot() {
  const std::scoped_lock guard(slots_lock);
  if (!first_slot.load(std::memory_order_relaxed)) first_slot.store(reserve_slots(), std::memory_order_release);
  if (free_slots) {
    MatchedProbe* slot = free_slots;
    free_slots = slot->next_unused;
    return slot;
  }
  MatchedProbe* slots = first_slot.load(std::memory_order_relaxed);
  return slots && slots_used < max_messages ? &slots[slots_used++] : nullptr;
}

}  // namespace

MPI_Message handle_for_message(Unexpected* message, Communicator& communicator) {
  MatchedProbe* slot = take_slot();
  if (!slot) return predefined().message_null;
  slot->message = message;
  slot->communicator = &communicator;
  return reinterpret_cast<MPI_Message>(slot);
}

MatchedProbe* find_message(MPI_Message handle) {
  const auto first = reinterpret_cast<std::uintptr_t>(first_slot.load(std::memory_order_acquire));
  const auto address = reinterpret_cast<std::uintptr_t>(handle);
  const bool ours = first && address >= first && address < first + max_messages * sizeof(MatchedProbe);
  return ours ? reinterpret_cast<MatchedProbe*>(handle) : nullptr;
}

MatchedProbe take_message(MatchedProbe& slot) {
  const MatchedProbe taken = slot;
  const std::scoped_lock guard(slots_lock);
  slot = {nullptr, nullptr, free_slots};
  free_slots = &slot;
  return taken;
}

namespace calls {
namespace {

MPI_Fint Message_c2f(CallSite, MPI_Message message) {
  const MatchedProbe* slot = find_message(message);
  if (!slot) return host().Message_c2f(message);
  return first_fortran_index + static_cast<MPI_Fint>(slot - first_slot.load(std::memory_order_relaxed));
}

MPI_Message Message_f2c(CallSite, MPI_Fint message) {
  MatchedProbe* slots = first_slot.load(std::memory_order_acquire);
  if (message < first_fortran_index || !slots) return host().Message_f2c(message);
  return reinterpret_cast<MPI_Message>(slots + (message - first_fortran_index));
}

int Message_toint(CallSite site, MPI_Message message) {
  return find_message(message) ? static_cast<int>(Message_c2f(site, message)) : host().Message_toint(message);
}

MPI_Message Message_fromint(CallSite site, int message) {
  return message >= first_fortran_index ? Message_f2c(site, message) : host().Message_fromint(message);
}

}  // namespace
}  // namespace calls
}  // namespace sluice

#include "exports.hpp"
EXPORT(Message_c2f)
EXPORT(Message_f2c)
EXPORT(Message_toint)
EXPORT(Message_fromint)
