// allocations SIZES SECONDS: malloc and free of one block after another, where a wrapper of `free` costs most. Nothing is sent.
// The best of many short batches: others who share the processor make them longer, never shorter.
#include <algorithm>
#include <cstdlib>

#include "bench.hpp"

namespace bench {

namespace {

constexpr int pairs = 2000;

/// So that the compiler leaves both calls where they are.
void* volatile seen;

double seconds_of_a_pair(std::size_t bytes) {
  const double start = now();
  for (int i = 0; i < pairs; ++i) {
    seen = std::malloc(bytes);
    std::free(seen);
  }
  return (now() - start) / pairs;
}

}  // namespace

void allocations(Arguments arguments) {
  const double seconds = std::stod(argument(arguments, 1, "0.3"));
  for (const std::size_t bytes : sizes(arguments, 0, "64,4K")) {
    double best = seconds_of_a_pair(bytes);
    for (const double end = now() + seconds; now() < end;) best = std::min(best, seconds_of_a_pair(bytes));
    report("allocations/" + show_size(bytes), best * 1e9, "ns");
  }
}

}  // namespace bench
