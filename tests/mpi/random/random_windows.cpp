// random_windows FIRST COUNT [dynamic]: performs the one-sided scripts of COUNT seeds, FIRST and following. dynamic: memory that
// the program brings is attached to dynamic windows.
//
// Every rank computes the memory of all (window_script.hpp), and looks after each epoch at its own and at what it has fetched.
// It prints "seed S rank R digest D" per seed, as random_program does.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

#include "prng.hpp"
#include "window_script.hpp"

namespace {

using namespace random_program;
using Kind = WindowOperation::Kind;

[[noreturn]] void fail(const char* what, std::uint64_t seed, std::size_t epoch) {
  std::fprintf(stderr, "FAIL %s, seed %llu, epoch %zu\n", what, static_cast<unsigned long long>(seed), epoch);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

MPI_Datatype type_of(Element element) {
  constexpr std::size_t kinds = 5;
  const std::array<MPI_Datatype, kinds> types{MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T, MPI_INT32_T};
  return types[static_cast<std::size_t>(element)];
}

MPI_Op op_of(Combine combine) {
  constexpr std::size_t kinds = 7;
  const std::array<MPI_Op, kinds> ops{MPI_SUM, MPI_BXOR, MPI_BOR, MPI_BAND, MPI_MAX, MPI_MIN, MPI_REPLACE};
  return ops[static_cast<std::size_t>(combine)];
}

/// So many elements, with gaps or without.
class Layout {
 public:
  Layout(Element element, std::size_t count, bool has_gaps) : count_(static_cast<int>(count)), type_(type_of(element)) {
    if (!has_gaps) return;
    MPI_Type_vector(count_, 1, 2, type_, &type_);
    MPI_Type_commit(&type_);
    count_ = 1;
    is_own_ = true;
  }
  ~Layout() {
    if (is_own_) MPI_Type_free(&type_);
  }
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;

  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] MPI_Datatype type() const { return type_; }

 private:
  int count_;
  MPI_Datatype type_;
  bool is_own_ = false;
};

/// One operation of this rank's, from its call until it is complete.
class Call {
 public:
  explicit Call(const WindowOperation& operation)
      : operation_(operation),
        bytes_(bytes_of(operation.element)),
        origin_step_(bytes_ * (operation.origin_has_gaps ? 2 : 1)),
        brought_(bytes_ * stretch_of(operation.count, operation.origin_has_gaps), gap),
        found_(brought_.size(), gap) {
    for (std::size_t i = 0; i < operation.count; ++i) {
      const std::uint64_t value = value_of(operation, i);
      std::memcpy(brought_.data() + i * origin_step_, &value, bytes_);
    }
  }

  /// `at`: the displacement.
  void make(MPI_Win win, MPI_Aint at, bool may_be_by_request) {
    const Layout own(operation_.element, operation_.count, operation_.origin_has_gaps);
    const Layout there(operation_.element, operation_.count, operation_.target_has_gaps);
    const int to = operation_.target;
    const MPI_Op op = op_of(operation_.combine);
    MPI_Request request = MPI_REQUEST_NULL;
    const bool by_request = may_be_by_request && operation_.by_request;
    switch (operation_.kind) {
      case Kind::put:
        by_request ? MPI_Rput(brought_.data(), own.count(), own.type(), to, at, there.count(), there.type(), win, &request)
                   : MPI_Put(brought_.data(), own.count(), own.type(), to, at, there.count(), there.type(), win);
        break;
      case Kind::get:
        by_request ? MPI_Rget(found_.data(), own.count(), own.type(), to, at, there.count(), there.type(), win, &request)
                   : MPI_Get(found_.data(), own.count(), own.type(), to, at, there.count(), there.type(), win);
        break;
      case Kind::accumulate:
        by_request
            ? MPI_Raccumulate(brought_.data(), own.count(), own.type(), to, at, there.count(), there.type(), op, win, &request)
            : MPI_Accumulate(brought_.data(), own.count(), own.type(), to, at, there.count(), there.type(), op, win);
        break;
      case Kind::get_accumulate:
        by_request ? MPI_Rget_accumulate(brought_.data(), own.count(), own.type(), found_.data(), own.count(), own.type(), to, at,
                                         there.count(), there.type(), op, win, &request)
                   : MPI_Get_accumulate(brought_.data(), own.count(), own.type(), found_.data(), own.count(), own.type(), to, at,
                                        there.count(), there.type(), op, win);
        break;
      case Kind::count:
        MPI_Fetch_and_op(brought_.data(), found_.data(), own.type(), to, at, op, win);
        break;
    }
    if (by_request) MPI_Wait(&request, MPI_STATUS_IGNORE);
  }

