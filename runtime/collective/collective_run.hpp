// One running call that goes by messages: carries its schedule out (schedule.hpp), for whoever progresses.
//
// Owns the schedule, the scratch block, packed copies of blocks with gaps that are cut or folded, and where the call stands. It
// knows neither requests nor locks: messages go through `Messages`. It waits for nothing.
//
//   packing ──> local ──> messages ──┬──> local ... of the next round
//                                    └──> unpacking ──> done
//
//   packing, unpacking   blocks with gaps into their packed copies, and back
//   local                the round's messages are started; its local steps are being done, a piece at a time. With an operation
//                        of the program's own a piece is: `work`, which copies its operands aside, `call_program`, and `work`
//   messages             they are done; the round ends when all its messages are over
//
// The last round may be left before its messages are over, if nothing is to be done after it (`is_last_wait`): its receives may
// be released, and go on behind the guard as any receive does.
//
// Threading: belongs to the engine lock, but for `work`. That is called without it by one thread at a time, with nothing else
// called meanwhile; its caller sees to that, and to it that nothing more comes under guard (guard/user_memory.hpp).
// `call_program` is called without the lock, too, and only by a thread of the program that is outside the engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/collective/collective_tags.hpp"
#include "runtime/collective/own_operation.hpp"
#include "runtime/collective/reduction.hpp"
#include "runtime/collective/schedule.hpp"
#include "runtime/collective/scratch_pool.hpp"
#include "runtime/datatype/layout.hpp"

namespace sluice {

class Request;

class CollectiveRun {
 public:
  /// Carries messages between the ranks of the communicator, apart from those of the program.
  class Messages {
   public:
    struct Part {
      Rank peer{};
      Tag tag{};
      UserBuffer buffer;
    };
    virtual Request* receive(const Part& part) = 0;
    virtual Request* send(const Part& part) = 0;
    /// Nothing is to come of it, and its memory may be used again.
    [[nodiscard]] virtual bool is_over(const Request& request) const = 0;
    /// Of one that is over, or may go on by itself. Its bytes, where they are known; it is gone afterwards.
    virtual std::optional<std::size_t> take(Request* request) = 0;

   protected:
    ~Messages() = default;
  };

  /// By block, as plans have them (plans/plans.hpp).
  struct Buffers {
    std::vector<UserBuffer> operand;
    std::vector<UserBuffer> result;
  };

  using Tags = CollectiveTags;

  /// `reduction`: nullptr where the schedule only copies, or the operation is the program's own.
  CollectiveRun(Schedule schedule, Buffers buffers, const Reduction* reduction, Tags tags, Messages& messages,
                ScratchPool& memory, std::unique_ptr<OwnOperation> own_operation = nullptr);
  CollectiveRun(const CollectiveRun&) = delete;
  CollectiveRun& operator=(const CollectiveRun&) = delete;

  /// Does what can be done at once, up to the next local step; true when something has changed.
  bool advance();
  /// The next thing to do is `work`.
  [[nodiscard]] bool has_work() const;
  /// Does a piece of it, of about so many bytes.
  void work(std::size_t bytes);
  /// The next thing to do is `call_program`, for a piece.
  [[nodiscard]] bool awaits_program() const { return fold_ && !fold_->result(); }
  void call_program() { fold_->combine(); }
  [[nodiscard]] bool is_done() const { return phase_ == Phase::done; }
  /// `advance` would change something.
  [[nodiscard]] bool can_advance() const;
  /// Other ranks, or this one, may have to wait for what this rank does after the messages that are under way.
  [[nodiscard]] bool has_more_rounds() const { return !is_done() && !is_last_wait(); }

  /// Nothing is left to be done but to wait for `open`.
  [[nodiscard]] bool is_last_wait() const {
    return phase_ == Phase::messages && round_ + 1 == schedule_.rounds.size() && packed_.empty() && !ends_in_scratch_;
  }
  /// Messages of the round: nullptr where one has been taken.
  [[nodiscard]] std::span<Request* const> open() const { return open_; }
  /// After the last wait: each is over, or goes on by itself.
  void finish();

  /// Of a message that is no part of this call, though it has its number.
  [[nodiscard]] bool is_odd(Tag tag) const { return !uses_parts_ && tags_.has_number_of(tag) && tag != tags_.of(0); }
  /// A rank that has sent another number of bytes than was expected.
  [[nodiscard]] std::optional<Rank> odd_one() const { return odd_one_; }
  /// Its messages are of another call.
  void note_odd_one(Rank rank) { odd_one_ = rank; }

 private:
  enum class Phase : std::uint8_t { packing, local, messages, unpacking, done };
  struct Block {
    UserBuffer user;
    ScratchPool::Block packed;
    bool is_written = false;
  };
  class Piece;

  [[nodiscard]] Block& block_of(const Region& region);
  void note_use(const Region& region, bool is_moved, bool is_written);
  void pack_what_is_cut();
  [[nodiscard]] UserBuffer buffer_of(const Region& region);
  [[nodiscard]] std::byte* place(const Region& region);
  void begin_round();
  bool take_over();
  void take(std::size_t index);
  [[nodiscard]] std::size_t steps() const;
  std::size_t move(const Block& block, std::size_t bytes);
  std::size_t combine(const Round::Local& step, std::size_t bytes);
  std::size_t combine_by_program(const Round::Local& step, std::size_t bytes);
  void copy(const Region& from, const Region& to, std::size_t bytes);

  const Schedule schedule_;
  std::vector<Block> operand_;
  std::vector<Block> result_;
  std::vector<Block*> packed_;
  ScratchPool& memory_;
  ScratchPool::Block scratch_;
  const Reduction* const reduction_;
  const std::unique_ptr<OwnOperation> own_operation_;
  std::optional<OwnFold> fold_;  // of the piece that is being combined
  const Tags tags_;
  bool uses_parts_ = false;
  bool ends_in_scratch_ = false;  // the last round receives into it, so that it must stay until then
  Messages& messages_;

  Phase phase_ = Phase::packing;
  std::size_t round_ = 0;
  std::size_t step_ = 0;    // of the phase
  std::size_t offset_ = 0;  // in the step
  std::vector<Request*> open_;
  std::size_t first_open_ = 0;
  std::optional<Rank> odd_one_;
};

}  // namespace sluice
