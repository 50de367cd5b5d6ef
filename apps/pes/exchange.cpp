#include "apps/pes/exchange.hpp"

namespace pes {

namespace {

constexpr int upwards = 1;
constexpr int downwards = 2;

}  // namespace

GhostExchange::GhostExchange(int rank, int ranks)
    : above_(rank > 0 ? rank - 1 : MPI_PROC_NULL), below_(rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL) {}

void GhostExchange::exchange(Field& field) {
  const auto columns = static_cast<int>(field.columns());
  const std::size_t last = field.own_rows();
  MPI_Isend(field.row(1), columns, MPI_DOUBLE, above_, upwards, MPI_COMM_WORLD, &sends_[0]);
  MPI_Isend(field.row(last), columns, MPI_DOUBLE, below_, downwards, MPI_COMM_WORLD, &sends_[1]);
  MPI_Recv(field.row(0), columns, MPI_DOUBLE, above_, downwards, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(field.row(last + 1), columns, MPI_DOUBLE, below_, upwards, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void GhostExchange::finish_sends() { MPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE); }

}  // namespace pes