  /// The operation is complete. `before`: what its target held before the epoch; `origins`: how many count there.
  [[nodiscard]] bool is_right(const std::vector<std::uint64_t>& before, std::uint64_t origins) const {
    const bool fetches =
        operation_.kind == Kind::get || operation_.kind == Kind::get_accumulate || operation_.kind == Kind::count;
    for (std::size_t i = 0; i < operation_.count; ++i) {
      std::uint64_t value = 0;
      std::memcpy(&value, found_.data() + i * origin_step_, bytes_);
      if (operation_.kind == Kind::count && value - before[i] >= origins) return false;
      if (operation_.kind != Kind::count && fetches && value != before[i]) return false;
      for (std::size_t k = bytes_; k < origin_step_ && i + 1 < operation_.count; ++k) {
        if (found_[i * origin_step_ + k] != gap) return false;
      }
    }
    return fetches || std::ranges::all_of(found_, [](std::byte byte) { return byte == gap; });
  }
  [[nodiscard]] const WindowOperation& operation() const { return operation_; }

 private:
  static constexpr std::byte gap{0x5a};

  const WindowOperation& operation_;
  const std::size_t bytes_;
  const std::size_t origin_step_;
  std::vector<std::byte> brought_;
  std::vector<std::byte> found_;
};

class Window {
 public:
  /// `is_dynamic`: memory that is not allocated with the window is attached to it.
  Window(const WindowShape& shape, MPI_Comm comm, int rank, const WindowMemory& first, bool is_dynamic)
      : comm_(comm), units_(shape.unit) {
    const std::size_t bytes = shape.bytes[static_cast<std::size_t>(rank)];
    const int unit = units_[static_cast<std::size_t>(rank)];
    void* memory = nullptr;
    if (shape.allocated) {
      MPI_Win_allocate(static_cast<MPI_Aint>(bytes), unit, MPI_INFO_NULL, comm, static_cast<void*>(&memory), &win_);
    } else if (is_dynamic) {
      own_.resize(std::max<std::size_t>(bytes, 1));
      memory = own_.data();
      MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win_);
      MPI_Win_attach(win_, memory, static_cast<MPI_Aint>(own_.size()));
      MPI_Aint place = 0;
      MPI_Get_address(memory, &place);
      places_.resize(units_.size());
      MPI_Allgather(&place, 1, MPI_AINT, places_.data(), 1, MPI_AINT, comm);
    } else {
      own_.resize(bytes);
      memory = own_.data();
      MPI_Win_create(memory, static_cast<MPI_Aint>(bytes), unit, MPI_INFO_NULL, comm, &win_);
    }
    memory_ = static_cast<std::byte*>(memory);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win_);
    std::copy(first[static_cast<std::size_t>(rank)].begin(), first[static_cast<std::size_t>(rank)].end(), memory_);
    MPI_Win_unlock(rank, win_);
    MPI_Barrier(comm);
  }
  ~Window() {
    if (!places_.empty()) {
      MPI_Barrier(comm_);
      MPI_Win_detach(win_, own_.data());
    }
    MPI_Win_free(&win_);
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  [[nodiscard]] MPI_Win win() const { return win_; }
  [[nodiscard]] MPI_Aint displacement_of(const WindowOperation& operation) const {
    const auto target = static_cast<std::size_t>(operation.target);
    if (!places_.empty()) return MPI_Aint_add(places_[target], static_cast<MPI_Aint>(operation.at));
    return static_cast<MPI_Aint>(operation.at / static_cast<std::size_t>(units_[target]));
  }
  [[nodiscard]] bool holds(const std::vector<std::byte>& wanted, int rank) const {
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win_);
    const bool is_same = std::equal(wanted.begin(), wanted.end(), memory_);
    MPI_Win_unlock(rank, win_);
    return is_same;
  }

 private:
  MPI_Comm comm_;
  std::vector<int> units_;
  std::vector<std::byte> own_;
  std::vector<MPI_Aint> places_;  // of a dynamic one, by rank
  std::byte* memory_ = nullptr;
  MPI_Win win_ = MPI_WIN_NULL;
};

