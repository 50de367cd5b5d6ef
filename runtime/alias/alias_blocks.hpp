// Which buffers of messages are alias blocks: whether one is it now, may become one, and has earned it by being used again; and
// making it one.
//
// Owns the history of buffers, the thread that looks for freed blocks, and whether blocks have ended because the address space
// became limited. The arena (arena.hpp) does the work. What else is done with the program's memory is known elsewhere, and asked
// through `Others`. It decides nothing about how a message travels or whether a call returns early.
//
// Belongs to the engine lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "runtime/alias/arena.hpp"
#include "runtime/alias/buffer_history.hpp"
#include "runtime/alias/forked_blocks.hpp"
#include "runtime/alias/sweeper.hpp"
#include "runtime/base/types.hpp"

namespace sluice {

class AliasBlocks {
 public:
  using Use = BufferHistory::Use;
  using Purpose = AliasArena::Purpose;

  /// What others do with the program's memory. Asked with the engine lock held.
  class Others {
   public:
    /// Whoever writes to a page that is being replaced waits until it is. Not while a thread is being made: the C library blocks
    /// every signal in it.
    [[nodiscard]] virtual bool holds_writers_up() const = 0;
    /// Some of these pages are under guard.
    [[nodiscard]] virtual bool guards(ByteRange bytes) const = 0;
    /// An adapter knows some of these pages at the application's address.
    [[nodiscard]] virtual bool pins(PageRange pages) const = 0;
    /// Peers of Sluice's are writing to some of these pages at the application's address.
    [[nodiscard]] virtual bool are_written_by_peers(PageRange pages) const = 0;
    /// The host, or peers through it, may be reading or writing this process's memory.
    [[nodiscard]] virtual bool may_reach_memory() const = 0;
    /// The calling thread is about to replace pages: the program's signals wait until it has left the engine.
    virtual void hold_signals() = 0;
    /// The trace is about to be told of a block: of what comes before it first.
    virtual void tell_trace() = 0;

   protected:
    ~Others() = default;
  };

  /// To ask the kernel whether so much is a block costs less than to have it read by cross-memory attach. 20 KB gathered from one
  /// rank 4.1 µs and 3.0, there and back 8.6 and 4.3. Smaller messages are seldom announced.
  static constexpr std::size_t min_offered_bytes = 16 * 1024;

  /// `arena`: nullptr where there are no blocks.
  AliasBlocks(AliasArena* arena, Others& others) : arena_(arena), others_(others) {}

  /// There may be blocks.
  [[nodiscard]] bool usable() const { return arena_ && arena_->usable(); }

  /// Some page of it is a block.
  [[nodiscard]] bool hold_some_of(ByteRange bytes) const { return arena_ && arena_->holds_some_of(bytes); }
  [[nodiscard]] bool is_live(ByteRange bytes, OperationTime time = {}) { return arena_ && arena_->is_live(bytes, time); }
  /// One more use of the buffer: whether it is a block, or has been used often enough to have become one now.
  bool use(ByteRange buffer, Use how = Use::copied, OperationTime time = {}, Purpose purpose = Purpose::filled);
  /// The same of the bytes of a message that its receiver might read there.
  bool offer(ByteRange message) { return message.size() >= min_offered_bytes && use(message, Use::copied, {}, Purpose::sent); }
  /// Makes the range a block, unless the host may reach it or peers write to it, or data is on its way to pages of it that the
  /// application has unmapped while they were under guard: data of an old buffer would arrive in what lies there now (rule 12).
  bool make(ByteRange bytes, Purpose purpose = Purpose::filled);
  /// The buffer gets its block with its next use.
  void earn(ByteRange buffer) { history_.earn(buffer); }

  /// Of an address inside a block.
  [[nodiscard]] std::byte* alias(std::uintptr_t address) const { return arena_->alias(address); }
  /// From every address of a block to its alias.
  [[nodiscard]] std::ptrdiff_t distance(ByteRange block) const;

  // --- what the program does with their memory -------------------------------------------------------------------------
  /// As the functions of the arena that have these names.
  void privatize(ByteRange bytes) {
    if (arena_) arena_->privatize(bytes);
  }
  void discard(ByteRange bytes) {
    if (arena_) arena_->discard(bytes);
  }
  void prepare_fork(bool hears_faults, const ForkedBlocks::InUse& in_use) {
    if (arena_) arena_->forks().prepare(hears_faults, in_use);
  }
  void parent_after_fork() {
    if (arena_) arena_->forks().after_in_parent();
  }

  // --- an end of blocks, as the address space has become limited -------------------------------------------------------
  /// It is limited, and blocks are left.
  [[nodiscard]] bool are_to_end() const { return are_to_end_; }
  /// It was limited, and there will be no blocks any more.
  [[nodiscard]] bool have_ended() const { return have_ended_; }
  void let_end() { are_to_end_ = true; }
  /// Threads that write to blocks meanwhile would wait until they have ended.
  [[nodiscard]] bool may_end() const { return others_.holds_writers_up(); }
  /// Makes all blocks private. No message is on its way, and nothing under guard. Where one has to stay, it is tried again when
  /// another is to be made.
  void end();

  // --- blocks that the program has freed -------------------------------------------------------------------------------
  /// Starts a thread that calls `sweep`, now and then.
  void start_sweeper(std::function<std::size_t()> sweep) { sweeper_ = std::make_unique<Sweeper>(std::move(sweep)); }
  /// Waits for its end. The lock is not held.
  void stop_sweeper() { sweeper_.reset(); }
  /// In a child of fork, which has no such thread.
  void abandon_sweeper() {
    if (sweeper_) sweeper_->abandon();
  }
  /// Frees what the program has freed, and makes blocks of what children of fork have shown. Bytes of blocks that are left. In
  /// segments, as others want the lock.
  template <class Mutex>
  std::size_t sweep(Mutex& mutex) {
    std::size_t bytes = 0;
    {
      const std::lock_guard lock(mutex);
      bytes = arena_->look();
    }
    for (ByteRange segment;;) {
      const std::lock_guard lock(mutex);
      if (!return_segment(segment)) return bytes;
    }
  }

 private:
  /// The next one behind `last`.
  bool return_segment(ByteRange& last);
  [[nodiscard]] bool meets_other_data(ByteRange bytes) const;

  bool are_to_end_ = false;  // first, as whoever leaves a call looks at it
  bool have_ended_ = false;
  AliasArena* arena_;
  Others& others_;
  std::unique_ptr<Sweeper> sweeper_;
  BufferHistory history_;
};

}  // namespace sluice
