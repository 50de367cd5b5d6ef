// null_calls SECONDS: a send and a receive that go nowhere (MPI_PROC_NULL), so what is left is the way to the host and back.
#include "bench.hpp"

namespace bench {

void null_calls(Arguments arguments) {
  constexpr int batches = 41;
  constexpr int calls = 10000;
  const double seconds = std::stod(argument(arguments, 0, "0.2"));
  char nothing[8] = {};
  std::vector<double> results;
  const double end = now() + seconds;
  while (results.size() < batches || now() < end) {
    const double start = now();
    for (int i = 0; i < calls; ++i) {
      MPI_Send(nothing, sizeof nothing, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
      MPI_Recv(nothing, sizeof nothing, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    results.push_back((now() - start) / calls);
  }
  if (rank() == 0) report("null_calls", median(results) * 1e9, "ns");
}

}  // namespace bench
