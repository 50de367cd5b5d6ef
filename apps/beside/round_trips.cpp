#include "apps/beside/round_trips.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>

namespace beside {

namespace {

struct Share {
  const char* name;
  double part;
};
constexpr std::array shares{Share{"median", 0.5}, Share{"p90", 0.9}, Share{"p99", 0.99}, Share{"p999", 0.999},
                            Share{"longest", 1}};

}  // namespace

void print_round_trips(std::vector<double> seconds) {
  constexpr double us_per_s = 1e6;
  std::sort(seconds.begin(), seconds.end());
  std::printf("round trips %zu\n", seconds.size());
  if (seconds.empty()) return;
  for (const Share& share : shares) {
    const auto place = static_cast<std::size_t>(share.part * static_cast<double>(seconds.size() - 1));
    std::printf("%s %.2f us\n", share.name, seconds[place] * us_per_s);
  }
  std::map<int, int> counts;
  for (const double time : seconds) ++counts[std::ilogb(std::max(1.0, time * us_per_s))];
  for (const auto& [power, count] : counts)
    std::printf("took %.0f %.0f %d\n", std::ldexp(1, power), std::ldexp(1, power + 1), count);
}

}  // namespace beside
