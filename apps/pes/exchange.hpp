// Exchange of ghost rows with the ranks above and below.
#pragma once

#include <mpi.h>

#include "apps/pes/field.hpp"
#include "apps/support/requests.hpp"

namespace pes {

class GhostExchange {
 public:
  /// Ranks lie in the order of their rows.
  GhostExchange(int rank, int ranks);

  /// Receives for the row above and the row below of the next field.
  void post_receives(Field& field);
  /// Sends the first and last own row. The sends may go on afterwards.
  void send(Field& field);

  /// The same by hand, in pieces.
  void post_receives_in_pieces(Field& field);
  void send_in_pieces(Field& field);
  /// Helps on what has begun.
  void progress();
  /// The ghost rows are there.
  void finish_receives() { receives_.wait(); }

  /// The rows that were sent last may be written again.
  void finish_sends() { sends_.wait(); }

 private:
  int above_;
  int below_;
  apps::Requests sends_;
  apps::Requests receives_;
};

}  // namespace pes
