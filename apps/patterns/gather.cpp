#include <mpi.h>

#include <span>
#include <vector>

#include "apps/patterns/pattern.hpp"
#include "apps/support/payload.hpp"
#include "apps/support/requests.hpp"

namespace patterns {

namespace {

constexpr int root = 0;

class Gather : public Pattern {
 public:
  Gather(apps::World world, std::size_t bytes)
      : world_(world), bytes_(bytes), buffer_(world.rank == root ? bytes * static_cast<std::size_t>(world.ranks) : bytes) {}

  void prepare(int trial) override {
    if (world_.rank != root) apps::Payload(world_.rank, root, trial).write(buffer_);
  }

  void run(MPI_Comm comm, apps::Look look) override {
    const auto count = static_cast<int>(bytes_);
    if (world_.rank != root) {
      MPI_Send(buffer_.data(), count, MPI_BYTE, root, 0, comm);
      return;
    }
    for (int source = root + 1; source < world_.ranks; ++source) {
      std::byte* place = buffer_.data() + bytes_ * static_cast<std::size_t>(source);
      MPI_Irecv(place, count, MPI_BYTE, source, 0, comm, receives_.add());
    }
    receives_.wait();
    apps::look_at(std::span(buffer_).subspan(bytes_), look);
  }

  [[nodiscard]] bool correct(int trial) const override {
    bool right = true;
    for (int source = root + 1; world_.rank == root && source < world_.ranks; ++source) {
      const auto part = std::span(buffer_).subspan(bytes_ * static_cast<std::size_t>(source), bytes_);
      right &= apps::Payload(source, root, trial).is_in(part);
    }
    return right;
  }

 private:
  apps::World world_;
  std::size_t bytes_;
  std::vector<std::byte> buffer_;
  apps::Requests receives_;
};

}  // namespace

std::unique_ptr<Pattern> gather(apps::World world, std::size_t bytes) { return std::make_unique<Gather>(world, bytes); }

}  // namespace patterns
