// Nanoseconds for one combination of two vectors: the kernels of reductions, by width of registers, against the host's
// MPI_Reduce_local. Then the kernels that combine eight sources, against pairs of them.
//
//   reduce_bench        one process, no launcher
//
// Vectors lie in the first caches as far as they fit. Medians of rounds that alternate.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "runtime/base/clock.hpp"
#include "runtime/collective/kernels/reduce_table.hpp"

namespace {

using namespace sluice;

struct Case {
  const char* name;
  ReduceOperation operation;
  ElementKind kind;
  MPI_Op op;
  MPI_Datatype type;
};

constexpr std::size_t lengths[] = {1, 2, 4, 7, 8, 16, 31, 64, 256, 2048, 16384, 262144};
constexpr std::size_t most_elements = 262144;
constexpr std::size_t most_sources = 8;
constexpr int rounds = 31;

double median(std::vector<double>& samples) {
  std::nth_element(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2), samples.end());
  return samples[samples.size() / 2];
}

/// Long enough for the clock.
int repetitions(std::size_t elements) { return static_cast<int>(std::max<std::size_t>(1, 20000 / (elements + 20))); }

template <typename Job>
double once(std::size_t elements, Job job) {
  const int times = repetitions(elements);
  const std::uint64_t start = now_ns();
  for (int i = 0; i < times; ++i) job();
  return static_cast<double>(now_ns() - start) / times;
}

class Bench {
 public:
  explicit Bench(std::size_t element_bytes) : vectors_(most_sources + 1) {
    // Small whole numbers, or ones, whatever the type: nothing is slow because it is denormal or NaN.
    for (auto& vector : vectors_) vector.assign(most_elements * element_bytes, std::byte{});
  }

  void against_host(const Case& c) {
    for (const std::size_t elements : lengths) {
      std::vector<std::vector<double>> samples(1 + reduce_widths().size());
      for (int round = 0; round < rounds; ++round) {
        samples[0].push_back(once(elements, [&] {
          PMPI_Reduce_local(vectors_[0].data(), vectors_[1].data(), static_cast<int>(elements), c.type, c.op);
        }));
        const std::byte* sources[] = {vectors_[0].data(), vectors_[1].data()};
        for (std::size_t w = 0; w < reduce_widths().size(); ++w) {
          const ReduceKernel kernel = of(reduce_widths()[w], c);
          samples[1 + w].push_back(once(elements, [&] { kernel(sources, 2, vectors_[1].data(), elements); }));
        }
      }
      print(c.name, elements, samples);
    }
  }

  void eight_at_once(const Case& c) {
    const ReduceKernel kernel = of(reduce_widths().back(), c);
    const std::byte* sources[most_sources];
    for (std::size_t i = 0; i < most_sources; ++i) sources[i] = vectors_[i].data();
    std::byte* target = vectors_[most_sources].data();
    for (const std::size_t elements : lengths) {
      std::vector<std::vector<double>> samples(2);
      for (int round = 0; round < rounds; ++round) {
        samples[0].push_back(once(elements, [&] {
          std::memcpy(target, sources[0], elements * element_bytes(c.kind));
          for (std::size_t i = 1; i < most_sources; ++i) {
            const std::byte* pair[] = {target, sources[i]};
            kernel(pair, 2, target, elements);
          }
        }));
        samples[1].push_back(once(elements, [&] { kernel(sources, most_sources, target, elements); }));
      }
      print(c.name, elements, samples);
    }
  }

 private:
  static ReduceKernel of(const ReduceWidth& width, const Case& c) {
    const ReduceKernel kernel = width.table->at(c.operation, c.kind);
    return kernel ? kernel : reduce_table_baseline.at(c.operation, c.kind);
  }

  static void print(const char* name, std::size_t elements, std::vector<std::vector<double>>& samples) {
    std::printf("%-16s %7zu", name, elements);
    const double first = median(samples[0]);
    double best = first;
    for (auto& of_one : samples) {
      std::printf(" %11.1f", median(of_one));
      best = median(of_one);
    }
    std::printf(" %8.2f\n", best / first);
  }

  std::vector<std::vector<std::byte>> vectors_;
};

}  // namespace

int main(int argc, char** argv) {
  PMPI_Init(&argc, &argv);
  const Case cases[] = {
      {"sum double", ReduceOperation::sum, ElementKind::float64, MPI_SUM, MPI_DOUBLE},
      {"sum float", ReduceOperation::sum, ElementKind::float32, MPI_SUM, MPI_FLOAT},
      {"sum int", ReduceOperation::sum, ElementKind::int32, MPI_SUM, MPI_INT},
      {"sum int8", ReduceOperation::sum, ElementKind::int8, MPI_SUM, MPI_INT8_T},
      {"sum long double", ReduceOperation::sum, ElementKind::long_double, MPI_SUM, MPI_LONG_DOUBLE},
      {"sum complex", ReduceOperation::sum, ElementKind::double_complex, MPI_SUM, MPI_C_DOUBLE_COMPLEX},
      {"max double", ReduceOperation::max, ElementKind::float64, MPI_MAX, MPI_DOUBLE},
      {"max long", ReduceOperation::max, ElementKind::int64, MPI_MAX, MPI_INT64_T},
      {"prod int8", ReduceOperation::prod, ElementKind::int8, MPI_PROD, MPI_INT8_T},
      {"prod long", ReduceOperation::prod, ElementKind::int64, MPI_PROD, MPI_INT64_T},
      {"prod complex", ReduceOperation::prod, ElementKind::double_complex, MPI_PROD, MPI_C_DOUBLE_COMPLEX},
      {"prod complex8", ReduceOperation::prod, ElementKind::float_complex, MPI_PROD, MPI_C_FLOAT_COMPLEX},
      {"land int", ReduceOperation::land, ElementKind::int32, MPI_LAND, MPI_INT},
      {"lxor bool", ReduceOperation::lxor, ElementKind::uint8, MPI_LXOR, MPI_C_BOOL},
      {"bor long", ReduceOperation::bor, ElementKind::int64, MPI_BOR, MPI_INT64_T},
      {"maxloc double", ReduceOperation::maxloc, ElementKind::double_int, MPI_MAXLOC, MPI_DOUBLE_INT},
      {"maxloc float", ReduceOperation::maxloc, ElementKind::float_int, MPI_MAXLOC, MPI_FLOAT_INT},
      {"maxloc short", ReduceOperation::maxloc, ElementKind::short_int, MPI_MAXLOC, MPI_SHORT_INT},
      {"minloc long", ReduceOperation::minloc, ElementKind::long_int, MPI_MINLOC, MPI_LONG_INT},
      {"minloc 2double", ReduceOperation::minloc, ElementKind::double_double, MPI_MINLOC, MPI_2DOUBLE_PRECISION},
      {"minloc 2int", ReduceOperation::minloc, ElementKind::int_int, MPI_MINLOC, MPI_2INT},
      {"maxloc ldouble", ReduceOperation::maxloc, ElementKind::long_double_int, MPI_MAXLOC, MPI_LONG_DOUBLE_INT},
  };
  std::printf("%-16s %7s %11s", "two vectors", "", "host");
  for (const ReduceWidth& width : reduce_widths()) std::printf(" %11s", width.name);
  std::printf("    ratio\n");
  for (const Case& c : cases) Bench(element_bytes(c.kind)).against_host(c);
  std::printf("%-16s %7s %11s %11s    ratio\n", "eight vectors", "", "in turn", "at once");
  for (const Case& c : cases) Bench(element_bytes(c.kind)).eight_at_once(c);
  PMPI_Finalize();
  return 0;
}
