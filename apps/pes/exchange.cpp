#include "apps/pes/exchange.hpp"

namespace pes {

namespace {

constexpr int upwards = 1;
constexpr int downwards = 2;

}  // namespace

GhostExchange::GhostExchange(int rank, int ranks)
    : above_(rank > 0 ? rank - 1 : MPI_PROC_NULL), below_(rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL) {}

void GhostExchange::post_receives(Field& field) {
  const auto columns = static_cast<int>(field.columns());
  MPI_Irecv(field.next_row(0), columns, MPI_DOUBLE, above_, downwards, MPI_COMM_WORLD, receives_.add());
  MPI_Irecv(field.next_row(field.own_rows() + 1), columns, MPI_DOUBLE, below_, upwards, MPI_COMM_WORLD, receives_.add());
}

void GhostExchange::send(Field& field) {
  const auto columns = static_cast<int>(field.columns());
  MPI_Isend(field.row(1), columns, MPI_DOUBLE, above_, upwards, MPI_COMM_WORLD, sends_.add());
  MPI_Isend(field.row(field.own_rows()), columns, MPI_DOUBLE, below_, downwards, MPI_COMM_WORLD, sends_.add());
}

void GhostExchange::post_receives_in_pieces(Field& field) {
  apps::receive_in_pieces(field.next_row(0), field.columns(), above_, downwards, receives_);
  apps::receive_in_pieces(field.next_row(field.own_rows() + 1), field.columns(), below_, upwards, receives_);
}

void GhostExchange::send_in_pieces(Field& field) {
  apps::send_in_pieces(field.row(1), field.columns(), above_, upwards, sends_);
  apps::send_in_pieces(field.row(field.own_rows()), field.columns(), below_, downwards, sends_);
}

void GhostExchange::progress() {
  receives_.progress();
  sends_.progress();
}

}  // namespace pes
