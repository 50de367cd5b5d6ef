#include "apps/beside/roles.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "apps/support/payload.hpp"

namespace beside {

namespace {

constexpr int small_tag = 0;
constexpr int long_tag = 1;

/// What the hub answers: the number of the ping, and whether it was the last one.
using Answer = std::array<std::uint64_t, 2>;

int trial_of(const Options& options, int round, int number) { return round * options.messages + number; }

}  // namespace

Hub::Hub(const Options& options, apps::World world) : options_(options), pinger_(pinger_of(world)) {
  for (int peer = 0; options.bytes != 0 && peer < world.ranks; ++peer) {
    for (int number = 0; is_partner(peer, world) && number < options.messages; ++number) {
      long_.push_back({peer, number, std::vector<std::byte>(options.bytes)});
    }
  }
  requests_.resize(1 + long_.size(), MPI_REQUEST_NULL);
}

void Hub::prepare(int round) {
  for (Long& message : long_) {
    if (options_.outward) apps::Payload(hub_rank, message.peer, trial_of(options_, round, message.number)).write(message.bytes);
  }
}

void Hub::run() {
  const double start = MPI_Wtime();
  const auto count = static_cast<int>(options_.bytes);
  MPI_Request& next_ping = requests_.front();
  MPI_Irecv(&ping_, 1, MPI_UINT64_T, pinger_, small_tag, MPI_COMM_WORLD, &next_ping);
  for (std::size_t index = 0; index < long_.size(); ++index) {
    Long& message = long_[index];
    MPI_Request* request = &requests_[index + 1];
    if (options_.outward) {
      MPI_Isend(message.bytes.data(), count, MPI_BYTE, message.peer, long_tag, MPI_COMM_WORLD, request);
    } else {
      MPI_Irecv(message.bytes.data(), count, MPI_BYTE, message.peer, long_tag, MPI_COMM_WORLD, request);
    }
  }
  std::size_t waiting = long_.size();
  for (int answered = 0;;) {
    int index = 0;
    MPI_Waitany(static_cast<int>(requests_.size()), requests_.data(), &index, MPI_STATUS_IGNORE);
    if (index != 0) {
      if (--waiting == 0) seconds_ += MPI_Wtime() - start;
      continue;
    }
    const bool over = waiting == 0 && (!long_.empty() || ++answered > options_.pings);
    answer(over);
    if (over) return;
    MPI_Irecv(&ping_, 1, MPI_UINT64_T, pinger_, small_tag, MPI_COMM_WORLD, &next_ping);
  }
}

void Hub::answer(bool over) {
  const Answer answer{ping_, over ? 1U : 0U};
  MPI_Send(answer.data(), static_cast<int>(answer.size()), MPI_UINT64_T, pinger_, small_tag, MPI_COMM_WORLD);
}

bool Hub::correct(int round) const {
  return options_.outward || std::all_of(long_.begin(), long_.end(), [&](const Long& message) {
           return apps::Payload(message.peer, hub_rank, trial_of(options_, round, message.number)).is_in(message.bytes);
         });
}

Partner::Partner(const Options& options, int rank)
    : options_(options),
      rank_(rank),
      long_(options.bytes == 0 ? 0 : static_cast<std::size_t>(options.messages), std::vector<std::byte>(options.bytes)) {}

void Partner::prepare(int round) {
  for (std::size_t number = 0; !options_.outward && number < long_.size(); ++number) {
    apps::Payload(rank_, hub_rank, trial_of(options_, round, static_cast<int>(number))).write(long_[number]);
  }
}

void Partner::post() {
  const auto count = static_cast<int>(options_.bytes);
  for (std::vector<std::byte>& message : long_) {
    if (options_.outward) {
      MPI_Irecv(message.data(), count, MPI_BYTE, hub_rank, long_tag, MPI_COMM_WORLD, requests_.add());
    } else {
      MPI_Isend(message.data(), count, MPI_BYTE, hub_rank, long_tag, MPI_COMM_WORLD, requests_.add());
    }
  }
}

bool Partner::correct(int round) const {
  bool right = true;
  for (std::size_t number = 0; options_.outward && number < long_.size(); ++number) {
    right &= apps::Payload(hub_rank, rank_, trial_of(options_, round, static_cast<int>(number))).is_in(long_[number]);
  }
  return right;
}

void Pinger::run() {
  for (;;) {
    Answer answer{};
    const std::uint64_t number = ++sent_;
    const double start = MPI_Wtime();
    MPI_Send(&number, 1, MPI_UINT64_T, hub_rank, small_tag, MPI_COMM_WORLD);
    MPI_Recv(answer.data(), static_cast<int>(answer.size()), MPI_UINT64_T, hub_rank, small_tag, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    const double end = MPI_Wtime();
    if (answer[0] != number) {
      std::fprintf(stderr, "beside: the answer to small message %llu is for %llu\n", static_cast<unsigned long long>(number),
                   static_cast<unsigned long long>(answer[0]));
      MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    if (answer[1] != 0) return;
    round_trips_.push_back(end - start);
    std::this_thread::sleep_for(std::chrono::microseconds(options_.pause_us));
  }
}

}  // namespace beside