/// A ring of long messages, and a sum, that are under way while a window is used.
class Messages {
 public:
  Messages(MPI_Comm comm, int rank, int size, std::uint64_t seed)
      : comm_(comm),
        size_(size),
        sent_(words),
        got_(words),
        wanted_(scramble(seed + static_cast<std::uint64_t>((rank + size - 1) % size))) {
    std::ranges::fill(sent_, scramble(seed + static_cast<std::uint64_t>(rank)));
    MPI_Irecv(got_.data(), words, MPI_UINT64_T, (rank + size - 1) % size, 0, comm, requests_.data());
    MPI_Isend(sent_.data(), words, MPI_UINT64_T, (rank + 1) % size, 0, comm, &requests_[1]);
    MPI_Iallreduce(&one_, &sum_, 1, MPI_INT, MPI_SUM, comm, &requests_[2]);
  }
  [[nodiscard]] bool end() {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    int all = 0;
    MPI_Allreduce(&one_, &all, 1, MPI_INT, MPI_SUM, comm_);
    return sum_ == size_ && all == size_ && std::ranges::all_of(got_, [this](std::uint64_t word) { return word == wanted_; });
  }

 private:
  static constexpr int words = 20'000;

  MPI_Comm comm_;
  const int size_;
  const int one_ = 1;
  int sum_ = 0;
  std::vector<std::uint64_t> sent_;
  std::vector<std::uint64_t> got_;
  const std::uint64_t wanted_;
  std::array<MPI_Request, 3> requests_{};
};

MPI_Group group_of(MPI_Comm comm, const std::set<int>& ranks) {
  const std::vector<int> list(ranks.begin(), ranks.end());
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group some = MPI_GROUP_NULL;
  MPI_Comm_group(comm, &all);
  MPI_Group_incl(all, static_cast<int>(list.size()), list.data(), &some);
  MPI_Group_free(&all);
  return some;
}

