// Faces of neighbours before each sweep of a solver, with a sum over all ranks right behind them, or without.
#include <array>
#include <chrono>
#include <thread>

#include "bench.hpp"

namespace bench {

namespace {

constexpr int sweeps = 20;
constexpr int batches = 2;  // after one that is not counted: connections are made, buffers become known

/// What a rank does between its faces and their use: its own processor computes, or something else does, and the rank sleeps.
enum class Inner { busy, idle };

struct Times {
  double inner_seconds;
  double late_seconds;
  Inner inner;
};

class Solver {
 public:
  Solver(std::size_t face_bytes, const Times& times) : times_(times) {
    for (Side& side : sides_) {
      side.outgoing.resize(face_bytes);
      side.incoming.resize(face_bytes);
    }
    sides_[0].neighbour = (rank() + ranks() - 1) % ranks();
    sides_[1].neighbour = (rank() + 1) % ranks();
  }

  /// Seconds that a sweep takes the slowest rank.
  double run(bool with_sum) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = now();
    for (int i = 0; i < sweeps; ++i) sweep(with_sum);
    const double own = (now() - start) / sweeps;
    double slowest = 0;
    MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
  }

 private:
  struct Side {
    int neighbour = 0;
    std::vector<std::byte> outgoing;
    std::vector<std::byte> incoming;
  };

  [[nodiscard]] std::uint64_t stamp_of(int sender, std::size_t side) const {
    return number_ * 1000 + static_cast<std::uint64_t>(sender) * 2 + side;
  }

  void sweep(bool with_sum) {
    ++number_;
    if (number_ % static_cast<std::uint64_t>(ranks()) == static_cast<std::uint64_t>(rank())) work_.run(times_.late_seconds);
    exchange();
    if (with_sum) sum();
    times_.inner == Inner::busy ? void(work_.run(times_.inner_seconds))
                                : std::this_thread::sleep_for(std::chrono::duration<double>(times_.inner_seconds));
    for (std::size_t side = 0; side < sides_.size(); ++side)
      require(has_stamps(sides_[side].incoming, stamp_of(sides_[side].neighbour, 1 - side)), "faces");
    MPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE);
  }

  /// Ends when the faces of both neighbours may be used.
  void exchange() {
    std::array<MPI_Request, 2> receives{};
    for (std::size_t side = 0; side < sides_.size(); ++side) {
      Side& at = sides_[side];
      MPI_Irecv(at.incoming.data(), static_cast<int>(at.incoming.size()), MPI_BYTE, at.neighbour, static_cast<int>(1 - side),
                MPI_COMM_WORLD, &receives[side]);
    }
    for (std::size_t side = 0; side < sides_.size(); ++side) {
      Side& at = sides_[side];
      stamp(at.outgoing, stamp_of(rank(), side));
      MPI_Isend(at.outgoing.data(), static_cast<int>(at.outgoing.size()), MPI_BYTE, at.neighbour, static_cast<int>(side),
                MPI_COMM_WORLD, &sends_[side]);
    }
    MPI_Waitall(static_cast<int>(receives.size()), receives.data(), MPI_STATUSES_IGNORE);
  }

  static void sum() {
    const double own = rank();
    double all = 0;
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    require(all == ranks() * (ranks() - 1) / 2.0, "faces: MPI_Allreduce");
  }

  const Times times_;
  const Work work_;
  std::array<Side, 2> sides_;
  std::array<MPI_Request, 2> sends_{};
  std::uint64_t number_ = 0;
};

}  // namespace

/// faces SIZES MILLISECONDS MICROSECONDS busy|idle: every rank sends a face to both its neighbours, waits for theirs, computes
/// for so many milliseconds, and then reads them. In each sweep another rank is late by so many microseconds. Reported: the time
/// of a sweep, also with an MPI_Allreduce of 8 bytes right after the wait.
void faces(Arguments arguments) {
  const Times times{.inner_seconds = std::stod(argument(arguments, 1, "5")) / 1e3,
                    .late_seconds = std::stod(argument(arguments, 2, "50")) / 1e6,
                    .inner = argument(arguments, 3, "busy") == "idle" ? Inner::idle : Inner::busy};
  for (const std::size_t bytes : sizes(arguments, 0, "1M")) {
    Solver solver(bytes, times);
    std::vector<double> alone;
    std::vector<double> with_sum;
    for (int batch = 0; batch <= batches; ++batch) {
      const double first = solver.run(false) * 1e3;
      const double second = solver.run(true) * 1e3;
      if (batch == 0) continue;
      alone.push_back(first);
      with_sum.push_back(second);
    }
    report("faces/" + show_size(bytes), median(alone), "ms");
    report("faces_and_sum/" + show_size(bytes), median(with_sum), "ms");
  }
}

}  // namespace bench
