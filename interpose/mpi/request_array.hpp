// The request array of a completion call, sorted into what is Sluice's, what is the host's, and what is null or inactive.
//
// Programs poll the same array again and again, and most of it has not changed since the last call. So what has been found of
// an array is remembered (ArrayMemory): each handle's value and what it led to. The next call compares the values, and looks up
// those that differ. What the comparison cannot show is counted: a handle that is completed, freed or started outside of the
// call gets another `generation`, and `handle_changes` says whether any has since the memory was last right.
//
// A memory follows values, not the array's place; the place only helps to find the one that fits best. So a memory is never
// wrong, only useless.
//
// Threading: a memory belongs to one call at a time (`busy`, acquire and release). Entries that do not stand in the array of the
// current call may name handles of other threads; of these only `generation` is read, an atomic word.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "interpose/mpi/array_look.hpp"
#include "interpose/mpi/handles.hpp"

namespace sluice {

class ArrayMemory {
 public:
  enum class What : unsigned char { nothing, inactive, ours, hosts };

  ArrayMemory() = default;
  ArrayMemory(const ArrayMemory&) = delete;
  ArrayMemory& operator=(const ArrayMemory&) = delete;

  /// Makes it that of these requests. False: one of them is not a handle at all.
  bool follow(const MPI_Request* requests, std::size_t size);

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] What what(std::size_t i) const { return what_[i]; }
  [[nodiscard]] Handle* handle(std::size_t i) const { return what_[i] == What::ours ? handles_[i] : nullptr; }
  [[nodiscard]] std::size_t count(What what) const { return counts_[static_cast<std::size_t>(what)]; }
  [[nodiscard]] bool is_done(std::size_t i) const { return done_[i]->load(std::memory_order_acquire); }
  /// Index of the first of Sluice's that is complete; `size` when there is none. `completions`: the engine's count, read before.
  std::size_t first_done(std::uint64_t completions);
  /// From `i` on.
  [[nodiscard]] std::size_t next_done(std::size_t i) const;
  /// These are the requests, and some are Sluice's, of which none was complete at this count.
  [[nodiscard]] bool is_quiet(const MPI_Request* requests, std::size_t size, std::uint64_t completions) const;
  bool all_done();
  /// The call has completed that one of Sluice's, and left `now` in its place.
  void finished(std::size_t i, MPI_Request now);
  /// All is complete, so that there is nothing left to remember.
  void forget();
  /// While the call completes what it also tells by `finished`, other handles do not change: they need not be looked at for it.
  /// Only where one thread is in calls.
  class OwnChanges {
   public:
    explicit OwnChanges(ArrayMemory& memory);
    ~OwnChanges();
    OwnChanges(const OwnChanges&) = delete;
    OwnChanges& operator=(const OwnChanges&) = delete;

   private:
    ArrayMemory& memory_;
    bool are_seen_;
  };

  /// Lists for calls of the host's and the engine's, valid until the next function that is not const.
  std::span<MPI_Request> list_hosts();
  [[nodiscard]] std::size_t host_index(std::size_t k) const { return host_indices_[k]; }
  /// The host has changed the list.
  void forget_hosts() { hosts_listed_ = false; }
  /// Of all that are Sluice's; null entries for those that were complete at once.
  std::span<Request* const> list_active();

 private:
  friend class ArrayMemories;

  void make_room(std::size_t size);
  bool look_up(std::size_t i, MPI_Request request, MPI_Request null);
  void note(std::size_t i, What what, Handle* handle, const std::atomic<bool>* done);
  void forget_changed();

  std::unique_ptr<MPI_Request[]> values_;
  std::unique_ptr<const std::atomic<bool>*[]> done_;  // the engine's words, or one that never changes
  std::unique_ptr<Handle*[]> handles_;
  std::unique_ptr<std::uint32_t[]> generations_;
  std::unique_ptr<What[]> what_;
  std::size_t room_ = 0;
  std::size_t size_ = 0;
  std::array<std::size_t, 4> counts_{};
  std::uint64_t seen_changes_ = 0;  // of handles
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  std::uint64_t quiet_at_ = never;  // nothing was complete when the engine had counted so many completions
  std::size_t first_open_ = 0;

