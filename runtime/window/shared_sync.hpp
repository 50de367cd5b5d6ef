// Synchronisation of one window between its members, all on one node, by words that they share. What the words are, who writes
// and reads them, control.hpp says.
//
// Nobody serves a request here: the origin takes the lock of its target by itself, and a target that computes need not come. An
// operation is complete when its call returns, so nothing is left to a flush.
//
// Who waits and who wakes is the caller's (Host). What this rank has stored, in whatever memory, before a function that ends an
// epoch is seen by whoever has seen that end.
//
// Lock order: any lock of a window first, then one accumulate lock, which is held for one copy only. While holding that, nothing
// is waited for. The engine lock is taken inside Host's functions, while an accumulate lock is wanted and none is held.
//
// Threading: as WindowEpochs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/window/control.hpp"
#include "runtime/window/sync.hpp"
#include "runtime/window/waits.hpp"

namespace sluice {

class SharedSync final : public WindowSync {
 public:
  static constexpr std::uint64_t unlimited_ns = ~std::uint64_t{0};
  class Host {
   public:
    /// Returns once it is there, or so much time has passed: then false.
    virtual bool wait(WindowWait& wait, std::uint64_t limit_ns) = 0;
    /// Something was published for which a thread of the member may wait.
    virtual void wake(std::size_t member) = 0;

   protected:
    ~Host() = default;
  };

  SharedSync(std::vector<WindowControl> members, std::size_t self, Host& host)
      : WindowSync(members.size()), members_(std::move(members)), self_(self), host_(host) {}

  [[nodiscard]] bool fence(bool opens) override;

  [[nodiscard]] bool post(Members origins) override;
  [[nodiscard]] bool start(Members targets) override;
  [[nodiscard]] bool complete() override;
  [[nodiscard]] bool wait() override;
  [[nodiscard]] std::optional<bool> test() override;

  [[nodiscard]] bool lock(std::size_t target, WindowEpochs::Lock lock) override;
  [[nodiscard]] bool unlock(std::size_t target) override;
  [[nodiscard]] bool lock_all(bool takes) override;
  [[nodiscard]] bool unlock_all() override;

  [[nodiscard]] bool flush(std::size_t target, Flushed) override { return epochs_.is_locked(target); }
  [[nodiscard]] bool flush_all(Flushed) override { return epochs_.is_any_locked(); }

  /// Excludes all other accumulates to the target while it lives.
  class Accumulating {
   public:
    Accumulating(SharedSync& sync, std::size_t target) : sync_(sync), word_(sync.members_[target].accumulate_lock()) {
      if (!word_.try_lock(LockWord::Use::exclusive)) [[unlikely]]
        sync_.wait_for(word_, LockWord::Use::exclusive);
    }
    ~Accumulating() {
      if (word_.unlock(LockWord::Use::exclusive)) [[unlikely]]
        sync_.wake_all();
    }
    Accumulating(const Accumulating&) = delete;
    Accumulating& operator=(const Accumulating&) = delete;

   private:
    SharedSync& sync_;
    LockWord word_;
  };

 private:
  void take(LockWord word, LockWord::Use use) {
    if (!word.try_lock(use)) wait_for(word, use);
  }
  void give_up(LockWord word, LockWord::Use use) {
    if (word.unlock(use)) wake_all();
  }
  void wait_for(LockWord word, LockWord::Use use);
  [[nodiscard]] bool have_completed() const;
  /// Other threads of this process may wait, too.
  void wake(std::size_t member) { host_.wake(member); }
  void wake_all();

  const std::vector<WindowControl> members_;
  const std::size_t self_;
  Host& host_;
};

}  // namespace sluice
