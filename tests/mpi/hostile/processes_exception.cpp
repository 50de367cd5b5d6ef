// A C++ program that throws while messages are on their way: through frames that hold what was received, and at last through
// main.
#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int count = 200000;

// Its destructor reads what is still arriving while the stack is unwound.
class Received {
 public:
  Received(int from, long long& sum) : data_(count), sum_(sum) {
    MPI_Recv(data_.data(), count, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  ~Received() { sum_ = std::accumulate(data_.begin(), data_.end(), 0LL); }

 private:
  std::vector<int> data_;
  long long& sum_;
};

void send_late(int to) {
  std::vector<int> data(count);
  std::iota(data.begin(), data.end(), 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  MPI_Send(data.data(), count, MPI_INT, to, 1, MPI_COMM_WORLD);
}

[[gnu::noinline]] void receive_and_throw(int from, long long& sum) {
  const Received received(from, sum);
  throw std::runtime_error("thrown by rank " + std::to_string(from + 1));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int round = 0; round < 3; ++round) {
    if (rank % 2 == 0 && rank + 1 < size) send_late(rank + 1);
    if (rank % 2 == 0) continue;
    long long sum = 0;
    try {
      receive_and_throw(rank - 1, sum);
    } catch (const std::exception& error) {
      std::printf("CASE round_%d %d: %s sum %lld\n", round, rank, error.what(), sum);
    }
  }
  std::fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) send_late(1);
  if (rank == 1) {
    long long sum = 0;
    receive_and_throw(0, sum);
  }
  // The launcher ends the others, once it has seen which rank died; none of them ends by itself first.
  for (;;) pause();
}
