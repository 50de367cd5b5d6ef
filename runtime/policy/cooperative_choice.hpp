// Who copies a large message inside a node: the rules of the cooperative protocols (CO, section II-B). The receiver decides when
// the message has met its receive, and says so by what it does: it reads (rget), or sends a CTS for the sender's copy (rput), or
// for a copy of both (coop).
//
// Pure functions; rendezvous/copy_choice.cpp knows the message and asks them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "runtime/transport/copy_load.hpp"

namespace sluice {

enum class Copier : std::uint8_t { sender, receiver, both };

/// What the announcement says of the call that sent the message.
enum class SendCall : std::uint8_t {
  blocking,     // MPI_Send, MPI_Ssend, MPI_Rsend, MPI_Sendrecv
  nonblocking,  // MPI_Isend, MPI_Issend, MPI_Irsend, MPI_Start
  buffered,     // MPI_Bsend, MPI_Ibsend
};

/// COOP-coll, table II: a side whose call blocks has its processor free for the copy.
///
///                      MPI_Recv   MPI_Irecv
///   Send, Ssend, Rsend   both      sender
///   Isend              receiver     both
///   Bsend              receiver    sender
///
/// (MPI_Rsend with MPI_Irecv: the paper has "RTR/RPUT"; the sender copies either way.)
[[nodiscard]] constexpr Copier copier_by_calls(SendCall send, bool receive_blocks) {
  switch (send) {
    case SendCall::blocking:
      return receive_blocks ? Copier::both : Copier::sender;
    case SendCall::nonblocking:
      return receive_blocks ? Copier::receiver : Copier::both;
    case SendCall::buffered:
      break;
  }
  return receive_blocks ? Copier::receiver : Copier::sender;
}

/// How much of what was copied before still counts, in messages as long as the one in question.
inline constexpr std::uint64_t counted_history = 4;

/// COOP-load: the smaller load copies. The paper's load is what a process has yet to copy. With it alone, a process that has few
/// partners is given copies at times when the others have none, and is behind them after many messages; so what each has copied
/// so far counts, too. Only up to a few messages: who copied for an hour is busy all the same when it has more to copy now.
/// (Of a copy under way both counts have what is made of it, for as long as it takes.)
[[nodiscard]] constexpr Copier copier_by_load(const CopyLoad& sender, const CopyLoad& receiver, std::size_t bytes) {
  const auto most = static_cast<std::int64_t>(counted_history * bytes);
  const std::int64_t more_made = std::clamp(static_cast<std::int64_t>(sender.made - receiver.made), -most, most);
  const std::int64_t more_load = static_cast<std::int64_t>(sender.expected - receiver.expected) + more_made;
  if (more_load == 0) return Copier::both;
  return more_load < 0 ? Copier::sender : Copier::receiver;
}

}  // namespace sluice
