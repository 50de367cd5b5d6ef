#include <mpi.h>

#include <span>
#include <vector>

#include "apps/patterns/pattern.hpp"
#include "apps/support/payload.hpp"
#include "apps/support/requests.hpp"

namespace patterns {

namespace {

constexpr int root = 0;

class Scatter : public Pattern {
 public:
  Scatter(apps::World world, std::size_t bytes)
      : world_(world), bytes_(bytes), buffer_(world.rank == root ? bytes * static_cast<std::size_t>(world.ranks) : bytes) {}

  void prepare(int trial) override {
    for (int target = 0; world_.rank == root && target < world_.ranks; ++target) {
      apps::Payload(root, target, trial).write(part(target));
    }
  }

  void run(MPI_Comm comm, apps::Look look) override {
    const auto count = static_cast<int>(bytes_);
    if (world_.rank != root) {
      MPI_Recv(buffer_.data(), count, MPI_BYTE, root, 0, comm, MPI_STATUS_IGNORE);
      apps::look_at(buffer_, look);
      return;
    }
    for (int target = root + 1; target < world_.ranks; ++target) {
      MPI_Isend(part(target).data(), count, MPI_BYTE, target, 0, comm, sends_.add());
    }
    sends_.wait();
  }

  [[nodiscard]] bool correct(int trial) const override {
    return world_.rank == root || apps::Payload(root, world_.rank, trial).is_in(buffer_);
  }

 private:
  std::span<std::byte> part(int target) { return std::span(buffer_).subspan(bytes_ * static_cast<std::size_t>(target), bytes_); }

  apps::World world_;
  std::size_t bytes_;
  std::vector<std::byte> buffer_;
  apps::Requests sends_;
};

}  // namespace

std::unique_ptr<Pattern> scatter(apps::World world, std::size_t bytes) { return std::make_unique<Scatter>(world, bytes); }

}  // namespace patterns