/// What one rank does in one seed.
class Run {
 public:
  Run(std::uint64_t seed, const WindowScript& script, MPI_Comm comm, bool is_dynamic)
      : seed_(seed), script_(script), comm_(comm) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &size_);
    for (const WindowShape& shape : script.windows) {
      memory_.push_back(first_memory(shape, seed + memory_.size()));
      windows_.push_back(std::make_unique<Window>(shape, comm, rank_, memory_.back(), is_dynamic));
    }
  }

  std::uint64_t digest() {
    for (std::size_t i = 0; i < script_.epochs.size(); ++i) perform(script_.epochs[i], i);
    std::uint64_t sum = seed_;
    for (const WindowMemory& memory : memory_) {
      for (const std::byte byte : memory[static_cast<std::size_t>(rank_)])
        sum = combine(sum, std::to_integer<std::uint64_t>(byte));
    }
    return sum;
  }

 private:
  void perform(const WindowEpoch& epoch, std::size_t number) {
    WindowMemory& memory = memory_[epoch.window];
    const Window& window = *windows_[epoch.window];
    std::vector<std::unique_ptr<Call>> calls;
    for (const WindowOperation& operation : epoch.operations) {
      if (operation.origin == rank_) calls.push_back(std::make_unique<Call>(operation));
    }
    std::unique_ptr<Messages> messages;
    if (epoch.beside_messages) messages = std::make_unique<Messages>(comm_, rank_, size_, seed_ + number);
    synchronise(epoch, window, calls);
    if (messages && !messages->end()) fail("messages beside an epoch", seed_, number);
    check(epoch, calls, number);
    MPI_Barrier(comm_);
    if (!window.holds(memory[static_cast<std::size_t>(rank_)], rank_)) fail("memory of a window", seed_, number);
    MPI_Barrier(comm_);
  }

  /// What was fetched; and the memory of all ranks is what it should be then.
  void check(const WindowEpoch& epoch, const std::vector<std::unique_ptr<Call>>& calls, std::size_t number) {
    std::map<std::pair<int, std::size_t>, std::uint64_t> counts;  // by target and place
    for (const WindowOperation& one : epoch.operations) ++counts[{one.target, one.at}];
    const WindowMemory before = memory_[epoch.window];
    auto next = calls.begin();
    for (const WindowOperation& operation : epoch.operations) {
      apply(operation, memory_[epoch.window]);
      if (operation.origin != rank_) continue;
      WindowMemory as_before = before;
      if (!(*next)->is_right(apply(operation, as_before), counts[{operation.target, operation.at}]))
        fail("what an operation has fetched", seed_, number);
      ++next;
    }
  }

  void synchronise(const WindowEpoch& epoch, const Window& window, std::vector<std::unique_ptr<Call>>& calls) {
    const MPI_Win win = window.win();
    const auto make = [&](Call& call, bool is_passive) {
      call.make(win, window.displacement_of(call.operation()), is_passive);
      if (is_passive && epoch.flushes) MPI_Win_flush(call.operation().target, win);
    };
    switch (epoch.sync) {
      case Sync::fence:
        MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
        for (auto& call : calls) make(*call, false);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
        break;
      case Sync::start:
        start_and_post(epoch, win, [&] {
          for (auto& call : calls) make(*call, false);
        });
        break;
      case Sync::lock_all:
        MPI_Win_lock_all(0, win);
        for (auto& call : calls) make(*call, true);
        MPI_Win_unlock_all(win);
        break;
      case Sync::lock_shared:
      case Sync::lock_exclusive:
        for (int target = 0; target < size_; ++target) {
          MPI_Win_lock(epoch.sync == Sync::lock_shared ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0, win);
          for (auto& call : calls) {
            if (call->operation().target == target) make(*call, true);
          }
          MPI_Win_unlock(target, win);
        }
        break;
    }
  }

  template <typename Operations>
  void start_and_post(const WindowEpoch& epoch, MPI_Win win, const Operations& operations) {
    std::set<int> origins;
    std::set<int> targets;
    for (const WindowOperation& operation : epoch.operations) {
      if (operation.target == rank_) origins.insert(operation.origin);
      if (operation.origin == rank_) targets.insert(operation.target);
    }
    MPI_Group exposed = group_of(comm_, origins);
    MPI_Group accessed = group_of(comm_, targets);
    MPI_Win_post(exposed, 0, win);
    MPI_Win_start(accessed, 0, win);
    operations();
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    if (!origins.empty()) MPI_Group_free(&exposed);
    if (!targets.empty()) MPI_Group_free(&accessed);
  }

  const std::uint64_t seed_;
  const WindowScript& script_;
  MPI_Comm comm_;
  int rank_ = 0;
  int size_ = 0;
  std::vector<WindowMemory> memory_;
  std::vector<std::unique_ptr<Window>> windows_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::uint64_t first = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  const std::uint64_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const bool is_dynamic = argc > 3 && std::string_view(argv[3]) == "dynamic";
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const WindowScript script = make_window_script(seed, size);
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, 0, script.is_reversed ? -rank : rank, &comm);
    const std::uint64_t digest = Run(seed, script, comm, is_dynamic).digest();
    MPI_Comm_free(&comm);
    std::printf("seed %llu rank %d digest %llx\n", static_cast<unsigned long long>(seed), rank,
                static_cast<unsigned long long>(digest));
    std::fflush(stdout);
  }
  MPI_Finalize();
  return 0;
}
