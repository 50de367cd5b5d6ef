// collective_calls CALLS SIZES GAPS SECONDS: how long a collective call takes, on the slowest rank. SIZES are bytes of a block:
// what one rank has for another, or for all. A word of each line of cache is written before each call, and read after it.
//
// GAPS are the microseconds, on average, that a rank is busy before each call, each for a random time of its own. 0: a row of
// calls with nothing in between. Of others, what they demand even of calls that take no time is not counted. They need a
// processor for each rank.
//
// One line of `calls` is one call. Those with `_work` compute before they wait, for 2 ns a byte, which is counted.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <ranges>

#include "bench.hpp"

#if MPI_VERSION >= 4
#define PERSISTENT(X) MPI_##X##_init
#elif defined(OPEN_MPI)
#include <mpi-ext.h>
#ifdef OMPI_HAVE_MPI_EXT_PCOLLREQ
#define PERSISTENT(X) MPIX_##X##_init
#endif
#endif

namespace bench {

namespace {

constexpr std::size_t line_bytes = 64;
constexpr int batches = 5;
constexpr int warm_up = 20;
constexpr int root = 0;

/// Who waits for whom.
enum class Flow : std::uint8_t { all, from_root, to_root, from_lower };
/// The blocks of one buffer of a rank. `each`: one for each rank.
enum class Blocks : std::uint8_t { none, one, each, one_at_root, each_at_root, one_elsewhere };

struct Buffers {
  std::byte* out;
  std::byte* in;
  int bytes;  // of a block
  bool at_root;
  const int* counts;  // of calls with counts: each is `bytes`
  const int* places;
  [[nodiscard]] int doubles() const { return bytes / static_cast<int>(sizeof(double)); }
};

struct Call {
  const char* name;
  Flow flow;
  Blocks out;
  Blocks in;
  bool sums;
  void (*make)(const Buffers&);
  void (*prepare)(const Buffers&, MPI_Request*) = nullptr;  // of a persistent one, instead
};

void wait_for(MPI_Request request) { MPI_Wait(&request, MPI_STATUS_IGNORE); }

void be_busy(double seconds) {
  const double until = now() + seconds;
  while (now() < until) {
  }
}

/// Computes for longer than such a call takes, outside of MPI, before it waits.
void wait_after_work(MPI_Request request, int bytes) {
  constexpr double per_byte = 2e-9;
  be_busy(per_byte * bytes);
  wait_for(request);
}

constexpr std::array calls{
    Call{"Barrier", Flow::all, Blocks::none, Blocks::none, false, [](const Buffers&) { MPI_Barrier(MPI_COMM_WORLD); }},
    Call{"Allreduce", Flow::all, Blocks::one, Blocks::one, true,
         [](const Buffers& b) { MPI_Allreduce(b.out, b.in, b.doubles(), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }},
    Call{"Reduce", Flow::to_root, Blocks::one, Blocks::one_at_root, true,
         [](const Buffers& b) { MPI_Reduce(b.out, b.in, b.doubles(), MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD); }},
    Call{"Bcast", Flow::from_root, Blocks::one_at_root, Blocks::one_elsewhere, false,
         [](const Buffers& b) { MPI_Bcast(b.at_root ? b.out : b.in, b.bytes, MPI_BYTE, root, MPI_COMM_WORLD); }},
    Call{"Allgather", Flow::all, Blocks::one, Blocks::each, false,
         [](const Buffers& b) { MPI_Allgather(b.out, b.bytes, MPI_BYTE, b.in, b.bytes, MPI_BYTE, MPI_COMM_WORLD); }},
    Call{"Alltoall", Flow::all, Blocks::each, Blocks::each, false,
         [](const Buffers& b) { MPI_Alltoall(b.out, b.bytes, MPI_BYTE, b.in, b.bytes, MPI_BYTE, MPI_COMM_WORLD); }},
    Call{"Gather", Flow::to_root, Blocks::one, Blocks::each_at_root, false,
         [](const Buffers& b) { MPI_Gather(b.out, b.bytes, MPI_BYTE, b.in, b.bytes, MPI_BYTE, root, MPI_COMM_WORLD); }},
    Call{"Scatter", Flow::from_root, Blocks::each_at_root, Blocks::one, false,
         [](const Buffers& b) { MPI_Scatter(b.out, b.bytes, MPI_BYTE, b.in, b.bytes, MPI_BYTE, root, MPI_COMM_WORLD); }},
    Call{"Allgatherv", Flow::all, Blocks::one, Blocks::each, false,
         [](const Buffers& b) { MPI_Allgatherv(b.out, b.bytes, MPI_BYTE, b.in, b.counts, b.places, MPI_BYTE, MPI_COMM_WORLD); }},
    Call{"Alltoallv", Flow::all, Blocks::each, Blocks::each, false,
         [](const Buffers& b) {
           MPI_Alltoallv(b.out, b.counts, b.places, MPI_BYTE, b.in, b.counts, b.places, MPI_BYTE, MPI_COMM_WORLD);
         }},
    Call{"Gatherv", Flow::to_root, Blocks::one, Blocks::each_at_root, false,
         [](const Buffers& b) {
           MPI_Gatherv(b.out, b.bytes, MPI_BYTE, b.in, b.counts, b.places, MPI_BYTE, root, MPI_COMM_WORLD);
         }},
    Call{"Scatterv", Flow::from_root, Blocks::each_at_root, Blocks::one, false,
         [](const Buffers& b) {
           MPI_Scatterv(b.out, b.counts, b.places, MPI_BYTE, b.in, b.bytes, MPI_BYTE, root, MPI_COMM_WORLD);
         }},
    Call{"Scan", Flow::from_lower, Blocks::one, Blocks::one, true,
         [](const Buffers& b) { MPI_Scan(b.out, b.in, b.doubles(), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }},
    Call{"Reduce_scatter_block", Flow::all, Blocks::each, Blocks::one, true,
         [](const Buffers& b) { MPI_Reduce_scatter_block(b.out, b.in, b.doubles(), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }},
    Call{"Ibarrier", Flow::all, Blocks::none, Blocks::none, false,
         [](const Buffers&) {
           MPI_Request request;
           MPI_Ibarrier(MPI_COMM_WORLD, &request);
           wait_for(request);
         }},
    Call{"Iallreduce", Flow::all, Blocks::one, Blocks::one, true,
         [](const Buffers& b) {
           MPI_Request request;
           MPI_Iallreduce(b.out, b.in, b.doubles(), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
           wait_for(request);
         }},
    Call{"Ibcast", Flow::from_root, Blocks::one_at_root, Blocks::one_elsewhere, false,
         [](const Buffers& b) {
           MPI_Request request;
           MPI_Ibcast(b.at_root ? b.out : b.in, b.bytes, MPI_BYTE, root, MPI_COMM_WORLD, &request);
           wait_for(request);
         }},
    Call{"Ialltoall", Flow::all, Blocks::each, Blocks::each, false,
         [](const Buffers& b) {
           MPI_Request request;
           MPI_Ialltoall(b.out, b.bytes, MPI_BYTE, b.in, b.bytes, MPI_BYTE, MPI_COMM_WORLD, &request);
           wait_for(request);
         }},
    Call{"Iallgather", Flow::all, Blocks::one, Blocks::each, false,
         [](const Buffers& b) {
           MPI_Request request;
           MPI_Iallgather(b.out, b.bytes, MPI_BYTE, b.in, b.bytes, MPI_BYTE, MPI_COMM_WORLD, &request);
           wait_for(request);
         }},
    Call{"Ireduce", Flow::to_root, Blocks::one, Blocks::one_at_root, true,
         [](const Buffers& b) {
           MPI_Request request;
           MPI_Ireduce(b.out, b.in, b.doubles(), MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD, &request);
           wait_for(request);
         }},
    Call{"Iallreduce_work", Flow::all, Blocks::one, Blocks::one, true,
         [](const Buffers& b) {
           MPI_Request request;
           MPI_Iallreduce(b.out, b.in, b.doubles(), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
           wait_after_work(request, b.bytes);
         }},
    Call{"Ialltoall_work", Flow::all, Blocks::each, Blocks::each, false,
         [](const Buffers& b) {
           MPI_Request request;
           MPI_Ialltoall(b.out, b.bytes, MPI_BYTE, b.in, b.bytes, MPI_BYTE, MPI_COMM_WORLD, &request);
           wait_after_work(request, b.bytes);
         }},
#ifdef PERSISTENT
    Call{"Barrier_init", Flow::all, Blocks::none, Blocks::none, false, nullptr,
         [](const Buffers&, MPI_Request* request) {
           PERSISTENT(Barrier)
           (MPI_COMM_WORLD, MPI_INFO_NULL, request);
         }},
    Call{"Allreduce_init", Flow::all, Blocks::one, Blocks::one, true, nullptr,
         [](const Buffers& b, MPI_Request* request) {
           PERSISTENT(Allreduce)(b.out, b.in, b.doubles(), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request);
         }},
    Call{"Bcast_init", Flow::from_root, Blocks::one_at_root, Blocks::one_elsewhere, false, nullptr,
         [](const Buffers& b, MPI_Request* request) {
           PERSISTENT(Bcast)(b.at_root ? b.out : b.in, b.bytes, MPI_BYTE, root, MPI_COMM_WORLD, MPI_INFO_NULL, request);
         }},
    Call{"Allgather_init", Flow::all, Blocks::one, Blocks::each, false, nullptr,
         [](const Buffers& b, MPI_Request* request) {
           PERSISTENT(Allgather)(b.out, b.bytes, MPI_BYTE, b.in, b.bytes, MPI_BYTE, MPI_COMM_WORLD, MPI_INFO_NULL, request);
         }},
    Call{"Alltoall_init", Flow::all, Blocks::each, Blocks::each, false, nullptr,
         [](const Buffers& b, MPI_Request* request) {
           PERSISTENT(Alltoall)(b.out, b.bytes, MPI_BYTE, b.in, b.bytes, MPI_BYTE, MPI_COMM_WORLD, MPI_INFO_NULL, request);
         }},
#endif
};

int blocks_of(Blocks blocks) {
  switch (blocks) {
    case Blocks::none:
      return 0;
    case Blocks::one:
      return 1;
    case Blocks::each:
      return ranks();
    case Blocks::one_at_root:
      return rank() == root ? 1 : 0;
    case Blocks::each_at_root:
      return rank() == root ? ranks() : 0;
    case Blocks::one_elsewhere:
      return rank() == root ? 0 : 1;
  }
  return 0;
}

/// The word that `from` writes in a line of the block that is for `to`.
double word(std::uint64_t step, int from, int to, std::size_t line) {
  return static_cast<double>(step % 4096 + 31 * static_cast<std::uint64_t>(from) + 7 * static_cast<std::uint64_t>(to) + line);
}

/// One call, with buffers of its own.
class Operation {
 public:
  Operation(const Call& call, std::size_t bytes)
      : call_(call),
        bytes_(bytes),
        outgoing_(blocks_of(call.out)),
        incoming_(blocks_of(call.in)),
        out_(static_cast<std::size_t>(outgoing_) * bytes / sizeof(double)),
        in_(static_cast<std::size_t>(incoming_) * bytes / sizeof(double)),
        counts_(static_cast<std::size_t>(ranks_), static_cast<int>(bytes)) {
    for (int block = 0; block < ranks_; ++block) places_.push_back(block * static_cast<int>(bytes));
    if (call_.prepare) call_.prepare(buffers(), &request_);
  }
  ~Operation() {
    if (call_.prepare) MPI_Request_free(&request_);
  }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  void step() {
    ++step_;
    for (int block = 0; block < outgoing_; ++block) {
      each_line(out_.data(), block,
                [&](double& at, std::size_t line) { at = word(step_, rank_, outgoing_ == 1 ? 0 : block, line); });
    }
    if (call_.prepare) {
      MPI_Start(&request_);
      MPI_Wait(&request_, MPI_STATUS_IGNORE);
    } else {
      call_.make(buffers());
    }
    bool correct = true;
    for (int block = 0; block < incoming_; ++block) {
      each_line(in_.data(), block, [&](const double& at, std::size_t line) { correct &= at == expected(block, line); });
    }
    require(correct, call_.name);
  }

 private:
  [[nodiscard]] Buffers buffers() {
    return {bytes_of(out_), bytes_of(in_), static_cast<int>(bytes_), rank_ == root, counts_.data(), places_.data()};
  }
  static std::byte* bytes_of(std::vector<double>& memory) { return reinterpret_cast<std::byte*>(memory.data()); }

  template <typename Function>
  void each_line(double* memory, int block, Function function) {
    double* const first = memory + static_cast<std::size_t>(block) * (bytes_ / sizeof(double));
    for (std::size_t at = 0; at < bytes_; at += line_bytes) function(first[at / sizeof(double)], at / line_bytes);
  }

  [[nodiscard]] double expected(int block, std::size_t line) const {
    const bool each_for_each = call_.out == Blocks::each || call_.out == Blocks::each_at_root;
    const int to = each_for_each ? rank_ : 0;
    if (call_.sums) {
      const int summed = call_.flow == Flow::from_lower ? rank_ + 1 : ranks_;
      return summed * (word(step_, 0, to, line) + 31.0 * (summed - 1) / 2);
    }
    return word(step_, call_.flow == Flow::from_root ? root : block, to, line);
  }

  const Call& call_;
  const std::size_t bytes_;
  // Calls of MPI, too, and not what is measured.
  const int rank_ = rank();
  const int ranks_ = ranks();
  const int outgoing_;
  const int incoming_;
  std::vector<double> out_;
  std::vector<double> in_;
  std::vector<int> counts_;
  std::vector<int> places_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  std::uint64_t step_ = 0;
};

/// How long each rank is busy before each call: the same in all jobs, and known to all ranks.
class Gaps {
 public:
  Gaps(double mean, Flow flow) : mean_(mean), flow_(flow), at_(static_cast<std::size_t>(ranks())) {}

  /// Of this rank, in seconds, before the next call.
  double next() {
    if (mean_ == 0) return 0;
    double own = 0;
    for (std::size_t i = 0; i < at_.size(); ++i) {
      const double gap = mean_ * 2 * static_cast<double>(random_()) / static_cast<double>(std::minstd_rand::max());
      at_[i] += gap;
      if (static_cast<int>(i) == rank()) own = gap;
    }
    wait_for_each_other();
    return own;
  }
  /// When the last rank is through with its calls, if they take no time.
  [[nodiscard]] double demanded() const { return std::ranges::max(at_); }

 private:
  void wait_for_each_other() {
    if (flow_ == Flow::all) std::ranges::fill(at_, std::ranges::max(at_));
    if (flow_ == Flow::to_root) at_[root] = std::ranges::max(at_);
    if (flow_ == Flow::from_lower)
      std::partial_sum(at_.begin(), at_.end(), at_.begin(), [](double a, double b) { return std::max(a, b); });
    if (flow_ == Flow::from_root) std::ranges::transform(at_, at_.begin(), [&](double at) { return std::max(at, at_[root]); });
  }

  double mean_;
  Flow flow_;
  std::vector<double> at_;
  std::minstd_rand random_{1};
};

/// Seconds of one call in a row of `times`, the gaps' own share not counted, on the slowest rank.
double time_of(Operation& operation, Flow flow, double gap, int times) {
  Gaps gaps(gap, flow);
  std::vector<double> lengths(static_cast<std::size_t>(times));
  std::ranges::generate(lengths, [&] { return gaps.next(); });
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = now();
  for (const double length : lengths) {
    if (length != 0) be_busy(length);
    operation.step();
  }
  double found = (now() - start - gaps.demanded()) / times;
  MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return found;
}

void measure(const Call& call, std::size_t bytes, double gap, double seconds) {
  Operation operation(call, bytes);
  time_of(operation, call.flow, 0, warm_up);
  const double one = time_of(operation, call.flow, 0, warm_up) + 2 * gap;
  int times = std::clamp(static_cast<int>(seconds / batches / one), 3, 100'000);
  MPI_Bcast(&times, 1, MPI_INT, root, MPI_COMM_WORLD);
  std::vector<double> found;
  for (int batch = 0; batch < batches; ++batch) found.push_back(time_of(operation, call.flow, gap, times));
  std::string name = call.name;
  if (bytes != 0) name.append("/").append(show_size(bytes));
  if (gap != 0) name.append("/skew");
  report(name, median(found) * 1e6, "us");
}

}  // namespace

void collective_calls(Arguments arguments) {
  const std::string list = argument(arguments, 0, "Barrier,Allreduce,Reduce,Bcast");
  const std::vector<std::size_t> lengths = sizes(arguments, 1, "8,40,128,1K,4K");
  const std::vector<std::size_t> gaps = sizes(arguments, 2, "0,2");
  const double seconds = std::stod(argument(arguments, 3, "0.01"));
  for (const Call& call : calls) {
    if (!lists(list, call.name)) continue;
    for (const std::size_t gap : gaps) {
      if (call.out == Blocks::none) measure(call, 0, static_cast<double>(gap) * 1e-6, seconds);
      for (const std::size_t bytes : lengths) {
        if (call.out != Blocks::none) measure(call, bytes, static_cast<double>(gap) * 1e-6, seconds);
      }
    }
  }
}

}  // namespace bench
