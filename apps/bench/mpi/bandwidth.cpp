// bandwidth SIZES SECONDS PROTOCOLS: one way from rank 0 to rank 1, a window of messages into buffers of their own, then one
// reply. bidirectional: a window each way at once, and no reply. Senders write a stamp into every page of every message,
// receivers read every page. PROTOCOLS of Sluice, separated by commas, take turns, and each turn is a figure, of all ways.
#include <algorithm>

#include "apps/support/sides.hpp"
#include "bench.hpp"

namespace bench {

namespace {

constexpr std::size_t window_bytes = std::size_t{16} << 20;
constexpr std::size_t min_window = 4;
constexpr int turns = 10;
constexpr int windows_of_batch = 2;

class Window {
 public:
  Window(std::size_t bytes, bool both_ways)
      : bytes_(bytes), messages_(std::max(min_window, window_bytes / bytes)), both_ways_(both_ways) {
    if (sends()) outgoing_.resize(bytes * messages_);
    if (receives()) incoming_.resize(bytes * messages_);
    requests_.reserve(2 * messages_);  // MPI is given their addresses
  }

  [[nodiscard]] double megabytes() const { return static_cast<double>(bytes_ * messages_ * (both_ways_ ? 2 : 1)) / 1e6; }

  double seconds(MPI_Comm comm, int windows) {
    const double start = now();
    for (int i = 0; i < windows; ++i, next_ += messages_) pass(comm);
    return (now() - start) / windows;
  }

 private:
  [[nodiscard]] bool sends() const { return both_ways_ || rank() == 0; }
  [[nodiscard]] bool receives() const { return both_ways_ || rank() == 1; }
  std::span<std::byte> message(std::vector<std::byte>& window, std::size_t index) const {
    return std::span(window).subspan(index * bytes_, bytes_);
  }

  void pass(MPI_Comm comm) {
    const int peer = 1 - rank();
    const auto count = static_cast<int>(bytes_);
    requests_.clear();
    for (std::size_t i = 0; receives() && i < messages_; ++i)
      MPI_Irecv(message(incoming_, i).data(), count, MPI_BYTE, peer, 0, comm, &requests_.emplace_back());
    for (std::size_t i = 0; sends() && i < messages_; ++i) {
      stamp(message(outgoing_, i), next_ + i);
      MPI_Isend(message(outgoing_, i).data(), count, MPI_BYTE, peer, 0, comm, &requests_.emplace_back());
    }
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    for (std::size_t i = 0; receives() && i < messages_; ++i) require(has_stamps(message(incoming_, i), next_ + i), "a window");
    if (both_ways_) return;
    if (receives())
      MPI_Send(nullptr, 0, MPI_BYTE, peer, 1, comm);
    else
      MPI_Recv(nullptr, 0, MPI_BYTE, peer, 1, comm, MPI_STATUS_IGNORE);
  }

  std::size_t bytes_;
  std::size_t messages_;
  bool both_ways_;
  std::uint64_t next_ = 1;  // message
  std::vector<std::byte> outgoing_;
  std::vector<std::byte> incoming_;
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

void measure_windows(Arguments arguments, bool both_ways, const std::string& what) {
  const double seconds = std::stod(argument(arguments, 1, "0.5"));
  const apps::Sides sides(argument(arguments, 2, ""));
  constexpr double expected_window_seconds = 2e-3;
  constexpr int warm_up = 5;
  const int batches = std::max(5, static_cast<int>(seconds / (windows_of_batch * expected_window_seconds)));
  for (const std::size_t bytes : sizes(arguments, 0, "256K,1M,4M")) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank() > 1) continue;
    Window window(bytes, both_ways);
    const std::string name = what + "/" + show_size(bytes);
    if (sides.alternate())
      measure_in_turns(window, sides.all(), name, batches);
    else
      report(name, measure(window, MPI_COMM_WORLD, warm_up, batches), "MB/s");
  }
}

}  // namespace

void bandwidth(Arguments arguments) { measure_windows(arguments, false, "bandwidth"); }
void bidirectional(Arguments arguments) { measure_windows(arguments, true, "bidirectional"); }

}  // namespace bench
