#include <mpi.h>

#include <vector>

#include "apps/patterns/pattern.hpp"
#include "apps/support/payload.hpp"
#include "apps/support/requests.hpp"

namespace patterns {

namespace {

class Exchange : public Pattern {
 public:
  Exchange(apps::World world, std::size_t bytes)
      : rank_(world.rank), partner_(world.rank ^ 1), outgoing_(bytes), incoming_(bytes) {}

  void prepare(int trial) override { apps::Payload(rank_, partner_, trial).write(outgoing_); }

  void run(MPI_Comm comm, apps::Look look) override {
    const auto count = static_cast<int>(outgoing_.size());
    MPI_Irecv(incoming_.data(), count, MPI_BYTE, partner_, 0, comm, both_.add());
    MPI_Isend(outgoing_.data(), count, MPI_BYTE, partner_, 0, comm, both_.add());
    both_.wait();
    apps::look_at(incoming_, look);
  }

  [[nodiscard]] bool correct(int trial) const override { return apps::Payload(partner_, rank_, trial).is_in(incoming_); }

 private:
  int rank_;
  int partner_;
  std::vector<std::byte> outgoing_;
  std::vector<std::byte> incoming_;
  apps::Requests both_;
};

}  // namespace

std::unique_ptr<Pattern> exchange(apps::World world, std::size_t bytes) { return std::make_unique<Exchange>(world, bytes); }

}  // namespace patterns
