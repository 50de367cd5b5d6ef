#include "apps/pes/options.hpp"

#include <mpi.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace pes {

namespace {

constexpr const char* usage =
    "usage: pes [--size N] [--columns N] [--iterations N] [--imbalance PERCENT] [--heavy-rank R] [--check] [--serial-check]\n"
    "  --size N             rows of the field (1024)\n"
    "  --columns N          columns (as many as rows); a ghost row has 8 bytes for each\n"
    "  --iterations N       (100)\n"
    "  --imbalance PERCENT  one rank does that much more work (0)\n"
    "  --heavy-rank R       which rank that is (another one in every iteration)\n"
    "  --check              print a hash of the final field; it does not depend on the number of ranks\n"
    "  --serial-check       compare the final field with that of one process\n";

[[noreturn]] void stop(int rank, const std::string& message, int status) {
  if (rank == 0) std::fprintf(status == 0 ? stdout : stderr, "%s", message.c_str());
  MPI_Finalize();
  std::exit(status);
}

/// The value behind option `index`.
template <class Number>
Number number_behind(int argc, char** argv, int index, int rank) {
  const std::string option = argv[index];
  if (index + 1 == argc) stop(rank, "pes: " + option + " needs a number\n", EXIT_FAILURE);
  const std::string_view text = argv[index + 1];
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || number < 0) stop(rank, "pes: " + option + " " + std::string(text) + ": expected a number\n", EXIT_FAILURE);
  return number;
}

void validate(const Options& options, int rank, int ranks) {
  if (options.rows < 3 || options.columns < 3) stop(rank, "pes: the field needs 3 rows and 3 columns or more\n", EXIT_FAILURE);
  if (options.rows - 2 < static_cast<std::size_t>(ranks)) stop(rank, "pes: every rank needs a row of its own\n", EXIT_FAILURE);
  if (options.heavy_rank >= ranks) stop(rank, "pes: --heavy-rank names no rank of this job\n", EXIT_FAILURE);
}

}  // namespace

Options parse_options(int argc, char** argv, int rank, int ranks) {
  Options options;
  for (int index = 1; index < argc; ++index) {
    const std::string_view option = argv[index];
    if (option == "--size") {
      options.rows = number_behind<std::size_t>(argc, argv, index++, rank);
    } else if (option == "--columns") {
      options.columns = number_behind<std::size_t>(argc, argv, index++, rank);
    } else if (option == "--iterations") {
      options.iterations = number_behind<int>(argc, argv, index++, rank);
    } else if (option == "--imbalance") {
      options.imbalance = number_behind<int>(argc, argv, index++, rank);
    } else if (option == "--heavy-rank") {
      options.heavy_rank = number_behind<int>(argc, argv, index++, rank);
    } else if (option == "--check") {
      options.check = true;
    } else if (option == "--serial-check") {
      options.serial_check = true;
    } else if (option == "--help") {
      stop(rank, usage, EXIT_SUCCESS);
    } else {
      stop(rank, "pes: " + std::string(option) + " is not an option\n" + usage, EXIT_FAILURE);
    }
  }
  if (options.columns == 0) options.columns = options.rows;
  validate(options, rank, ranks);
  return options;
}

}  // namespace pes
