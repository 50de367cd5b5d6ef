// sweep PATTERNS SIZES SECONDS: how long a message takes, for every size asked for. Patterns: ping_pong (half the round trip),
// one_way (a window of messages, then an answer), both_ways (a window each way at once), and the shapes of memory that a datatype
// can describe (shape/NAME, as ping-pong; SIZES are packed bytes). Without SIZES: every power of two from 1 B to 8 MB, and one
// and a half times each. Buffers stay the same and nothing touches them in between; contents are compared at the end.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>

#include "bench.hpp"
#include "shapes.hpp"

namespace bench {

namespace {

constexpr std::size_t longest = std::size_t{8} << 20;
constexpr std::size_t max_in_window = 32;
constexpr std::size_t window_bytes = std::size_t{4} << 20;
constexpr int batches = 5;
constexpr int warm_up = 8;  // a buffer that is used often is treated in another way than one that is not

/// A pattern's operation, its buffers made, and how many messages it times.
struct Operation {
  std::function<void()> run;
  std::size_t messages = 1;
  std::function<bool()> correct;
};

std::vector<std::byte> pattern_of(std::size_t bytes) {
  std::vector<std::byte> made(bytes);
  std::uint64_t word = bytes;
  for (std::size_t at = 0; at < bytes; at += sizeof word) {
    word = word * 6364136223846793005 + 1442695040888963407;
    std::memcpy(&made[at], &word, std::min(sizeof word, bytes - at));
  }
  return made;
}

void swap_once(void* buffer, int count, MPI_Datatype type) {
  if (rank() == 0) {
    MPI_Send(buffer, count, type, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(buffer, count, type, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(buffer, count, type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(buffer, count, type, 0, 0, MPI_COMM_WORLD);
  }
}

/// Both sides have the same bytes, so that a message leaves the buffer as it was where all is right.
Operation ping_pong_of(std::size_t bytes) {
  auto buffer = std::make_shared<std::vector<std::byte>>(pattern_of(bytes));
  return {[buffer, bytes] { swap_once(buffer->data(), static_cast<int>(bytes), MPI_BYTE); }, 2,
          [buffer, bytes] { return *buffer == pattern_of(bytes); }};
}

Operation shape_of(const Shape& shape, std::size_t bytes) {
  const auto typed = std::make_shared<Typed>(shape, bytes);
  auto buffer = std::make_shared<std::vector<std::byte>>(pattern_of(typed->span()));
  return {[=] { swap_once(buffer->data(), typed->count(), typed->type()); }, 2,
          [=] { return *buffer == pattern_of(typed->span()); }};
}

Operation window_of(std::size_t bytes, bool both_ways) {
  const std::size_t messages = std::clamp<std::size_t>(window_bytes / bytes, 2, max_in_window);
  auto out = std::make_shared<std::vector<std::byte>>(pattern_of(bytes));
  auto in = std::make_shared<std::vector<std::byte>>(bytes * messages);
  auto requests = std::make_shared<std::vector<MPI_Request>>();
  const auto run = [=] {
    const int peer = 1 - rank();
    const int count = static_cast<int>(bytes);
    requests->clear();
    for (std::size_t i = 0; i < messages && (both_ways || rank() == 1); ++i)
      MPI_Irecv(in->data() + i * bytes, count, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests->emplace_back());
    for (std::size_t i = 0; i < messages && (both_ways || rank() == 0); ++i)
      MPI_Isend(out->data(), count, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests->emplace_back());
    MPI_Waitall(static_cast<int>(requests->size()), requests->data(), MPI_STATUSES_IGNORE);
    if (both_ways) return;
    if (rank() == 1) MPI_Send(nullptr, 0, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    if (rank() == 0) MPI_Recv(nullptr, 0, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  };
  requests->reserve(2 * messages);
  const auto correct = [=] {
    for (std::size_t i = 0; i < messages && (both_ways || rank() == 1); ++i)
      if (!std::equal(out->begin(), out->end(), in->begin() + static_cast<std::ptrdiff_t>(i * bytes))) return false;
    return true;
  };
  return {run, messages, correct};
}

/// Median of the batches, in microseconds for a message. Rank 0 has measured how many to make and tells the other.
double time_of(const Operation& operation, double seconds) {
  const auto repeat = [&](int times) {
    const double start = now();
    for (int i = 0; i < times; ++i) operation.run();
    return (now() - start) / times;
  };
  repeat(warm_up);
  int times = std::clamp(static_cast<int>(seconds / batches / repeat(2)), 1, 10000);
  MPI_Bcast(&times, 1, MPI_INT, 0, MPI_COMM_WORLD);
  std::vector<double> results;
  for (int batch = 0; batch < batches; ++batch) results.push_back(repeat(times));
  return median(results) / static_cast<double>(operation.messages) * 1e6;
}

std::vector<std::size_t> all_sizes() {
  std::vector<std::size_t> sizes{1};
  for (std::size_t power = 2; power <= longest; power *= 2) {
    sizes.push_back(power);
    if (power < longest) sizes.push_back(power / 2 * 3);
  }
  return sizes;
}

void measure(const std::string& name, const Operation& operation, double seconds) {
  MPI_Barrier(MPI_COMM_WORLD);
  report(name, time_of(operation, seconds), "us");
  require(operation.correct(), name.c_str());
}

}  // namespace

void sweep(Arguments arguments) {
  const std::string patterns = argument(arguments, 0, "ping_pong,one_way,both_ways,shapes");
  const std::string listed = argument(arguments, 1, "all");
  const double seconds = std::stod(argument(arguments, 2, "0.003"));
  const auto sizes_of = [&](const char* otherwise) {
    if (listed != "all") return sizes(arguments, 1, "");
    return *otherwise ? sizes({}, 0, otherwise) : all_sizes();
  };
  if (ranks() != 2) require(false, "a sweep has two ranks");
  for (const std::size_t bytes : sizes_of("")) {
    if (lists(patterns, "ping_pong")) measure("ping_pong/" + show_size(bytes), ping_pong_of(bytes), seconds);
    if (lists(patterns, "one_way")) measure("one_way/" + show_size(bytes), window_of(bytes, false), seconds);
    if (lists(patterns, "both_ways")) measure("both_ways/" + show_size(bytes), window_of(bytes, true), seconds);
  }
  if (!lists(patterns, "shapes")) return;
  for (const Shape& shape : shapes()) {
    for (const std::size_t bytes : sizes_of("256,2K,8K,24K,96K,256K,1M,4M"))
      measure(std::string(shape.name) + "/" + show_size(bytes), shape_of(shape, bytes), seconds);
  }
}

}  // namespace bench
