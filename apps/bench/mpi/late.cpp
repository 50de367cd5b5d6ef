// Receives that block because the sender is late, and sends because the receiver is.
#include <algorithm>
#include <cmath>

#include "bench.hpp"

namespace bench {

namespace {

constexpr int report_tag = 2;

/// Rank 0's figure is rank 1's measurement.
double from_receiver(double value) {
  if (rank() == 1) MPI_Send(&value, 1, MPI_DOUBLE, 0, report_tag, MPI_COMM_WORLD);
  if (rank() == 0) MPI_Recv(&value, 1, MPI_DOUBLE, 1, report_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return value;
}

}  // namespace

/// late_sender SIZES MILLISECONDS ROUNDS: rank 0 computes, then sends; rank 1 receives, computes as long without touching the
/// buffer, then reads it. Reported: the time of a round divided by that of the longer computation; 2 when nothing overlaps.
void late_sender(Arguments arguments) {
  const double work_seconds = std::stod(argument(arguments, 1, "20")) / 1e3;
  const int rounds = std::stoi(argument(arguments, 2, "25"));
  const Work work;
  for (const std::size_t bytes : sizes(arguments, 0, "256K,1M,4M")) {
    std::vector<std::byte> buffer(bytes);
    const int count = static_cast<int>(bytes);
    std::vector<double> totals;
    std::vector<double> ratios;
    for (int round = 0; round < rounds; ++round) {
      const auto message = static_cast<std::uint64_t>(round + 1);
      MPI_Barrier(MPI_COMM_WORLD);
      const double start = now();
      double part = 0;
      if (rank() == 0) {
        part = work.run(work_seconds);
        stamp(buffer, message);
        MPI_Send(buffer.data(), count, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
      } else if (rank() == 1) {
        MPI_Recv(buffer.data(), count, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        part = work.run(work_seconds);
        require(has_stamps(buffer, message), "late_sender");
      }
      const double total = from_receiver(now() - start);
      const double longer = std::max(part, from_receiver(part));
      totals.push_back(total * 1e3);
      ratios.push_back(total / longer);
    }
    report("late_sender/" + show_size(bytes), median(ratios), "x");
    report("late_sender_total/" + show_size(bytes), median(totals), "ms");
  }
}

/// read_at_once SIZES MICROSECONDS SECONDS: the sender is late by some work of this length, the receiver reads everything as
/// soon as its receive returns. A release cannot help here.
void read_at_once(Arguments arguments) {
  const double late_seconds = std::stod(argument(arguments, 1, "100")) / 1e6;
  const double seconds = std::stod(argument(arguments, 2, "0.4"));
  const Work work;
  for (const std::size_t bytes : sizes(arguments, 0, "64K,256K,1M,4M")) {
    std::vector<std::byte> buffer(bytes);
    const int count = static_cast<int>(bytes);
    const double expected_seconds = late_seconds + static_cast<double>(bytes) / 5e9;
    const int rounds = std::max(20, static_cast<int>(seconds / expected_seconds));
    std::vector<double> times;
    for (int round = 0; round < rounds; ++round) {
      const auto message = static_cast<std::uint64_t>(round + 1);
      const double start = now();
      if (rank() == 0) {
        work.run(late_seconds);
        stamp(buffer, message);
        MPI_Send(buffer.data(), count, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(nullptr, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      } else if (rank() == 1) {
        MPI_Recv(buffer.data(), count, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        require(has_stamps(buffer, message), "read_at_once");
        MPI_Send(nullptr, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
      }
      times.push_back((now() - start) * 1e6);
    }
    report("read_at_once/" + show_size(bytes), median(times), "us");
  }
}

/// late_receiver SIZES MICROSECONDS SECONDS: the receiver is late by some work of this length; the sender, when its send returns,
/// either works as long without touching the buffer (computes) or writes it anew at once (rewrites). A release of the send
/// helps the one and cannot help the other.
void late_receiver(Arguments arguments) {
  const double late_seconds = std::stod(argument(arguments, 1, "100")) / 1e6;
  const double seconds = std::stod(argument(arguments, 2, "0.4"));
  const Work work;
  for (const std::size_t bytes : sizes(arguments, 0, "64K,256K,1M,4M")) {
    for (const bool computes : {true, false}) {
      std::vector<std::byte> buffer(bytes);
      const int count = static_cast<int>(bytes);
      const double expected_seconds = 2 * late_seconds + static_cast<double>(bytes) / 5e9;
      const int rounds = std::max(20, static_cast<int>(seconds / expected_seconds));
      std::vector<double> times;
      for (int round = 0; round < rounds; ++round) {
        const auto message = static_cast<std::uint64_t>(round + 1);
        const double start = now();
        if (rank() == 0) {
          MPI_Send(nullptr, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
          stamp(buffer, message);
          MPI_Send(buffer.data(), count, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
          if (computes) work.run(late_seconds);
          stamp(buffer, 0);
          MPI_Recv(nullptr, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank() == 1) {
          MPI_Recv(nullptr, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
          work.run(late_seconds);
          MPI_Recv(buffer.data(), count, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
          require(has_stamps(buffer, message), "late_receiver");
          MPI_Send(nullptr, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        }
        times.push_back((now() - start) * 1e6);
      }
      report(std::string("late_receiver_") + (computes ? "computes/" : "rewrites/") + show_size(bytes), median(times), "us");
    }
  }
}

}  // namespace bench