  bool hosts_listed_ = false;
  std::unique_ptr<MPI_Request[]> host_requests_;
  std::unique_ptr<std::size_t[]> host_indices_;
  std::unique_ptr<Request*[]> active_;

  std::atomic<bool> busy_{false};
  std::atomic<const MPI_Request*> array_{nullptr};  // whose requests it has followed last; a hint
};

class RequestArray {
 public:
  /// Finds what is remembered of the array at this place. Nothing but `is_remembered` may be asked before `follow`.
  explicit RequestArray(MPI_Request requests[]);
  ~RequestArray();
  RequestArray(const RequestArray&) = delete;
  RequestArray& operator=(const RequestArray&) = delete;

  /// What is remembered of it is worth more than a look at each request: the last call has left something open, and it is not
  /// short.
  [[nodiscard]] bool is_remembered() const { return memory_ && memory_->size() > std::size_t{max_looked_at}; }
  /// Some of them are Sluice's, of which nothing was complete at the last look; nor is after another poll. It need not be
  /// followed then.
  [[nodiscard]] bool is_quiet_after_poll(int count) const;
  /// Of the engine, for what is open in it.
  void poll() const;
  /// False: a completion call must not be given it; the host then says what is wrong.
  bool follow(int count);

  [[nodiscard]] std::size_t size() const { return memory_->size(); }
  /// Active requests, complete or not.
  [[nodiscard]] std::size_t ours() const { return memory_->count(ArrayMemory::What::ours); }
  [[nodiscard]] std::size_t hosts() const { return memory_->count(ArrayMemory::What::hosts); }
  /// The host can be given the array as it is.
  [[nodiscard]] bool has_only_hosts() const {
    return ours() == 0 && hosts() != 0 && memory_->count(ArrayMemory::What::inactive) == 0;
  }

  /// nullptr where the entry is the host's, null or inactive.
  [[nodiscard]] Handle* handle(std::size_t index) const { return memory_->handle(index); }
  [[nodiscard]] bool is_host(std::size_t index) const { return memory_->what(index) == ArrayMemory::What::hosts; }
  [[nodiscard]] MPI_Request& slot(std::size_t index) { return requests_[index]; }

  /// Index of the first request of Sluice's that is complete; `size()` when there is none.
  std::size_t first_complete();
  bool all_complete() { return memory_->all_done(); }
  /// The index of Sluice's, where there is one.
  [[nodiscard]] std::size_t only_one() const {
    std::size_t index = 0;
    while (!memory_->handle(index)) ++index;
    return index;
  }
  [[nodiscard]] std::size_t next_complete(std::size_t index) const { return memory_->next_done(index); }
  /// The call has completed all.
  void forget() { memory_->forget(); }
  [[nodiscard]] bool is_followed() const { return is_followed_; }
  /// See ArrayMemory.
  [[nodiscard]] ArrayMemory::OwnChanges own_changes() { return ArrayMemory::OwnChanges(*memory_); }
  /// The call has completed this one of Sluice's.
  void finished(std::size_t index) { memory_->finished(index, requests_[index]); }

  /// The engine's side of all active requests, with null entries for those that were complete at once.
  std::span<Request* const> engine_requests() { return memory_->list_active(); }

  /// The host's requests, close together; `host_index` tells where each came from.
  [[nodiscard]] MPI_Request* host_requests() { return memory_->list_hosts().data(); }
  [[nodiscard]] std::size_t host_index(std::size_t i) const { return memory_->host_index(i); }
  /// The host reported request `i` of its own complete: writes back what it left of it.
  void host_completed(std::size_t i, MPI_Request left);
  /// The host may have changed its list without that.
  void forget_hosts() { memory_->forget_hosts(); }

 private:
  MPI_Request* requests_;
  ArrayMemory* memory_;  // nullptr: none knows it, and it was not followed
  bool is_followed_ = false;
};

}  // namespace sluice
