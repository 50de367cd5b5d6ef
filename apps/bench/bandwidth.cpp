// bandwidth SIZES SECONDS PROTOCOLS: one way from rank 0 to rank 1, a window of messages into buffers of their own, then one
// reply. The sender writes a stamp into every page of every message, the receiver reads every page. PROTOCOLS of Sluice,
// separated by commas, take turns, and each turn is a figure.
#include <algorithm>

#include "apps/support/sides.hpp"
#include "bench.hpp"

namespace bench {

namespace {

constexpr std::size_t window_bytes = std::size_t{16} << 20;
constexpr std::size_t least_window = 4;
constexpr int turns = 10;
constexpr int windows_of_batch = 2;

class Window {
 public:
  explicit Window(std::size_t bytes)
      : bytes_(bytes),
        messages_(std::max(least_window, window_bytes / bytes)),
        memory_(bytes * messages_),
        requests_(messages_) {}

  [[nodiscard]] double megabytes() const { return static_cast<double>(bytes_ * messages_) / 1e6; }

  void send(MPI_Comm comm) {
    for (std::size_t i = 0; i < messages_; ++i) {
      stamp(buffer(i), next_ + i);
      MPI_Isend(buffer(i).data(), static_cast<int>(bytes_), MPI_BYTE, 1, 0, comm, &requests_[i]);
    }
    MPI_Waitall(static_cast<int>(messages_), requests_.data(), MPI_STATUSES_IGNORE);
    MPI_Recv(nullptr, 0, MPI_BYTE, 1, 1, comm, MPI_STATUS_IGNORE);
  }

  void receive(MPI_Comm comm) {
    for (std::size_t i = 0; i < messages_; ++i) {
      MPI_Irecv(buffer(i).data(), static_cast<int>(bytes_), MPI_BYTE, 0, 0, comm, &requests_[i]);
    }
    MPI_Waitall(static_cast<int>(messages_), requests_.data(), MPI_STATUSES_IGNORE);
    for (std::size_t i = 0; i < messages_; ++i) require(has_stamps(buffer(i), next_ + i), "bandwidth");
    MPI_Send(nullptr, 0, MPI_BYTE, 0, 1, comm);
  }

  double seconds(MPI_Comm comm, int windows) {
    const double start = now();
    for (int i = 0; i < windows; ++i, next_ += messages_) rank() == 0 ? send(comm) : receive(comm);
    return (now() - start) / windows;
  }

 private:
  std::span<std::byte> buffer(std::size_t index) { return std::span(memory_).subspan(index * bytes_, bytes_); }

  std::size_t bytes_;
  std::size_t messages_;
  std::uint64_t next_ = 1;  // message
  std::vector<std::byte> memory_;
  std::vector<MPI_Request> requests_;
};

/// The median of so many batches, after windows that are not counted, in MB/s.
double measure(Window& window, MPI_Comm comm, int uncounted, int batches) {
  window.seconds(comm, uncounted);
  std::vector<double> rates;
  for (int batch = 0; batch < batches; ++batch) rates.push_back(window.megabytes() / window.seconds(comm, windows_of_batch));
  return median(rates);
}

void measure_in_turns(Window& window, std::vector<apps::Side> sides, const std::string& name, int batches) {
  constexpr int settling = 3;
  for (int turn = 0; turn < turns; ++turn) {
    for (const apps::Side& side : sides)
      report(name + " " + side.name, measure(window, side.comm, settling, std::max(1, batches / turns)), "MB/s");
    std::reverse(sides.begin(), sides.end());
  }
}

}  // namespace

void bandwidth(Arguments arguments) {
  const double seconds = std::stod(argument(arguments, 1, "0.5"));
  const apps::Sides sides(argument(arguments, 2, ""));
  constexpr double expected_window_seconds = 2e-3;
  constexpr int warm_up = 5;
  const int batches = std::max(5, static_cast<int>(seconds / (windows_of_batch * expected_window_seconds)));
  for (const std::size_t bytes : sizes(arguments, 0, "256K,1M,4M")) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank() > 1) continue;
    Window window(bytes);
    const std::string name = "bandwidth/" + show_size(bytes);
    if (sides.alternate())
      measure_in_turns(window, sides.all(), name, batches);
    else
      report(name, measure(window, MPI_COMM_WORLD, warm_up, batches), "MB/s");
  }
}

}  // namespace bench
