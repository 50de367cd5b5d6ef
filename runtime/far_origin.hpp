// This rank as an origin of a window that is on several nodes: what it has asked of each target, and what of that is not over.
//
// What is asked for is drafted first. A draft leaves when this rank asks for an answer, ends an epoch or has to wait, when a
// thread progresses, or when it is full: one message for many operations.
//
// Short data goes along, and its buffer is free at once. Longer data is a message of its own, and a result comes into its buffer
// as one: until these are over, the operation is not complete here. At its target it is complete once a flush that was asked for
// afterwards is answered.
//
// A lock is asked for with the first operation, and nobody waits for it: what needs it waits at the target. Only the lock of this
// rank itself is waited for, as the program may load and store there.
//
// Belongs to the engine lock. It waits for nothing (far_window_calls.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/far_messenger.hpp"
#include "runtime/window/far_message.hpp"
#include "runtime/window/lock_word.hpp"

namespace sluice {

class FarOrigin {
 public:
  explicit FarOrigin(FarMessenger& messenger) : messenger_(messenger), targets_(messenger.context().size()) {}
  FarOrigin(const FarOrigin&) = delete;
  FarOrigin& operator=(const FarOrigin&) = delete;

  /// So many bytes for that place of the target's would only be drafted, and nothing of the draft would leave.
  [[nodiscard]] bool only_drafts(std::size_t target, std::size_t bytes, const UserBuffer& place) const;
  /// Drafts leave.
  void push(std::size_t target);
  bool push_all();

  // --- operations. `place`: the target's memory, by its addresses there
  void put(std::size_t target, const UserBuffer& origin, const UserBuffer& place);
  void get(std::size_t target, const UserBuffer& result, const UserBuffer& place);
  struct Combination {
    std::uint16_t name = 0;  // FarOperation
    bool packs_pairs = false;
  };
  /// `operand`: nullptr where it is not read. `result`: nullptr where none is wanted.
  void accumulate(std::size_t target, Combination combination, const UserBuffer* operand, const UserBuffer* result,
                  const UserBuffer& place);
  void compare_and_swap(std::size_t target, const UserBuffer& compared, const UserBuffer& new_value, const UserBuffer& result,
                        const UserBuffer& place);

  /// A request that stands for what was begun since `open` messages were open to the target (MPI_Rput and its kin): complete when
  /// that is over here. nullptr: it is over.
  [[nodiscard]] std::size_t open(std::size_t target) const { return targets_[target].open.size(); }
  [[nodiscard]] Request* stand_for(std::size_t target, std::size_t open);
  /// Completes those; true when one is.
  bool advance();
  [[nodiscard]] bool has_work() const;

  // --- locks of targets
  void lock(std::size_t target, LockWord::Use use);
  /// Asks for it if that has not been done, and is answered once it has it.
  void ask_for_lock(std::size_t target);
  /// What it holds or has asked for is to be given up; `flush` then waits for that, too.
  void unlock(std::size_t target);
  /// Its wait for shared locks has lasted.
  void insist();

  // --- completion
  /// For an answer that says that all that was asked before is done; `if_needed`: unless it is known to be.
  enum class Asks : std::uint8_t { if_needed, always };
  void ask(std::size_t target, Asks asks = Asks::if_needed);
  [[nodiscard]] bool is_answered(std::size_t target) const { return targets_[target].answered == targets_[target].asked; }
  /// Buffers of this rank are free.
  [[nodiscard]] bool is_over_here(std::size_t target);
  /// Something before the last answer was not where the target exposes memory. Tells it once.
  [[nodiscard]] bool was_refused(std::size_t target);

  // --- synchronisation
  /// What comes after the operations before.
  void tell(std::size_t target, FarMessage::Kind kind);
  /// What does not.
  void tell_at_once(std::size_t to, FarMessage::Kind kind);
  void take_answer(std::size_t target, const FarMessage& message);

 private:
  enum class LockState : std::uint8_t { none, wanted, asked };
  struct Target {
    std::vector<std::byte> draft;
    std::vector<Request*> open;  // with buffers of this rank
    std::size_t groups = 0;      // that a request stands for
    std::uint64_t asked = 0;     // flushes and unlocks
    std::uint64_t answered = 0;
    bool is_behind = false;  // something asked since is not told of by a result
    bool was_refused = false;
    LockState lock = LockState::none;
    LockWord::Use use{};
  };
  struct Group {
    std::size_t target;
    std::vector<Request*> open;
    Request* whole;
  };

  void draft(std::size_t target, FarMessage message, const UserBuffer* place, std::span<const UserBuffer> data);
  [[nodiscard]] bool goes_along(std::size_t target, std::size_t bytes, const UserBuffer& place) const;
  [[nodiscard]] std::size_t most_drafted(std::size_t target) const;
  bool take_over(std::vector<Request*>& open);
  void expect_result(std::size_t target, const FarMessage& message, const UserBuffer& result);

  FarMessenger& messenger_;
  std::vector<Target> targets_;
  std::vector<Group> groups_;
  std::size_t drafts_ = 0;  // that are not empty
  std::uint32_t serials_ = 0;
};

}  // namespace sluice
