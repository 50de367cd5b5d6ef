// Command line of npb.
#pragma once

#include <cstddef>
#include <string>

#include "apps/support/job.hpp"

namespace npb {

struct Options : apps::CommonOptions {
  std::string kernel = "cg";           // --kernel
  std::string size = "W";              // --class
  std::string transpose = "alltoall";  // --transpose: of ft
  [[nodiscard]] bool by_pairs() const { return transpose == "pairs"; }
};

/// Sizes and iterations of NPB's classes S, W and A.
struct CgClass {
  std::size_t rows;
  std::size_t nonzeros;  // of each vector whose outer products make the matrix, beside its own place
  int iterations;
  double shift;
};
struct FtClass {
  std::size_t x;
  std::size_t y;
  std::size_t z;
  int iterations;
};
struct LuClass {
  std::size_t edge;
  int iterations;
};
[[nodiscard]] CgClass cg_class(const Options& options);
[[nodiscard]] FtClass ft_class(const Options& options);
[[nodiscard]] LuClass lu_class(const Options& options);

/// Also rejects a number of ranks that the kernel cannot use. A mistake, or --help, is printed by rank 0; then the process ends.
Options parse_options(int argc, char** argv, apps::World world);

}  // namespace npb
