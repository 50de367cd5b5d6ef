// Calls of one window that is on several nodes, as a thread sees them that makes one. What is asked of others, and done for them,
// far_origin.hpp and far_target.hpp have.
//
// An operation returns when it is on its way; its buffers are in use until it is over here. In a dynamic window only the target
// knows what is attached, so there each waits for the target's word, and answers false where that has refused.
//
// While a thread waits it progresses everything, as every call does. No receive whose message is not known is released while such
// a window is open (host-calls.md), so nothing has to be settled before.
//
// A wait for a shared lock that lasts insists on it: readers let writers that wait go first, but for a moment only.
//
// Threading: operations and flushes may be called by several threads at once, the others as WindowEpochs says.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>

#include "runtime/engine.hpp"
#include "runtime/far_windows.hpp"
#include "runtime/window/sync.hpp"

namespace sluice {

class FarWindowCalls final : public WindowSync {
 public:
  struct Opening {
    ContextId id{};          // alike on all members, and of no other window or communicator
    const Context& members;  // it has their ranks
    bool is_dynamic = false;
    ByteRange exposed{};  // by this rank
  };
  FarWindowCalls(Engine& engine, const Opening& opening);
  /// All members have come to its end.
  ~FarWindowCalls() override;

  /// Memory that members may access from now on, or not any more.
  void expose(ByteRange bytes);
  void withdraw(const void* base);

  // --- operations, as FarOrigin has them. False: the target has refused. `whole`: where a request for the operation goes, if one
  // is wanted; it stays nullptr where that is over at once
  [[nodiscard]] bool put(std::size_t target, const UserBuffer& origin, const UserBuffer& place, Request** whole);
  [[nodiscard]] bool get(std::size_t target, const UserBuffer& result, const UserBuffer& place, Request** whole);
  [[nodiscard]] bool accumulate(std::size_t target, FarOrigin::Combination combination, const UserBuffer* operand,
                                const UserBuffer* result, const UserBuffer& place, Request** whole);
  [[nodiscard]] bool compare_and_swap(std::size_t target, const UserBuffer& compared, const UserBuffer& new_value,
                                      const UserBuffer& result, const UserBuffer& place);
  /// Until buffers of this rank are free.
  void wait_here(std::size_t target);

  // --- synchronisation
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
  [[nodiscard]] bool flush(std::size_t target, Flushed where) override;
  [[nodiscard]] bool flush_all(Flushed where) override;

 private:
  class Call;

  FarWindow& open(const Opening& opening);
  template <typename Issue>
  bool operate(std::size_t target, Request** whole, Issue issue);
  template <typename Issue>
  bool drafts(std::size_t target, std::size_t bytes, const UserBuffer& place, Issue issue);
  [[nodiscard]] bool has_completed(std::size_t origin) const;
  void wait_for_own_lock(Call& call);
  template <typename Targets>
  void end_access(Call& call, const Targets& targets);
  template <typename Targets>
  void flush_each(const Targets& targets, Flushed where);

  Engine::Impl& impl_;
  const Members all_;
  const std::size_t self_;
  const bool is_dynamic_;
  FarWindow& window_;
};

}  // namespace sluice
