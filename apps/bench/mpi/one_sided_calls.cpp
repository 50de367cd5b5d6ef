// one_sided_calls CALLS SIZES KINDS SECONDS: how long a one-sided call takes with the synchronisation that makes it complete. Of
// passive targets rank 0 is the origin and rank 1 the target, while all others wait in a barrier. With fences and post and start
// each rank accesses its right neighbour. KINDS: allocated, created.
//
// One line of `calls` is one call.
#include <algorithm>
#include <array>
#include <cstring>

#include "bench.hpp"

namespace bench {

namespace {

constexpr int batches = 5;
constexpr int warm_up = 20;
constexpr int row = 16;  // calls before one flush

class Exposed {
 public:
  Exposed(bool is_allocated, std::size_t bytes) : memory_(is_allocated ? 0 : bytes) {
    const auto size = static_cast<MPI_Aint>(bytes);
    void* base = memory_.data();
    if (is_allocated) {
      MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&base), &window_);
    } else {
      MPI_Win_create(base, size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window_);
    }
    std::memset(base, 0, bytes);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~Exposed() { MPI_Win_free(&window_); }
  Exposed(const Exposed&) = delete;
  Exposed& operator=(const Exposed&) = delete;

  [[nodiscard]] MPI_Win window() const { return window_; }

 private:
  std::vector<std::byte> memory_;
  MPI_Win window_{};
};

struct Step {
  MPI_Win window;
  std::byte* own;
  std::byte* result;
  int bytes;
  int target;
  [[nodiscard]] int doubles() const { return bytes / static_cast<int>(sizeof(double)); }
};

void put(const Step& s) { MPI_Put(s.own, s.bytes, MPI_BYTE, s.target, 0, s.bytes, MPI_BYTE, s.window); }
void get(const Step& s) { MPI_Get(s.own, s.bytes, MPI_BYTE, s.target, 0, s.bytes, MPI_BYTE, s.window); }
void accumulate(const Step& s) {
  MPI_Accumulate(s.own, s.doubles(), MPI_DOUBLE, s.target, 0, s.doubles(), MPI_DOUBLE, MPI_SUM, s.window);
}
void get_accumulate(const Step& s) {
  MPI_Get_accumulate(s.own, s.doubles(), MPI_DOUBLE, s.result, s.doubles(), MPI_DOUBLE, s.target, 0, s.doubles(), MPI_DOUBLE,
                     MPI_SUM, s.window);
}
void fetch_and_op(const Step& s) { MPI_Fetch_and_op(s.own, s.result, MPI_INT64_T, s.target, 0, MPI_SUM, s.window); }
void swap(const Step& s) { MPI_Compare_and_swap(s.own, s.own + 8, s.result, MPI_INT64_T, s.target, 0, s.window); }

void flushed(void (*call)(const Step&), const Step& s) {
  call(s);
  MPI_Win_flush(s.target, s.window);
}

enum class Epoch : std::uint8_t { lock_all, lock, fence, groups };

struct Call {
  const char* name;
  Epoch epoch;
  bool is_of_one_word;
  void (*make)(const Step&);
};

constexpr std::array calls{
    Call{"put", Epoch::lock_all, false, [](const Step& s) { flushed(put, s); }},
    Call{"get", Epoch::lock_all, false, [](const Step& s) { flushed(get, s); }},
    Call{"puts", Epoch::lock_all, false,
         [](const Step& s) {
           for (int i = 0; i < row; ++i) put(s);
           MPI_Win_flush(s.target, s.window);
         }},
    Call{"accumulate", Epoch::lock_all, false, [](const Step& s) { flushed(accumulate, s); }},
    Call{"get_accumulate", Epoch::lock_all, false, [](const Step& s) { flushed(get_accumulate, s); }},
    Call{"fetch_and_op", Epoch::lock_all, true, [](const Step& s) { flushed(fetch_and_op, s); }},
    Call{"compare_and_swap", Epoch::lock_all, true, [](const Step& s) { flushed(swap, s); }},
    Call{"lock_put", Epoch::lock, false,
         [](const Step& s) {
           MPI_Win_lock(MPI_LOCK_EXCLUSIVE, s.target, 0, s.window);
           put(s);
           MPI_Win_unlock(s.target, s.window);
         }},
    Call{"fence_put", Epoch::fence, false,
         [](const Step& s) {
           put(s);
           MPI_Win_fence(0, s.window);
         }},
    Call{"start_put", Epoch::groups, false, put},
};

/// Each accesses its right neighbour, and is accessed by its left one.
class Neighbours {
 public:
  Neighbours() {
    MPI_Group world{};
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    const int left = (rank() + ranks() - 1) % ranks();
    const int right = (rank() + 1) % ranks();
    MPI_Group_incl(world, 1, &left, &origins_);
    MPI_Group_incl(world, 1, &right, &targets_);
    MPI_Group_free(&world);
  }
  ~Neighbours() {
    MPI_Group_free(&origins_);
    MPI_Group_free(&targets_);
  }
  Neighbours(const Neighbours&) = delete;
  Neighbours& operator=(const Neighbours&) = delete;

