// Synchronisation of one window between its members: fences, post and start, locks, flushes.
//
// Owns this rank's epochs. Functions that answer false have changed nothing: the call does not go with the epochs that are open.
//
// Two classes know how: SharedSync where all members are on one node (shared_sync.hpp), FarWindowCalls where they are not
// (runtime/far_window_calls.hpp).
//
// Threading: as WindowEpochs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "runtime/window/epochs.hpp"

namespace sluice {

class WindowSync {
 public:
  using Members = WindowEpochs::Members;
  /// Where operations are complete afterwards.
  enum class Flushed : std::uint8_t { at_origin, at_target };

  virtual ~WindowSync() = default;
  WindowSync(const WindowSync&) = delete;
  WindowSync& operator=(const WindowSync&) = delete;

  [[nodiscard]] const WindowEpochs& epochs() const { return epochs_; }

  /// Collective. `opens`: accesses may follow.
  [[nodiscard]] virtual bool fence(bool opens) = 0;

  [[nodiscard]] virtual bool post(Members origins) = 0;
  [[nodiscard]] virtual bool start(Members targets) = 0;
  [[nodiscard]] virtual bool complete() = 0;
  [[nodiscard]] virtual bool wait() = 0;
  /// nullopt: nothing is exposed. True: all have completed, and the exposure is over.
  [[nodiscard]] virtual std::optional<bool> test() = 0;

  [[nodiscard]] virtual bool lock(std::size_t target, WindowEpochs::Lock lock) = 0;
  [[nodiscard]] virtual bool unlock(std::size_t target) = 0;
  /// `takes`: otherwise nobody conflicts.
  [[nodiscard]] virtual bool lock_all(bool takes) = 0;
  [[nodiscard]] virtual bool unlock_all() = 0;

  [[nodiscard]] virtual bool flush(std::size_t target, Flushed where) = 0;
  [[nodiscard]] virtual bool flush_all(Flushed where) = 0;

 protected:
  explicit WindowSync(std::size_t members) : epochs_(members) {}

  WindowEpochs epochs_;
};

}  // namespace sluice
