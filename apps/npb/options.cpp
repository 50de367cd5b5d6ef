#include "apps/npb/options.hpp"

#include <bit>

#include "apps/npb/lu_grid.hpp"

namespace npb {

namespace {

/// In the place of --iterations where that is not given.
constexpr int as_the_class_has = 0;

int iterations_of(const Options& options, int of_class) {
  return options.iterations == as_the_class_has ? of_class : options.iterations;
}

/// Why the kernel cannot run with so many ranks; empty when it can.
std::string unusable(const Options& options, apps::World world) {
  const auto ranks = static_cast<std::size_t>(world.ranks);
  const std::string many = std::to_string(ranks) + " ranks: ";
  if (options.kernel == "cg") return std::has_single_bit(ranks) ? "" : many + "cg needs a power of two";
  if (options.kernel == "ft") {
    const FtClass size = ft_class(options);
    const bool divides = size.x % ranks == 0 && size.z % ranks == 0;
    return divides ? "" : many + "ft needs a number that divides " + std::to_string(size.x) + " and " + std::to_string(size.z);
  }
  return LuGrid::suits(lu_class(options).edge, world.ranks) ? "" : many + "each needs 2 x 2 columns of lu's cube or more";
}

}  // namespace

CgClass cg_class(const Options& options) {
  CgClass found{7000, 8, 15, 12};
  if (options.size == "S") found = {1400, 7, 15, 10};
  if (options.size == "A") found = {14000, 11, 15, 20};
  found.iterations = iterations_of(options, found.iterations);
  return found;
}

FtClass ft_class(const Options& options) {
  FtClass found{128, 128, 32, 6};
  if (options.size == "S") found = {64, 64, 64, 6};
  if (options.size == "A") found = {256, 256, 128, 6};
  found.iterations = iterations_of(options, found.iterations);
  return found;
}

LuClass lu_class(const Options& options) {
  LuClass found{33, 300};
  if (options.size == "S") found = {12, 50};
  if (options.size == "A") found = {64, 250};
  found.iterations = iterations_of(options, found.iterations);
  return found;
}

Options parse_options(int argc, char** argv, apps::World world) {
  Options options;
  options.iterations = as_the_class_has;
  apps::OptionTable table("npb", world.rank);
  table.word("--kernel", options.kernel, {"cg", "ft", "lu"}, "which communication (cg)");
  table.word("--class", options.size, {"S", "W", "A"}, "size of the problem, as in NPB (W)");
  table.number("--iterations", options.iterations, "of the outer loop (as many as the class has)");
  table.word("--transpose", options.transpose, {"alltoall", "pairs"},
             "of ft: MPI_Alltoall, or the same written out with nonblocking calls (alltoall)");
  table.flag("--check", options.check, "print a hash of the results");
  table.flag("--serial-check", options.serial_check, "compare the results with a computation on one process");
  table.parse(argc, argv);
  if (const std::string why = unusable(options, world); !why.empty()) table.reject(why);
  return options;
}

}  // namespace npb