  void access(const Call& call, const Step& step) const {
    MPI_Win_post(origins_, 0, step.window);
    MPI_Win_start(targets_, 0, step.window);
    call.make(step);
    MPI_Win_complete(step.window);
    MPI_Win_wait(step.window);
  }

 private:
  MPI_Group origins_{};
  MPI_Group targets_{};
};

/// Seconds of one call in a row of `times`, on the slowest rank.
double time_of(const Call& call, const Step& step, const Neighbours& neighbours, int times) {
  const bool takes_part = call.epoch == Epoch::fence || call.epoch == Epoch::groups || rank() == 0;
  if (call.epoch == Epoch::fence) MPI_Win_fence(0, step.window);
  if (call.epoch == Epoch::lock_all) MPI_Win_lock_all(0, step.window);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = now();
  for (int i = 0; takes_part && i < times; ++i) {
    step.own[0] = static_cast<std::byte>(i & 7);
    call.epoch == Epoch::groups ? neighbours.access(call, step) : call.make(step);
  }
  double found = takes_part ? (now() - start) / times : 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (call.epoch == Epoch::lock_all) MPI_Win_unlock_all(step.window);
  if (call.epoch == Epoch::fence) MPI_Win_fence(MPI_MODE_NOSUCCEED, step.window);
  MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return found;
}

void measure(const Call& call, bool is_allocated, std::size_t bytes, double seconds) {
  const Exposed exposed(is_allocated, bytes);
  const Neighbours neighbours;
  std::vector<std::byte> own(std::max<std::size_t>(bytes, 64));
  std::vector<std::byte> result(own.size());
  const int passive = 1;
  const bool is_passive = call.epoch == Epoch::lock_all || call.epoch == Epoch::lock;
  const Step step{exposed.window(), own.data(), result.data(), static_cast<int>(bytes),
                  is_passive ? passive : (rank() + 1) % ranks()};
  time_of(call, step, neighbours, warm_up);
  const double one = time_of(call, step, neighbours, warm_up);
  int times = std::clamp(static_cast<int>(seconds / batches / one), 3, 100'000);
  MPI_Bcast(&times, 1, MPI_INT, 0, MPI_COMM_WORLD);
  std::vector<double> found;
  for (int batch = 0; batch < batches; ++batch) found.push_back(time_of(call, step, neighbours, times));
  std::string name = is_allocated ? "allocated/" : "created/";
  name.append(call.name);
  if (!call.is_of_one_word) name.append("/").append(show_size(bytes));
  report(name, median(found) * 1e6, "us");
}

}  // namespace

void one_sided_calls(Arguments arguments) {
  const std::string list =
      argument(arguments, 0, "put,get,puts,accumulate,get_accumulate,fetch_and_op,compare_and_swap,lock_put");
  const std::vector<std::size_t> lengths = sizes(arguments, 1, "8,1K,64K,1M");
  const std::string kinds = argument(arguments, 2, "allocated,created");
  const double seconds = std::stod(argument(arguments, 3, "0.01"));
  for (const bool is_allocated : {true, false}) {
    if (!lists(kinds, is_allocated ? "allocated" : "created")) continue;
    for (const Call& call : calls) {
      if (!lists(list, call.name)) continue;
      if (call.is_of_one_word) measure(call, is_allocated, sizeof(std::int64_t), seconds);
      for (const std::size_t bytes : lengths) {
        if (!call.is_of_one_word) measure(call, is_allocated, bytes, seconds);
      }
    }
  }
}

}  // namespace bench
