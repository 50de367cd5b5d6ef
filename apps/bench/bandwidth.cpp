// bandwidth SIZES SECONDS: one way from rank 0 to rank 1, a window of messages into buffers of their own, then one reply.
// The sender writes a stamp into every page of every message, the receiver reads every page.
#include <algorithm>

#include "bench.hpp"

namespace bench {

namespace {

constexpr std::size_t window_bytes = std::size_t{16} << 20;
constexpr std::size_t least_window = 4;

class Window {
 public:
  explicit Window(std::size_t bytes)
      : bytes_(bytes),
        messages_(std::max(least_window, window_bytes / bytes)),
        memory_(bytes * messages_),
        requests_(messages_) {}

  [[nodiscard]] double megabytes() const { return static_cast<double>(bytes_ * messages_) / 1e6; }

  void send(std::uint64_t first) {
    for (std::size_t i = 0; i < messages_; ++i) {
      stamp(buffer(i), first + i);
      MPI_Isend(buffer(i).data(), static_cast<int>(bytes_), MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests_[i]);
    }
    MPI_Waitall(static_cast<int>(messages_), requests_.data(), MPI_STATUSES_IGNORE);
    MPI_Recv(nullptr, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }

  void receive(std::uint64_t first) {
    for (std::size_t i = 0; i < messages_; ++i) {
      MPI_Irecv(buffer(i).data(), static_cast<int>(bytes_), MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests_[i]);
    }
    MPI_Waitall(static_cast<int>(messages_), requests_.data(), MPI_STATUSES_IGNORE);
    for (std::size_t i = 0; i < messages_; ++i) require(has_stamps(buffer(i), first + i), "bandwidth");
    MPI_Send(nullptr, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
  }

  double seconds(int windows, std::uint64_t& message) {
    const double start = now();
    for (int i = 0; i < windows; ++i, message += messages_) rank() == 0 ? send(message) : receive(message);
    return (now() - start) / windows;
  }

 private:
  std::span<std::byte> buffer(std::size_t index) { return std::span(memory_).subspan(index * bytes_, bytes_); }

  std::size_t bytes_;
  std::size_t messages_;
  std::vector<std::byte> memory_;
  std::vector<MPI_Request> requests_;
};

}  // namespace

void bandwidth(Arguments arguments) {
  const double seconds = std::stod(argument(arguments, 1, "0.5"));
  constexpr double expected_window_seconds = 2e-3;
  for (const std::size_t bytes : sizes(arguments, 0, "256K,1M,4M")) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank() > 1) continue;
    Window window(bytes);
    std::uint64_t message = 1;
    window.seconds(5, message);
    std::vector<double> results;
    const int batches = std::max(5, static_cast<int>(seconds / (2 * expected_window_seconds)));
    for (int batch = 0; batch < batches; ++batch) results.push_back(window.megabytes() / window.seconds(2, message));
    report("bandwidth/" + show_size(bytes), median(results), "MB/s");
  }
}

}  // namespace bench
