// fresh SIZES SECONDS PROTOCOLS: one way from rank 0 to rank 1, a window of messages out of and into pages that are new for each
// window, then one reply. Such memory is no alias block. PROTOCOLS of Sluice, separated by commas, take turns, a window each; the
// last figures are how many times as fast as the first of them each other was, pair by pair: quartiles.
#include <sys/mman.h>

#include <algorithm>

#include "apps/support/sides.hpp"
#include "bench.hpp"

namespace bench {

namespace {

constexpr std::size_t window_bytes = std::size_t{16} << 20;
constexpr std::size_t min_window = 4;

/// Pages that nobody has used.
class FreshPages {
 public:
  explicit FreshPages(std::size_t bytes) : bytes_(bytes) {
    memory_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    require(memory_ != MAP_FAILED, "new memory");
  }
  ~FreshPages() { ::munmap(memory_, bytes_); }
  FreshPages(const FreshPages&) = delete;
  FreshPages& operator=(const FreshPages&) = delete;

  [[nodiscard]] std::span<std::byte> part(std::size_t index, std::size_t bytes) const {
    return {static_cast<std::byte*>(memory_) + index * bytes, bytes};
  }

 private:
  std::size_t bytes_;
  void* memory_;
};

/// Seconds from the first message to the reply. What is done to the pages before and afterwards is not counted.
double pass(MPI_Comm comm, std::size_t bytes, std::size_t messages, std::uint64_t& next) {
  const FreshPages pages(bytes * messages);
  std::vector<MPI_Request> requests(messages);
  const auto count = static_cast<int>(bytes);
  if (rank() == 0) {
    for (std::size_t i = 0; i < messages; ++i) stamp(pages.part(i, bytes), next + i);
  }
  MPI_Sendrecv(nullptr, 0, MPI_BYTE, 1 - rank(), 2, nullptr, 0, MPI_BYTE, 1 - rank(), 2, comm, MPI_STATUS_IGNORE);
  const double start = now();
  for (std::size_t i = 0; i < messages; ++i) {
    std::byte* const data = pages.part(i, bytes).data();
    if (rank() == 0) {
      MPI_Isend(data, count, MPI_BYTE, 1, 0, comm, &requests[i]);
    } else {
      MPI_Irecv(data, count, MPI_BYTE, 0, 0, comm, &requests[i]);
    }
  }
  MPI_Waitall(static_cast<int>(messages), requests.data(), MPI_STATUSES_IGNORE);
  if (rank() == 0) {
    MPI_Recv(nullptr, 0, MPI_BYTE, 1, 1, comm, MPI_STATUS_IGNORE);
  } else {
    MPI_Send(nullptr, 0, MPI_BYTE, 0, 1, comm);
  }
  const double seconds = now() - start;
  for (std::size_t i = 0; rank() == 1 && i < messages; ++i)
    require(has_stamps(pages.part(i, bytes), next + i), "a window of new pages");
  next += messages;
  return seconds;
}

void report_quartiles(const std::string& name, std::vector<double> values, const char* unit) {
  std::sort(values.begin(), values.end());
  report(name + " lower", values[values.size() / 4], unit);
  report(name, values[values.size() / 2], unit);
  report(name + " upper", values[values.size() * 3 / 4], unit);
}

void measure(const std::vector<apps::Side>& sides, std::size_t bytes, int windows) {
  const std::size_t messages = std::max(min_window, window_bytes / bytes);
  const std::string name = "fresh/" + show_size(bytes);
  std::vector<std::vector<double>> seconds(sides.size());
  std::uint64_t next = 1;
  for (const apps::Side& side : sides) pass(side.comm, bytes, messages, next);
  for (int i = 0; i < windows; ++i) {
    for (std::size_t each = 0; each < sides.size(); ++each) {
      const std::size_t turn = i % 2 == 0 ? each : sides.size() - 1 - each;
      seconds[turn].push_back(pass(sides[turn].comm, bytes, messages, next));
    }
  }
  const double megabytes = static_cast<double>(bytes * messages) / 1e6;
  for (std::size_t side = 0; side < sides.size(); ++side) {
    report(name + " " + sides[side].name, megabytes / median(seconds[side]), "MB/s");
    if (side == 0) continue;
    std::vector<double> faster;
    for (std::size_t i = 0; i < seconds[side].size(); ++i) faster.push_back(seconds[0][i] / seconds[side][i]);
    report_quartiles(name + " " + sides[side].name + " over " + sides[0].name, std::move(faster), "times");
  }
}

}  // namespace

void fresh(Arguments arguments) {
  const double seconds = std::stod(argument(arguments, 1, "1"));
  const apps::Sides sides(argument(arguments, 2, "rget,coop"));
  constexpr double expected_window_seconds = 1e-2;
  const int windows = std::max(8, static_cast<int>(seconds / expected_window_seconds));
  for (const std::size_t bytes : sizes(arguments, 0, "64K,256K,1M,4M")) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank() <= 1) measure(sides.all(), bytes, windows);
  }
}

}  // namespace bench
