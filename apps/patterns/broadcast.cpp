#include <mpi.h>

#include <algorithm>
#include <span>
#include <vector>

#include "apps/patterns/pattern.hpp"
#include "apps/support/payload.hpp"
#include "apps/support/requests.hpp"

namespace patterns {

namespace {

constexpr int root = 0;

class Broadcast : public Pattern {
 public:
  Broadcast(apps::World world, std::size_t bytes, std::size_t segment)
      : world_(world),
        previous_(world.rank > root ? world.rank - 1 : MPI_PROC_NULL),
        next_(world.rank + 1 < world.ranks ? world.rank + 1 : MPI_PROC_NULL),
        segment_(segment),
        buffer_(bytes),
        receives_((bytes + segment - 1) / segment) {}

  void prepare(int trial) override {
    if (world_.rank == root) payload(trial).write(buffer_);
  }

  void run(MPI_Comm comm, apps::Look look) override {
    for (std::size_t index = 0; index < receives_.size(); ++index) {
      const std::span<std::byte> piece = segment(index);
      MPI_Irecv(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, previous_, 0, comm, &receives_[index]);
    }
    for (std::size_t index = 0; index < receives_.size(); ++index) {
      const std::span<std::byte> piece = segment(index);
      MPI_Wait(&receives_[index], MPI_STATUS_IGNORE);
      MPI_Isend(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, next_, 0, comm, sends_.add());
    }
    if (world_.rank != root) apps::look_at(buffer_, look);
    sends_.wait();
  }

  [[nodiscard]] bool correct(int trial) const override { return payload(trial).is_in(buffer_); }

 private:
  static apps::Payload payload(int trial) { return {root, root, trial}; }
  std::span<std::byte> segment(std::size_t index) {
    const std::size_t first = index * segment_;
    return std::span(buffer_).subspan(first, std::min(segment_, buffer_.size() - first));
  }

  apps::World world_;
  int previous_;
  int next_;
  std::size_t segment_;
  std::vector<std::byte> buffer_;
  std::vector<MPI_Request> receives_;
  apps::Requests sends_;
};

}  // namespace

std::unique_ptr<Pattern> broadcast(apps::World world, std::size_t bytes, std::size_t segment) {
  return std::make_unique<Broadcast>(world, bytes, segment);
}

}  // namespace patterns
