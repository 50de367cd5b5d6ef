#include "interpose/mpi/request_array.hpp"

#include <algorithm>
#include <array>

#include "interpose/mpi/entry.hpp"

namespace sluice {
namespace {

constinit const std::atomic<bool> never_done{false};
constinit const std::atomic<bool> always_done{true};

/// No request has this value, so that it differs from whatever stands in the array.
MPI_Request stale() {
  static constinit char place = 0;
  return reinterpret_cast<MPI_Request>(&place);
}

constexpr std::size_t min_room = 16;
/// A memory that has followed a large array gives its room back when it follows one of less than this part.
constexpr std::size_t max_unused = 16;
constexpr std::size_t always_kept = 4096;

/// Nothing of it differs, most often.
constexpr std::size_t compared_at_once = 8;

bool same(const MPI_Request* a, const MPI_Request* b) {
  std::uintptr_t difference = 0;
  for (std::size_t k = 0; k < compared_at_once; ++k)
    difference |= reinterpret_cast<std::uintptr_t>(a[k]) ^ reinterpret_cast<std::uintptr_t>(b[k]);
  return difference == 0;
}

}  // namespace

void ArrayMemory::make_room(std::size_t size) {
  const bool is_wasted = room_ > always_kept && size < room_ / max_unused;
  if (size <= room_ && !is_wasted) return;
  room_ = std::max(size, std::min(2 * room_, always_kept));
  room_ = std::max(room_, min_room);
  values_ = std::make_unique_for_overwrite<MPI_Request[]>(room_);
  done_ = std::make_unique_for_overwrite<const std::atomic<bool>*[]>(room_);
  handles_ = std::make_unique_for_overwrite<Handle*[]>(room_);
  generations_ = std::make_unique_for_overwrite<std::uint32_t[]>(room_);
  what_ = std::make_unique_for_overwrite<What[]>(room_);
  host_requests_.reset();
  host_indices_.reset();
  active_.reset();
  size_ = 0;
  counts_ = {};
}

void ArrayMemory::note(std::size_t i, What what, Handle* handle, const std::atomic<bool>* done) {
  if (what == What::hosts || what_[i] == What::hosts) hosts_listed_ = false;
  --counts_[static_cast<std::size_t>(what_[i])];
  ++counts_[static_cast<std::size_t>(what)];
  what_[i] = what;
  handles_[i] = handle;
  generations_[i] = handle ? handle->generation.load(std::memory_order_relaxed) : 0;
  done_[i] = done;
}

bool ArrayMemory::look_up(std::size_t i, MPI_Request request, MPI_Request null) {
  values_[i] = request ? request : stale();
  if (!request || request == null) {
    note(i, What::nothing, nullptr, &never_done);
    return request != nullptr;
  }
  Handle* const handle = find_handle(request);
  if (!handle) {
    note(i, What::hosts, nullptr, &never_done);
  } else if (handle->is_inactive()) {
    note(i, What::inactive, handle, &never_done);
  } else {
    note(i, What::ours, handle, handle->active ? &Engine::Completion::completion_of(*handle->active) : &always_done);
  }
  return true;
}

/// Reads the count first: what changes from now on is seen next time.
void ArrayMemory::forget_changed() {
  const std::uint64_t changes = handle_changes();
  if (changes == seen_changes_) return;
  seen_changes_ = changes;
  for (std::size_t i = 0; i < size_; ++i) {
    if (handles_[i] && handles_[i]->generation.load(std::memory_order_relaxed) != generations_[i]) values_[i] = stale();
  }
}

bool ArrayMemory::follow(const MPI_Request* requests, std::size_t size) {
  make_room(size);
  forget_changed();
  while (size_ > size) {
    note(--size_, What::nothing, nullptr, &never_done);
    --counts_[static_cast<std::size_t>(What::nothing)];
  }
  const MPI_Request null = predefined().request_null;
  bool sound = true;
  const auto look_at = [&](std::size_t i) {
    if (requests[i] == values_[i]) return;
    quiet_at_ = never;
    sound &= look_up(i, requests[i], null);
  };
  const std::size_t known = size_;
  std::size_t i = 0;
  for (; i + compared_at_once <= known; i += compared_at_once) {
    if (same(requests + i, values_.get() + i)) [[likely]]
      continue;
    for (std::size_t k = i; k < i + compared_at_once; ++k) look_at(k);
  }
  for (; i < known; ++i) look_at(i);
  if (size_ < size) quiet_at_ = never;
  for (; size_ < size; ++size_) {
    what_[size_] = What::nothing;
    ++counts_[static_cast<std::size_t>(What::nothing)];
    sound &= look_up(size_, requests[size_], null);
  }
  return sound;
}

std::size_t ArrayMemory::first_done(std::uint64_t completions) {
  if (quiet_at_ == completions) return size_;
  const std::size_t first = next_done(0);
  if (first == size_) quiet_at_ = completions;
  return first;
}

std::size_t ArrayMemory::next_done(std::size_t i) const {
  const std::atomic<bool>* const* const done = done_.get();
  while (i < size_ && !done[i]->load(std::memory_order_relaxed)) ++i;
  std::atomic_thread_fence(std::memory_order_acquire);
  return i;
}

bool ArrayMemory::is_quiet(const MPI_Request* requests, std::size_t size, std::uint64_t completions) const {
  if (quiet_at_ != completions || size_ != size || seen_changes_ != handle_changes()) return false;
  if (count(What::ours) == 0) return false;
  const MPI_Request* const values = values_.get();
  std::size_t i = 0;
  for (; i + compared_at_once <= size; i += compared_at_once) {
    if (!same(requests + i, values + i)) return false;
  }
  while (i < size && requests[i] == values[i]) ++i;
  return i == size;
}

bool ArrayMemory::all_done() {
  const auto open = [this](std::size_t i) { return what_[i] == What::ours && !is_done(i); };
  if (first_open_ < size_ && open(first_open_)) return false;
  for (std::size_t i = 0; i < size_; ++i) {
    if (!open(i)) continue;
    first_open_ = i;
    return false;
  }
  return true;
}

void ArrayMemory::finished(std::size_t i, MPI_Request now) {
  values_[i] = now;
  Handle* const handle = handles_[i];
  if (handle->kind == Handle::Kind::persistent) {
    note(i, What::inactive, handle, &never_done);
  } else {
    note(i, What::nothing, nullptr, &never_done);
  }
}

void ArrayMemory::forget() {
  size_ = 0;
  counts_ = {};
  hosts_listed_ = false;
}

ArrayMemory::OwnChanges::OwnChanges(ArrayMemory& memory)
    : memory_(memory), are_seen_(!calls_may_be_concurrent() && memory.seen_changes_ == handle_changes()) {}

ArrayMemory::OwnChanges::~OwnChanges() {
  if (are_seen_) memory_.seen_changes_ = handle_changes();
}

std::span<MPI_Request> ArrayMemory::list_hosts() {
  const std::size_t count = this->count(What::hosts);
  if (hosts_listed_ || count == 0) return {host_requests_.get(), count};
  if (!host_requests_) {
    host_requests_ = std::make_unique_for_overwrite<MPI_Request[]>(room_);
    host_indices_ = std::make_unique_for_overwrite<std::size_t[]>(room_);
  }
  for (std::size_t i = 0, k = 0; k < count; ++i) {
    if (what_[i] != What::hosts) continue;
    host_requests_[k] = values_[i];
    host_indices_[k++] = i;
  }
  hosts_listed_ = true;
  return {host_requests_.get(), count};
}

std::span<Request* const> ArrayMemory::list_active() {
  if (!active_) active_ = std::make_unique_for_overwrite<Request*[]>(room_);
  std::size_t count = 0;
  for (std::size_t i = 0; i < size_; ++i) {
    if (what_[i] == What::ours) active_[count++] = handles_[i]->active;
  }
  return {active_.get(), count};
}

/// Where calls find the memory of their array. Calls of more threads at once than there are memories get one for themselves.
class ArrayMemories {
 public:
  /// The one that has followed this array last, if it is not in use.
  ArrayMemory* recall(const MPI_Request* array) {
    const std::size_t first = place_of(array);
    for (const std::size_t other : {std::size_t{0}, std::size_t{1}}) {
      ArrayMemory& memory = memories_[first ^ other];
      if (memory.array_.load(std::memory_order_relaxed) == array && take(memory)) return &memory;
    }
    return nullptr;
  }
  /// One for an array that none has followed last.
  ArrayMemory& borrow(const MPI_Request* array) {
    const std::size_t first = place_of(array);
    for (std::size_t other = 0; other < memories_.size(); ++other) {
      ArrayMemory& memory = memories_[first ^ ((other + turn_.load(std::memory_order_relaxed)) % memories_.size())];
      if (!take(memory)) continue;
      turn_.store(turn_.load(std::memory_order_relaxed) ^ 1, std::memory_order_relaxed);
      memory.array_.store(array, std::memory_order_relaxed);
      return memory;
    }
    auto* own = new ArrayMemory;
    return *own;
  }
  void give_back(ArrayMemory& memory) {
    if (&memory >= memories_.data() && &memory < memories_.data() + memories_.size()) {
      memory.busy_.store(false, std::memory_order_release);
    } else {
      delete &memory;
    }
  }

