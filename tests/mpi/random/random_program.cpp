// random_program FIRST COUNT [THREADS [own|shared [SECONDS]]]: performs the scripts of COUNT seeds, FIRST and following; with
// SECONDS, over and over for as long.
//
// THREADS 0: MPI_Init, one thread. 1: MPI_THREAD_FUNNELED, other threads look at received data. 2 and more: MPI_THREAD_MULTIPLE,
// that many lanes at once, each with communicators of its own, or with `shared` on one communicator with tags of its own.
//
// Every rank prints "seed S rank R digest D" per seed: equal on every run of the same program, whatever carries its messages.
#include <malloc.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "lane.hpp"
#include "script.hpp"
#include "ticks.hpp"

namespace {

using namespace random_program;

struct Arguments {
  std::uint64_t first = 1;
  std::uint64_t count = 1;
  int threads = 0;
  bool shared = false;
  double seconds = 0;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  if (argc > 1) arguments.first = std::strtoull(argv[1], nullptr, 10);
  if (argc > 2) arguments.count = std::strtoull(argv[2], nullptr, 10);
  if (argc > 3) arguments.threads = std::atoi(argv[3]);
  arguments.shared = argc > 4 && std::string_view(argv[4]) == "shared";
  if (argc > 5) arguments.seconds = std::atof(argv[5]);
  return arguments;
}

/// Every way to make a communicator of this shape takes its turn.
MPI_Comm make_communicator(const CommunicatorShape& shape, bool keep_predefined, std::uint64_t seed) {
  using Kind = CommunicatorShape::Kind;
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  const int periodic = 1;
  switch (shape.kind) {
    case Kind::all:
      if (keep_predefined) return MPI_COMM_WORLD;
      if (seed % 3 == 0) {
        MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &made);
      } else if (seed % 3 == 1) {
        MPI_Comm_group(MPI_COMM_WORLD, &group);
        MPI_Comm_create_group(MPI_COMM_WORLD, group, 7, &made);
        MPI_Group_free(&group);
      } else {
        MPI_Comm_dup(MPI_COMM_WORLD, &made);
      }
      break;
    case Kind::reversed:
      MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &made);
      break;
    case Kind::parity:
    case Kind::pairs:
    case Kind::shifted:
      MPI_Comm_split(MPI_COMM_WORLD, CommunicatorShape::color_of(shape.kind, rank), rank, &made);
      break;
    case Kind::grid:
      MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &made);
      break;
    case Kind::alone:
      if (keep_predefined) return MPI_COMM_SELF;
      MPI_Comm_dup(MPI_COMM_SELF, &made);
      break;
  }
  return made;
}

std::vector<MPI_Comm> make_communicators(const Script& script, int lane, std::uint64_t seed) {
  std::vector<MPI_Comm> made;
  for (std::size_t i = 0; i < script.communicators.size(); ++i) {
    const bool first_of_kind = script.communicators[i].kind != CommunicatorShape::Kind::all || i == 0;
    made.push_back(make_communicator(script.communicators[i], lane == 0 && first_of_kind, seed + i));
  }
  return made;
}

void free_communicators(std::vector<MPI_Comm>& communicators) {
  for (auto& communicator : communicators) {
    if (communicator != MPI_COMM_WORLD && communicator != MPI_COMM_SELF) MPI_Comm_free(&communicator);
  }
}

/// Buffered sends are limited per script, so the buffer need not be emptied in between, which could wait for another lane.
class BsendBuffer {
 public:
  explicit BsendBuffer(std::size_t lanes)
      : memory_(lanes * (buffered_limit_bytes + buffered_limit_messages * (MPI_BSEND_OVERHEAD + 64))) {
    MPI_Buffer_attach(memory_.data(), static_cast<int>(memory_.size()));
  }
  ~BsendBuffer() {
    void* memory = nullptr;
    int bytes = 0;
    MPI_Buffer_detach(&memory, &bytes);
  }
  BsendBuffer(const BsendBuffer&) = delete;
  BsendBuffer& operator=(const BsendBuffer&) = delete;

 private:
  std::vector<std::byte> memory_;
};

/// What `free` unmaps at once, what it gives back to the heap, and when it gives up the heap's end.
void choose_allocator(std::uint64_t seed) {
  mallopt(M_MMAP_THRESHOLD, seed % 2 == 0 ? 128 << 10 : 16 << 20);
  mallopt(M_TRIM_THRESHOLD, seed % 3 == 0 ? 128 << 10 : 64 << 20);
}

std::uint64_t run_seed(std::uint64_t seed, const Arguments& arguments) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int lanes = std::max(1, arguments.threads);
  const BsendBuffer buffer(static_cast<std::size_t>(lanes));
  std::vector<Script> scripts;
  std::vector<std::vector<MPI_Comm>> communicators;
  std::vector<MPI_Comm> owned;
  std::vector<std::unique_ptr<Lane>> running;
  for (int lane = 0; lane < lanes; ++lane) scripts.push_back(make_script({seed, lane, size, arguments.shared}));
  for (int lane = 0; lane < lanes; ++lane) {
    const auto& script = scripts[static_cast<std::size_t>(lane)];
    communicators.push_back(arguments.shared ? std::vector{MPI_COMM_WORLD} : make_communicators(script, lane, seed));
    MPI_Comm own = MPI_COMM_NULL;
    if (arguments.threads > 1) MPI_Comm_dup(MPI_COMM_SELF, &own);
    owned.push_back(own);
    const LaneOptions options{rank, lane, seed, arguments.threads > 0, own};
    running.push_back(std::make_unique<Lane>(options, script, communicators.back()));
  }
  choose_allocator(seed);
  {
    const std::optional<Ticks> ticks = seed % 4 == 0 ? std::optional<Ticks>(std::in_place) : std::nullopt;
    std::vector<std::jthread> threads;
    for (int lane = 1; lane < lanes; ++lane) threads.emplace_back([&, lane] { running[static_cast<std::size_t>(lane)]->run(); });
    running[0]->run();
  }
  MPI_Barrier(MPI_COMM_WORLD);  // sends whose request was freed have been received
  for (auto& group : communicators) free_communicators(group);
  for (auto& own : owned) {
    if (own != MPI_COMM_NULL) MPI_Comm_free(&own);
  }
  std::uint64_t digest = 0;
  for (const auto& lane : running) digest += lane->digest();
  return digest;
}

void run_seeds(const Arguments& arguments, int rank) {
  for (std::uint64_t seed = arguments.first; seed < arguments.first + arguments.count; ++seed) {
    const std::uint64_t digest = run_seed(seed, arguments);
    std::printf("seed %lu rank %d digest %016lx\n", static_cast<unsigned long>(seed), rank, static_cast<unsigned long>(digest));
    std::fflush(stdout);
  }
}

bool rank_0_says(bool yes) {
  int word = yes ? 1 : 0;
  MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return word != 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  const int wanted = arguments.threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED;
  int provided = MPI_THREAD_SINGLE;
  if (arguments.threads == 0) {
    MPI_Init(&argc, &argv);
  } else {
    MPI_Init_thread(&argc, &argv, wanted, &provided);
    if (provided < wanted) MPI_Abort(MPI_COMM_WORLD, 5);
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double end = MPI_Wtime() + arguments.seconds;
  do {
    run_seeds(arguments, rank);
  } while (rank_0_says(MPI_Wtime() < end));
  MPI_Finalize();
  return 0;
}
