#include "apps/support/exchange.hpp"

#include <cstdio>
#include <cstdlib>

namespace apps {

namespace {

constexpr std::size_t stride = 61;  // touches every cache line

}  // namespace

ExchangeOptions parse_exchange(const char* program, int argc, char** argv, World world) {
  ExchangeOptions options;
  OptionTable table(program, world.rank);
  table.number("--bytes", options.bytes, "of each message (1024, 2048, 4096, 8192, 16384 and 32768, one after another)");
  table.number("--trials", options.trials, "how often everybody exchanges (1000)");
  table.number("--warm-up", options.warm_up, "trials before these (20)");
  table.flag("--equal-last-bytes", options.equal_last, "every message ends with 0, the worst case of putnr");
  table.parse(argc, argv);
  if (options.trials == 0) table.reject("--trials 0: there is nothing to measure");
  return options;
}

std::vector<std::size_t> sizes_of(const ExchangeOptions& options) {
  if (options.bytes != 0) return {options.bytes};
  return {1024, 2048, 4096, 8192, 16384, 32768};
}

unsigned char Messages::byte(std::size_t place, int from, int to, int trial) const {
  if (equal_last_ && place + 1 == bytes_) return 0;
  return static_cast<unsigned char>(place * 7 + static_cast<std::size_t>(from) * 31 + static_cast<std::size_t>(to) * 13 +
                                    static_cast<std::size_t>(trial) * 5 + 1);
}

void Messages::write(std::vector<unsigned char>& buffer, int from, int to, int trial) const {
  for (std::size_t place = 0; place < bytes_; place += stride) buffer[place] = byte(place, from, to, trial);
  buffer[bytes_ - 1] = byte(bytes_ - 1, from, to, trial);
}

void Messages::check(const std::vector<unsigned char>& buffer, int from, int to, int trial) const {
  bool right = buffer[bytes_ - 1] == byte(bytes_ - 1, from, to, trial);
  for (std::size_t place = 0; place + 1 < bytes_; place += stride) right &= buffer[place] == byte(place, from, to, trial);
  if (right) return;
  std::fprintf(stderr, "message of rank %d to rank %d in trial %d is not what was sent\n", from, to, trial);
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

double microseconds_of(const Trial& trial, const ExchangeOptions& options) {
  constexpr double us_per_s = 1e6;
  double aside = 0;
  const auto run = [&](int first, int count) {
    for (int number = first; number < first + count; ++number) {
      const double start = MPI_Wtime();
      trial.before(number);
      const double begin = MPI_Wtime();
      trial.exchange();
      const double end = MPI_Wtime();
      trial.after(number);
      aside += (begin - start) + (MPI_Wtime() - end);
    }
  };
  run(0, options.warm_up);
  MPI_Barrier(MPI_COMM_WORLD);
  aside = 0;
  const double start = MPI_Wtime();
  run(options.warm_up, options.trials);
  return largest(MPI_Wtime() - start - aside) / options.trials * us_per_s;
}

}  // namespace apps
