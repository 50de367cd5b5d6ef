#include "runtime/process/processors.hpp"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <fstream>
#include <string>

namespace sluice {
namespace {

std::vector<int> read_processors(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return parse_processors(line);
}

/// Kernels count processors in the thousands; a longer range is no list of them.
constexpr int max_processors = 1 << 16;

}  // namespace

std::vector<int> parse_processors(std::string_view list) {
  std::vector<int> found;
  while (!list.empty()) {
    const std::string_view item = list.substr(0, list.find(','));
    list.remove_prefix(std::min(item.size() + 1, list.size()));
    const char* const end = item.data() + item.size();
    int first = 0;
    auto [stopped, error] = std::from_chars(item.data(), end, first);
    int last = first;
    if (error == std::errc() && stopped != end && *stopped == '-') {
      const auto second = std::from_chars(stopped + 1, end, last);
      stopped = second.ptr;
      error = second.ec;
    }
    if (error != std::errc() || stopped != end || first < 0 || last < first || last >= max_processors) return {};
    for (int processor = first; processor <= last; ++processor) found.push_back(processor);
  }
  return found;
}

ProcessorSet allowed_processors() {
  ProcessorSet set{};
  if (::sched_getaffinity(0, sizeof set, reinterpret_cast<cpu_set_t*>(set.data())) == 0) return set;
  const auto online =
      static_cast<std::size_t>(std::clamp(::sysconf(_SC_NPROCESSORS_ONLN), 1L, static_cast<long>(sizeof set * 8)));
  for (std::size_t processor = 0; processor < online; ++processor) set[processor / 64] |= std::uint64_t{1} << processor % 64;
  return set;
}

std::size_t count(const ProcessorSet& set) {
  std::size_t found = 0;
  for (const std::uint64_t word : set) found += static_cast<std::size_t>(std::popcount(word));
  return found;
}

bool stay_on(int processor) {
  if (processor < 0 || processor >= CPU_SETSIZE) return false;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  return pthread_setaffinity_np(pthread_self(), sizeof one, &one) == 0;
}

ProcessorPair choose_pair(int first, const std::vector<int>& online, const std::vector<int>& same_core) {
  const auto other_core = [&](int processor) {
    return processor != first && std::find(same_core.begin(), same_core.end(), processor) == same_core.end();
  };
  const auto behind = [&](int processor) { return processor > first && other_core(processor); };
  auto found = std::find_if(online.begin(), online.end(), behind);
  if (found == online.end()) found = std::find_if(online.begin(), online.end(), other_core);
  if (found == online.end()) return {};
  return {true, first, *found};
}

ProcessorPair two_processors() {
  const std::string directory = "/sys/devices/system/cpu/";
  const int first = sched_getcpu();
  if (first < 0) return {};
  return choose_pair(first, read_processors(directory + "online"),
                     read_processors(directory + "cpu" + std::to_string(first) + "/topology/thread_siblings_list"));
}

ProcessorCaches processor_caches() {
  constexpr std::size_t usual_own_bytes = std::size_t{1} << 20;
  const auto size_of = [](int level, std::size_t usual) {
    const long found = sysconf(level);
    return found > 0 ? static_cast<std::size_t>(found) : usual;
  };
  const std::size_t own = size_of(_SC_LEVEL2_CACHE_SIZE, usual_own_bytes);
  return {.own_bytes = own, .largest_bytes = std::max(own, size_of(_SC_LEVEL3_CACHE_SIZE, own))};
}

}  // namespace sluice