 private:
  /// Where only one thread is in calls, one that is in use is that of a call which has called the program back.
  static bool take(ArrayMemory& memory) {
    if (memory.busy_.load(std::memory_order_relaxed)) return false;
    if (calls_may_be_concurrent()) return !memory.busy_.exchange(true, std::memory_order_acquire);
    memory.busy_.store(true, std::memory_order_relaxed);
    return true;
  }
  static std::size_t place_of(const MPI_Request* array) {
    return (reinterpret_cast<std::uintptr_t>(array) * 0x9E3779B97F4A7C15u) >> 60;
  }

  std::array<ArrayMemory, 16> memories_;
  std::atomic<std::size_t> turn_{0};  // of the two places of an array
};

namespace {

ArrayMemories& memories() {
  static auto* const all = new ArrayMemories;  // never destroyed: other threads may outlive the exit handlers
  return *all;
}

}  // namespace

RequestArray::RequestArray(MPI_Request requests[]) : requests_(requests), memory_(memories().recall(requests)) {}

/// The calls that poll so ask the host afterwards, where it has requests of the array.
void RequestArray::poll() const {
  engine().progress(ours() > 1 ? Engine::Awaits::several : Engine::Awaits::not_said,
                    hosts() != 0 ? Engine::Host::is_called : Engine::Host::has_turns);
}

bool RequestArray::is_quiet_after_poll(int count) const {
  if (!memory_ || count <= 0) return false;
  const std::uint64_t completions = engine().completion().completions();
  if (!memory_->is_quiet(requests_, static_cast<std::size_t>(count), completions)) return false;
  poll();
  return engine().completion().completions() == completions;
}

bool RequestArray::follow(int count) {
  if (count < 0 || (count > 0 && !requests_)) return false;
  if (!memory_) memory_ = &memories().borrow(requests_);
  is_followed_ = true;
  return memory_->follow(requests_, static_cast<std::size_t>(count));
}

RequestArray::~RequestArray() {
  if (memory_) memories().give_back(*memory_);
}

std::size_t RequestArray::first_complete() { return memory_->first_done(engine().completion().completions()); }

void RequestArray::host_completed(std::size_t i, MPI_Request left) {
  memory_->forget_hosts();
  MPI_Request& slot = requests_[host_index(i)];
  host_activity().completed(slot, left);
  slot = left;
}

}  // namespace sluice
