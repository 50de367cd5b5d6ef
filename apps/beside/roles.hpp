// What each rank does in a round. The hub (rank 0) has long messages with every partner (all ranks but the first and the last),
// and meanwhile answers the pinger (the last rank). When all long messages are there, its answer says that the round is over;
// what came is checked only then, so that no check delays an answer.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "apps/beside/options.hpp"
#include "apps/support/requests.hpp"

namespace beside {

inline constexpr int hub_rank = 0;

inline int pinger_of(apps::World world) { return world.ranks - 1; }
inline bool is_partner(int rank, apps::World world) { return rank != hub_rank && (rank != pinger_of(world) || world.ranks == 2); }

class Hub {
 public:
  Hub(const Options& options, apps::World world);

  void prepare(int round);
  void run();
  /// Whether the long messages that came are right, every bit.
  [[nodiscard]] bool correct(int round) const;
  /// Of all rounds: until the last long message was there.
  [[nodiscard]] double seconds() const { return seconds_; }

 private:
  struct Long {
    int peer;
    int number;  // of those with this peer in a round
    std::vector<std::byte> bytes;
  };
  void answer(bool over);

  const Options& options_;
  int pinger_;
  std::vector<Long> long_;
  std::vector<MPI_Request> requests_;  // the first is that of the next ping
  std::uint64_t ping_ = 0;
  double seconds_ = 0;
};

class Partner {
 public:
  Partner(const Options& options, int rank);

  void prepare(int round);
  /// Begins all transfers of the round.
  void post();
  void wait() { requests_.wait(); }
  [[nodiscard]] bool correct(int round) const;

 private:
  const Options& options_;
  int rank_;
  std::vector<std::vector<std::byte>> long_;
  apps::Requests requests_;
};

class Pinger {
 public:
  explicit Pinger(const Options& options) : options_(options) {}

  /// Until the hub says that the round is over.
  void run();
  /// Seconds of each round trip that ended before that.
  [[nodiscard]] const std::vector<double>& round_trips() const { return round_trips_; }

 private:
  const Options& options_;
  std::uint64_t sent_ = 0;
  std::vector<double> round_trips_;
};

}  // namespace beside
