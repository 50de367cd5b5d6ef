#include "apps/nbody/simulation.hpp"

#include <algorithm>

#include "apps/support/hash.hpp"

namespace nbody {

namespace {

/// By hand: pairs of particles between two looks at the messages, some ten microseconds.
constexpr std::size_t pairs_between_looks = 8192;

/// Whose particles a rank feels after its own, in this order.
std::vector<int> others_of(int rank, int ranks) {
  std::vector<int> others;
  for (int distance = 1; distance < ranks; ++distance) others.push_back((rank + distance) % ranks);
  return others;
}

Particles particles_of(const Options& options, int rank, int ranks) {
  const apps::Part part = apps::part_of(options.particles, rank, ranks);
  return {part.first, part.count, options.properties};
}

}  // namespace

Simulation::Simulation(const Options& options, apps::World world)
    : options_(options),
      world_(world),
      own_(particles_of(options, world.rank, world.ranks)),
      others_(others_of(world.rank, world.ranks)) {
  for (Received& received : received_) {
    for (const int other : others_) received.push_back({std::vector<double>(message_numbers(other)), {}});
  }
}

std::size_t Simulation::message_numbers(int of) const {
  return apps::part_of(options_.particles, of, world_.ranks).count * stride_of(options_.properties);
}

/// Receives are posted one step ahead.
void Simulation::run() {
  if (options_.iterations > 0) post_receives(received_[0]);
  for (int step = 0; step < options_.iterations; ++step) {
    const auto turn = static_cast<std::size_t>(step) % received_.size();
    Received* const next = step + 1 < options_.iterations ? &received_[1 - turn] : nullptr;
    options_.by_hand ? step_by_hand(received_[turn], next) : step_blocking(received_[turn], next);
  }
}

void Simulation::post_receives(Received& received) {
  for (std::size_t index = 0; index < others_.size(); ++index) {
    auto& [values, arrival] = received[index];
    if (options_.by_hand) {
      apps::receive_in_pieces(values.data(), values.size(), others_[index], 0, arrival);
    } else {
      MPI_Irecv(values.data(), static_cast<int>(values.size()), MPI_DOUBLE, others_[index], 0, MPI_COMM_WORLD, arrival.add());
    }
  }
}

/// As in the paper: every rank sends what it has to all others and waits for all messages; then it computes.
void Simulation::step_blocking(Received& received, Received* next) {
  const Records mine = own_.records();
  for (const int other : others_) {
    MPI_Send(mine.values, static_cast<int>(mine.count * mine.stride), MPI_DOUBLE, other, 0, MPI_COMM_WORLD);
  }
  for (Block& block : received) block.arrival.wait();
  if (next != nullptr) post_receives(*next);
  computing_.time([&] {
    own_.feel(mine);
    for (const Block& block : received) own_.feel(records_of(block));
    own_.move();
  });
}

/// The rank's own particles need no messages, and those of one rank not the messages of the others.
void Simulation::step_by_hand(Received& received, Received* next) {
  const Records mine = own_.records();
  for (const int other : others_) apps::send_in_pieces(mine.values, mine.count * mine.stride, other, 0, sends_);
  if (next != nullptr) post_receives(*next);
  const auto feel = [&](Records records) { computing_.time([&] { feel_in_pieces(records, received); }); };
  feel(mine);
  for (Block& block : received) {
    block.arrival.wait();
    feel(records_of(block));
  }
  sends_.wait();
  computing_.time([&] { own_.move(); });
}

Records Simulation::records_of(const Block& block) const {
  const std::size_t stride = own_.records().stride;
  return {block.values.data(), block.values.size() / stride, stride};
}

void Simulation::feel_in_pieces(Records others, Received& under_way) {
  const std::size_t piece = std::max<std::size_t>(1, pairs_between_looks / own_.records().count);
  for (std::size_t done = 0; done < others.count; done += piece) {
    own_.feel({others.values + done * others.stride, std::min(piece, others.count - done), others.stride});
    for (Block& block : under_way) block.arrival.progress();
    sends_.progress();
  }
}

std::uint64_t Simulation::hash() const {
  std::uint64_t hash = own_.hash();
  const auto last = static_cast<std::size_t>(std::max(options_.iterations - 1, 0)) % received_.size();
  for (const Block& block : received_[last]) hash = apps::mix(hash, block.values.data(), block.values.size());
  return hash;
}

std::uint64_t serial_hash(const Options& options, int ranks) {
  std::vector<Particles> parts;
  for (int rank = 0; rank < ranks; ++rank) parts.push_back(particles_of(options, rank, ranks));
  std::vector<std::vector<double>> sent(parts.size());
  for (int step = 0; step < options.iterations; ++step) {
    for (std::size_t rank = 0; rank < parts.size(); ++rank) {
      const Records records = parts[rank].records();
      sent[rank].assign(records.values, records.values + records.count * records.stride);
    }
    for (int rank = 0; rank < ranks; ++rank) {
      Particles& part = parts[static_cast<std::size_t>(rank)];
      const std::size_t stride = part.records().stride;
      const auto feel = [&](int other) {
        const auto& values = sent[static_cast<std::size_t>(other)];
        part.feel({values.data(), values.size() / stride, stride});
      };
      feel(rank);
      for (const int other : others_of(rank, ranks)) feel(other);
    }
    for (Particles& part : parts) part.move();
  }
  std::uint64_t hash = apps::hash_start;
  for (int rank = 0; rank < ranks; ++rank) {
    std::uint64_t own = parts[static_cast<std::size_t>(rank)].hash();
    for (const int other : others_of(rank, ranks)) {
      const auto& values = sent[static_cast<std::size_t>(other)];
      own = apps::mix(own, values.data(), values.size());
    }
    hash = apps::mix(hash, own);
  }
  return hash;
}

}  // namespace nbody
