// Where this rank stands in the epochs of one window: what it may access, what it has exposed to whom, and how often.
//
// It knows no shared word and waits for nothing. Functions that answer false have changed nothing: the call does not go with the
// epochs that are open (MPI_ERR_RMA_SYNC).
//
// Threading: any thread asks `may_access`, and different threads lock different targets. Other calls come one at a time, as MPI
// demands of a window.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/window/lock_word.hpp"

namespace sluice {

class WindowEpochs {
 public:
  using Members = std::vector<std::size_t>;

  explicit WindowEpochs(std::size_t members) : targets_(members), posts_(members), starts_(members) {}

  [[nodiscard]] bool may_access(std::size_t target) const {
    return fence_is_open_.load(std::memory_order_relaxed) || access(target) != Access::none;
  }

  // --- fence. `opens`: accesses may follow it.
  [[nodiscard]] bool may_fence() const;
  void fence(bool opens) { fence_is_open_.store(opens, std::memory_order_relaxed); }
  /// The number of the fence that begins.
  std::uint64_t next_fence() { return ++fences_; }

  // --- post, start, complete, wait
  [[nodiscard]] bool post(Members origins);
  [[nodiscard]] bool is_posted() const { return posted_.has_value(); }
  [[nodiscard]] const Members& origins() const { return *posted_; }
  /// How often this rank has posted to the origin.
  [[nodiscard]] std::uint64_t posts_to(std::size_t origin) const { return posts_[origin]; }
  void end_exposure() { posted_.reset(); }
  [[nodiscard]] bool start(Members targets);
  [[nodiscard]] bool is_started() const { return started_.has_value(); }
  [[nodiscard]] const Members& targets() const { return *started_; }
  /// How often this rank has started for the target.
  [[nodiscard]] std::uint64_t starts_for(std::size_t target) const { return starts_[target]; }
  void end_access();

  // --- locks
  struct Lock {
    LockWord::Use use = LockWord::Use::shared;
    bool is_taken = true;  // false: nobody conflicts with it (MPI_MODE_NOCHECK), and its word is left alone
  };
  [[nodiscard]] bool may_lock(std::size_t target) const { return access(target) == Access::none && !is_started(); }
  void lock(std::size_t target, Lock lock);
  /// Only that target is locked, not all of them.
  [[nodiscard]] std::optional<Lock> lock_of(std::size_t target) const;
  void unlock(std::size_t target);
  [[nodiscard]] bool may_lock_all() const;
  void lock_all(bool is_taken);
  /// What was taken of each target.
  [[nodiscard]] std::optional<Lock> lock_of_all() const;
  void unlock_all();
  /// Of any kind.
  [[nodiscard]] bool is_locked(std::size_t target) const;
  [[nodiscard]] bool is_any_locked() const;

 private:
  enum class Access : std::uint8_t { none, started, shared, exclusive, unchecked_shared, unchecked_exclusive, all };

  [[nodiscard]] Access access(std::size_t target) const { return targets_[target].load(std::memory_order_relaxed); }
  void set(std::size_t target, Access access) { targets_[target].store(access, std::memory_order_relaxed); }
  [[nodiscard]] bool has_access() const;

  std::atomic<bool> fence_is_open_{false};
  std::uint64_t fences_ = 0;
  std::vector<std::atomic<Access>> targets_;
  std::vector<std::uint64_t> posts_;
  std::vector<std::uint64_t> starts_;
  std::optional<Members> posted_;
  std::optional<Members> started_;
  std::optional<Lock> all_locked_;
};

}  // namespace sluice
