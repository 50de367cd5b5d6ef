// sluice_bench NAME [ARGUMENT...]: measures one thing with plain MPI calls, on whatever MPI it runs. `run` runs the set.
#include <array>
#include <cstdio>
#include <cstring>

#include "bench.hpp"

namespace {

constexpr std::array benchmarks{
    bench::Benchmark{"ping_pong", "[SIZES [SECONDS]]", 2, bench::ping_pong},
    bench::Benchmark{"bandwidth", "[SIZES [SECONDS [PROTOCOLS]]]", 2, bench::bandwidth},
    bench::Benchmark{"bidirectional", "[SIZES [SECONDS [PROTOCOLS]]]", 2, bench::bidirectional},
    bench::Benchmark{"fresh", "[SIZES [SECONDS [PROTOCOLS]]]", 2, bench::fresh},
    bench::Benchmark{"late_sender", "[SIZES [MILLISECONDS [ROUNDS]]]", 2, bench::late_sender},
    bench::Benchmark{"read_at_once", "[SIZES [MICROSECONDS [SECONDS]]]", 2, bench::read_at_once},
    bench::Benchmark{"late_receiver", "[SIZES [MICROSECONDS [SECONDS]]]", 2, bench::late_receiver},
    bench::Benchmark{"ring", "[SIZES [SECONDS]]", 1, bench::ring},
    bench::Benchmark{"all_to_all", "[SIZES [SECONDS]]", 1, bench::all_to_all},
    bench::Benchmark{"collectives", "[SECONDS]", 1, bench::collectives},
    bench::Benchmark{"collective_calls", "[CALLS [SIZES [GAPS [SECONDS]]]]", 2, bench::collective_calls},
    bench::Benchmark{"one_sided_calls", "[CALLS [SIZES [KINDS [SECONDS]]]]", 2, bench::one_sided_calls},
    bench::Benchmark{"halo", "[SIZES [SECONDS]]", 1, bench::halo},
    bench::Benchmark{"faces", "[SIZES [MILLISECONDS [MICROSECONDS [busy|idle]]]]", 2, bench::faces},
    bench::Benchmark{"idle", "[SECONDS]", 2, bench::idle},
    bench::Benchmark{"sweep", "[PATTERNS [SIZES [SECONDS]]]", 2, bench::sweep},
    bench::Benchmark{"null_calls", "[SECONDS]", 1, bench::null_calls},
    bench::Benchmark{"allocations", "[SIZES [SECONDS]]", 1, bench::allocations},
    bench::Benchmark{"completions", "[COUNTS [REPEATS]]", 2, bench::completions},
};

int usage() {
  std::fprintf(stderr, "usage: mpirun -np N sluice_bench NAME [ARGUMENT...]\n");
  for (const auto& benchmark : benchmarks) std::fprintf(stderr, "  %s %s\n", benchmark.name, benchmark.arguments);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Benchmark* chosen = nullptr;
  for (const auto& benchmark : benchmarks) {
    if (argc > 1 && std::strcmp(argv[1], benchmark.name) == 0) chosen = &benchmark;
  }
  if (chosen == nullptr) return usage();
  MPI_Init(&argc, &argv);
  if (bench::ranks() < chosen->min_ranks) {
    std::fprintf(stderr, "sluice_bench: %s needs at least %d ranks\n", chosen->name, chosen->min_ranks);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const std::vector<std::string> arguments(argv + 2, argv + argc);
  chosen->run(arguments);
  MPI_Finalize();
  return 0;
}
