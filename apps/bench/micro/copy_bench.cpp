// GB/s of the copy engine's variants between two processors, by length, by direction and by where the lines are.
//
//   copy_bench [processor [processor]]        default: 0 and 1
//
// A thread on each processor, and memory that both have mapped. First the time that one cache line takes from one to the other
// and back, which tells how far apart the two are: about 100 ns within one cache, 400 and more between distant ones. Then
//
//   write   the first copies into shared memory that the second read last, and the second reads it
//   read    the first copies out of shared memory that the second wrote just before, and reads its copy
//   both    the first copies the front half in, the second the back half out, at once
//
// warm: always the same memory. cold: memory that no cache holds any more, as one buffer after the other of more than all caches
// hold is used. "copy" counts the time of the copy alone, "cycle" what the second does with it as well. Medians.
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "runtime/base/clock.hpp"
#include "runtime/base/posix.hpp"
#include "runtime/copy/copy_engine.hpp"
#include "runtime/machine/copy_pair.hpp"
#include "runtime/process/processors.hpp"

namespace {

using namespace sluice;
using Job = CopyPair::Job;

constexpr std::size_t pool_bytes = std::size_t{256} << 20;
constexpr std::size_t lengths[] = {512, 4096, 16384, 65536, 262144, 1048576, 4194304};
constexpr std::size_t min_cold_bytes = 65536;
constexpr std::uint64_t no_deadline = ~std::uint64_t{0};

struct Times {
  std::vector<double> copy_ns;
  std::vector<double> cycle_ns;
};

double median(std::vector<double>& samples) {
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

[[noreturn]] void give_up(const char* what) {
  std::perror(what);
  std::exit(EXIT_FAILURE);
}

class Bench {
 public:
  explicit Bench(int processor) : pair_(processor, no_deadline), shared_(pool(MAP_SHARED)), own_(pool(MAP_PRIVATE)) {}

  /// Of one cache line, in ns.
  double round_trip() {
    std::vector<double> samples;
    for (int batch = 0; batch < 200; ++batch) {
      const std::uint64_t start = now_ns();
      for (int i = 0; i < 100; ++i) (void)pair_.run({});
      samples.push_back(static_cast<double>(now_ns() - start) / 100);
    }
    return median(samples);
  }

  void measure(const char* direction, const CopyVariant& variant, std::size_t bytes, bool cold) {
    const std::size_t step = cold ? bytes : 0;
    const std::size_t rounds = cold ? pool_bytes / step : std::clamp<std::size_t>((64u << 20) / bytes, 20, 2000);
    Times times;
    for (std::size_t round = 0; round < rounds; ++round) {
      const std::size_t at = round * step;
      const auto [copied, cycled] = *direction == 'w'   ? write_once(variant.copy, at, bytes)
                                    : *direction == 'r' ? read_once(variant.copy, at, bytes)
                                                        : both_once(variant.copy, at, bytes);
      if (!cold && round < rounds / 10) continue;
      times.copy_ns.push_back(copied);
      times.cycle_ns.push_back(cycled);
    }
    const auto size = static_cast<double>(bytes);
    std::printf("%-6s %-5s %8zu B  %-19s copy %7.2f GB/s  cycle %7.2f GB/s\n", direction, cold ? "cold" : "warm", bytes,
                std::string(variant.name).c_str(), size / median(times.copy_ns), size / median(times.cycle_ns));
  }

 private:
  struct Once {
    double copied;
    double cycled;
  };

  static Mapping pool(int sort) {
    void* memory = ::mmap(nullptr, pool_bytes, PROT_READ | PROT_WRITE, sort | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) give_up("mmap");
    return {memory, pool_bytes};
  }

  static double since(std::uint64_t start) { return static_cast<double>(now_ns() - start); }

  Once write_once(CopyFunction copy, std::size_t at, std::size_t bytes) {
    const std::uint64_t start = now_ns();
    copy(shared_.start() + at, own_.start() + at, bytes);
    const double copied = since(start);
    (void)pair_.run({.what = Job::What::read, .memory = shared_.start() + at, .bytes = bytes});
    return {copied, since(start)};
  }

  Once read_once(CopyFunction copy, std::size_t at, std::size_t bytes) {
    const std::uint64_t start = now_ns();
    (void)pair_.run({.what = Job::What::write, .memory = shared_.start() + at, .bytes = bytes});
    const std::uint64_t written = now_ns();
    copy(own_.start() + at, shared_.start() + at, bytes);
    const double copied = since(written);
    read_lines(own_.start() + at, bytes);
    return {copied, since(start)};
  }

  /// The sender's buffer is own_, the receiver's shared_; both halves are there when the receiver has read all of it.
  Once both_once(CopyFunction copy, std::size_t at, std::size_t bytes) {
    const std::size_t half = bytes / 2;
    std::byte* const target = shared_.start() + at;
    const std::byte* const source = own_.start() + at;
    const std::uint64_t start = now_ns();
    pair_.begin({.what = Job::What::copy, .memory = target + half, .source = source + half, .bytes = bytes - half, .copy = copy});
    copy(target, source, half);
    (void)pair_.await();
    const double copied = since(start);
    (void)pair_.run({.what = Job::What::read, .memory = target, .bytes = bytes});
    return {copied, since(start)};
  }

  CopyPair pair_;
  Mapping shared_;
  Mapping own_;
};

}  // namespace

int main(int count, char** arguments) {
  const int first = count > 1 ? std::atoi(arguments[1]) : 0;
  const int second = count > 2 ? std::atoi(arguments[2]) : 1;
  if (!stay_on(first)) give_up("the first processor");
  Bench bench(second);
  std::printf("processors %d and %d: %.0f ns there and back\n", first, second, bench.round_trip());
  for (const char* direction : {"write", "read", "both"}) {
    for (const bool cold : {false, true}) {
      for (const std::size_t bytes : lengths) {
        if (cold && bytes < min_cold_bytes) continue;
        for (const CopyVariant& variant : copy_variants()) bench.measure(direction, variant, bytes, cold);
      }
    }
  }
}
