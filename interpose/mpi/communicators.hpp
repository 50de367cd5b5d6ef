// Communicators that Sluice carries, found by the application's handle.
//
// Adoption is collective: all members of an intracommunicator find out together whether Sluice reaches every one of them, and
// agree on its context id. Everything else (intercommunicators, members of another job or on another node, MPI_Comm_idup)
// stays with the host as a whole, so both ends of every message always agree who carries it.
//
// Threading: look-ups are lock-free and may run beside adoption and freeing of *other* communicators.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/collective/neighbours.hpp"
#include "runtime/engine.hpp"

namespace sluice {

/// Never deleted, because a pending request may outlive the application's handle.
struct Communicator {
  Context* context = nullptr;
  MPI_Comm handle{};
  int size = 0;
  int rank = 0;
  Team* team = nullptr;                             // its members go through lanes
  bool may_carry_collectives = false;               // SLUICE_COLLECTIVES allows it on all members
  CarryMode collectives{};                          // SLUICE_COLLECTIVES, or the hint: all members agree
  std::vector<std::uint32_t> nodes;                 // by rank; empty where all are on one
  std::unique_ptr<const Neighbourhood> neighbours;  // once asked for (topology.hpp)
  std::atomic<bool> freed{false};
  std::atomic<bool> has_buffer{false};  // MPI_Comm_attach_buffer

  /// The same on all members.
  [[nodiscard]] bool carries_collectives() const { return collectives != CarryMode::off; }
  /// ... also those of which members do not know how long they are for others.
  [[nodiscard]] bool carries_all_collectives() const {
    return collectives == CarryMode::all || (is_alone() && carries_collectives());
  }
  [[nodiscard]] bool is_alone() const { return size == 1; }
  [[nodiscard]] bool has_rank(int number) const { return static_cast<unsigned>(number) < static_cast<unsigned>(size); }
};

namespace detail {
extern Communicator* world;
Communicator* find_communicator(MPI_Comm comm);
}  // namespace detail

/// nullptr when the host carries `comm`, and for anything that is no communicator.
inline Communicator* adopted(MPI_Comm comm) {
  Communicator* world = detail::world;
  if (world && world->handle == comm) [[likely]]
    return world;
  return detail::find_communicator(comm);
}

/// Of a context that this rank names: unique in the job. 0 when it has named so many that none is left.
std::uint64_t fresh_context_id();
/// Adopts MPI_COMM_WORLD and MPI_COMM_SELF.
void adopt_predefined();
/// Collective over `*comm`, which the host has just made with the answer `code`; returns `code`.
int adopt_new(int code, const MPI_Comm* comm);
/// The application has given it up.
void forget_communicator(Communicator& communicator);
/// No communicator is adopted any more.
void forget_all_communicators();

}  // namespace sluice
