// How long a cache line takes from this processor to the next one and back, in nanoseconds: what sluice_dev/base/distance.py asks
// before and after a run whose time it keeps. 1 where the two are threads of one core, whatever a line takes then. Prints nothing
// where there is one processor only.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "runtime/base/clock.hpp"
#include "runtime/machine/copy_pair.hpp"
#include "runtime/process/processors.hpp"

namespace {

constexpr std::uint64_t limit_ns = 1'000'000'000;
constexpr std::size_t round_trips = 400;

}  // namespace

int main() {
  using namespace sluice;
  const ProcessorPair processors = two_processors();
  if (!processors.found) return 0;
  stay_on(processors.first);
  CopyPair pair(processors.second, now_ns() + limit_ns);
  const std::optional<bool> one_core = share_a_core(pair);
  if (!one_core) return 1;
  std::vector<std::uint64_t> times;
  while (times.size() < round_trips) {
    const std::uint64_t start = now_ns();
    if (!pair.run({})) return 1;
    times.push_back(now_ns() - start);
  }
  // What disturbs a trip only ever makes it longer.
  const auto quarter = times.begin() + round_trips / 4;
  std::nth_element(times.begin(), quarter, times.end());
  std::printf("%llu ns\n", *one_core ? 1ULL : static_cast<unsigned long long>(*quarter));
  return 0;
}
