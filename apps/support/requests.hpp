// Nonblocking operations that are waited for together, and messages in pieces.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace apps {

/// By hand, long messages travel in pieces: each can be used when it is there, and up to 64 KB the host sends at once, without
/// asking the receiver, whose answer would wait behind what that one sends.
constexpr std::size_t bytes_of_piece = 32768;
constexpr std::size_t doubles_of_piece = bytes_of_piece / sizeof(double);

class Requests {
 public:
  /// Where a nonblocking call puts its request. Valid until the next call.
  MPI_Request* add() { return &requests_.emplace_back(MPI_REQUEST_NULL); }

  /// The host moves messages only inside of its calls, so whoever computes beside them looks in now and then.
  void progress() {
    int done = 0;
    MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE);
  }
  void wait() {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
  }

 private:
  std::vector<MPI_Request> requests_;
};

/// Receives and sends in pieces, for --overlap=hand.
inline void receive_in_pieces(double* values, std::size_t count, int source, int tag, Requests& requests) {
  for (std::size_t done = 0; done < count; done += doubles_of_piece) {
    MPI_Irecv(values + done, static_cast<int>(std::min(doubles_of_piece, count - done)), MPI_DOUBLE, source, tag, MPI_COMM_WORLD,
              requests.add());
  }
}

inline void send_in_pieces(const double* values, std::size_t count, int target, int tag, Requests& requests) {
  for (std::size_t done = 0; done < count; done += doubles_of_piece) {
    MPI_Isend(values + done, static_cast<int>(std::min(doubles_of_piece, count - done)), MPI_DOUBLE, target, tag, MPI_COMM_WORLD,
              requests.add());
  }
}

}  // namespace apps
