#include <mpi.h>

#include <vector>

#include "apps/patterns/pattern.hpp"
#include "apps/support/payload.hpp"

namespace patterns {

namespace {

/// The answer is what came, so that it is the first rank that finds out whether both messages arrived as they were.
class Echo : public Pattern {
 public:
  Echo(apps::World world, std::size_t bytes) : rank_(world.rank), buffer_(bytes) {}

  void prepare(int trial) override {
    if (asks()) apps::Payload(rank_, partner(), trial).write(buffer_);
  }

  void run(MPI_Comm comm, apps::Look look) override {
    const auto count = static_cast<int>(buffer_.size());
    if (asks()) MPI_Send(buffer_.data(), count, MPI_BYTE, partner(), 0, comm);
    MPI_Recv(buffer_.data(), count, MPI_BYTE, partner(), 0, comm, MPI_STATUS_IGNORE);
    apps::look_at(buffer_, look);
    if (!asks()) MPI_Send(buffer_.data(), count, MPI_BYTE, partner(), 0, comm);
  }

  [[nodiscard]] bool correct(int trial) const override {
    const int first = asks() ? rank_ : partner();
    return apps::Payload(first, first + 1, trial).is_in(buffer_);
  }

 private:
  [[nodiscard]] bool asks() const { return rank_ % 2 == 0; }
  [[nodiscard]] int partner() const { return rank_ ^ 1; }

  int rank_;
  std::vector<std::byte> buffer_;
};

}  // namespace

std::unique_ptr<Pattern> echo(apps::World world, std::size_t bytes) { return std::make_unique<Echo>(world, bytes); }

}  // namespace patterns
