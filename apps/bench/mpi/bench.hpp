// What the benchmarks of this program share: the clock, work that takes time, contents that are checked, and the report.
//
// Every benchmark is a function of its arguments, run by all ranks. Rank 0 prints one line per figure,
// "<name> <value> <unit>"; the driver `run` reads these.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bench {

using Arguments = std::span<const std::string>;

struct Benchmark {
  const char* name;
  const char* arguments;
  int min_ranks;
  void (*run)(Arguments);
};

int rank();
int ranks();

double now();  // seconds, monotonic

/// "4096", "64K", "4M" in bytes.
std::size_t parse_size(const std::string& text);
std::string show_size(std::size_t bytes);
/// The argument at `index`, else `otherwise`.
std::string argument(Arguments arguments, std::size_t index, const char* otherwise);
/// The argument at `index` as a list of sizes separated by commas, else that of `otherwise`.
std::vector<std::size_t> sizes(Arguments arguments, std::size_t index, const char* otherwise);
/// Whether a word is in a list separated by commas.
bool lists(const std::string& list, const std::string& word);

double median(std::vector<double> values);
void report(const std::string& name, double value, const char* unit);  // rank 0 prints

/// Ends the job when data is not what it must be.
void require(bool correct, const char* what);

/// Contents that differ between messages in every page: one stamp per page, and at the end.
void stamp(std::span<std::byte> buffer, std::uint64_t message);
/// Reads every page.
bool has_stamps(std::span<const std::byte> buffer, std::uint64_t message);

/// Work of a fixed amount, about as long as asked for when the core is not shared. Returns how long it took, in seconds.
class Work {
 public:
  Work();  // calibrates
  double run(double seconds) const;

 private:
  double units_per_second_ = 0;
};

// One per file.
void ping_pong(Arguments);
void bandwidth(Arguments);
void bidirectional(Arguments);
void fresh(Arguments);
void late_sender(Arguments);
void read_at_once(Arguments);
void late_receiver(Arguments);
void ring(Arguments);
void all_to_all(Arguments);
void collectives(Arguments);
void collective_calls(Arguments);
void one_sided_calls(Arguments);
void halo(Arguments);
void faces(Arguments);
void idle(Arguments);
void null_calls(Arguments);
void allocations(Arguments);
void sweep(Arguments);
void completions(Arguments);

}  // namespace bench
