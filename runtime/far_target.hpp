// This rank as a target of a window that is on several nodes: what origins ask of it is done by whoever progresses here, a thread
// in any call or the helper thread. So an origin waits for nobody.
//
// Messages of one origin are taken in their order, one after the other; the next one waits where the first
//
//   needs the lock of MPI_Win_lock, and others hold it     LockQueue
//   is an accumulate, and an earlier one is under way      MPI keeps the order of those of one origin
//   is answered once everything before it is done          flush, unlock, and what ends an epoch
//
//     message ── brings its data, or needs none ──> done
//     message ── data follows, or is fetched ──> under way ── all is there ──> (accumulate: applied in pieces) ──> done
//
// Accumulates are applied under the engine lock, a piece of whole elements at a time. So no other one gets between the reading
// and the writing of an element.
//
// Belongs to the engine lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "runtime/collective/scratch_pool.hpp"
#include "runtime/datatype/layout.hpp"
#include "runtime/far_messenger.hpp"
#include "runtime/window/far_message.hpp"
#include "runtime/window/far_operation.hpp"
#include "runtime/window/lock_queue.hpp"

namespace sluice {

class FarTarget {
 public:
  /// Hears of what concerns this rank as an origin.
  class Host {
   public:
    virtual void take_at_once(std::size_t from, const FarMessage& message) = 0;

   protected:
    ~Host() = default;
  };

  /// What origins do about memory that is not exposed: in a dynamic window they cannot know it.
  enum class Unexposed : std::uint8_t { is_refused, is_damage };
  FarTarget(FarMessenger& messenger, ScratchPool& memory, Unexposed unexposed, Host& host);
  ~FarTarget();
  FarTarget(const FarTarget&) = delete;
  FarTarget& operator=(const FarTarget&) = delete;

  /// Memory that members may access from now on, or not any more.
  void expose(ByteRange bytes) { end_of_.insert_or_assign(bytes.begin, bytes.end); }
  void withdraw(const void* base) { end_of_.erase(reinterpret_cast<std::uintptr_t>(base)); }

  /// Does what can be done now; true when something moved.
  bool advance();
  /// ... and something is.
  [[nodiscard]] bool has_work() const;

  /// How many fences the member has come into.
  [[nodiscard]] std::uint64_t arrivals(std::size_t member) const { return members_[member].arrivals; }
  /// How many accesses to this rank the origin has ended.
  [[nodiscard]] std::uint64_t completed(std::size_t origin) const { return members_[origin].completed; }

 private:
  struct Operation;
  struct Member {
    explicit Member(Rank rank) : in_order(rank, FarMessage::tag_in_order), at_once(rank, FarMessage::tag_at_once) {}

    [[nodiscard]] bool has_arrived() const { return in_order.has_arrived() || at_once.has_arrived(); }

    FarInbox in_order;
    FarInbox at_once;
    std::size_t operations = 0;   // under way
    std::size_t accumulates = 0;  // of these
    bool was_refused = false;     // something since the last answer
    std::uint64_t arrivals = 0;
    std::uint64_t completed = 0;
  };
  /// A part of a message, and what it brings.
  struct Content {
    FarMessage message;
    UserBuffer place;
    std::span<const std::byte> data;
  };

  [[nodiscard]] Content read(std::size_t from, std::span<const std::byte> bytes) const;
  [[nodiscard]] bool exposes(ByteRange bytes) const;
  [[nodiscard]] bool has_arrived() const;
  bool take_in(std::size_t from);
  [[nodiscard]] bool has_lock(std::size_t from, FarMessage::Lock lock);
  bool take(std::size_t from, const Content& content);
  void take_at_once(std::size_t from, const FarMessage& message);
  void answer(std::size_t to, std::uint64_t number);
  void unlock(std::size_t from);

  void begin(std::size_t from, const Content& content);
  void begin_put(Operation& operation, const Content& content);
  void begin_get(Operation& operation);
  void begin_accumulate(Operation& operation, const Content& content);
  void swap(Operation& operation, const Content& content);
  void receive_data(Operation& operation);
  [[nodiscard]] bool carry_on(Operation& operation);
  void apply_piece(Operation& operation);
  void give_result(Operation& operation, std::size_t bytes);
  bool carry_on_operations();

  FarMessenger& messenger_;
  Host& host_;
  std::map<std::uintptr_t, std::uintptr_t> end_of_;  // exposed memory, by where it begins
  std::vector<Member> members_;
  LockQueue locks_;
  ScratchPool& memory_;
  const Unexposed unexposed_;
  std::vector<std::unique_ptr<Operation>> operations_;
  std::uint64_t seen_ = 0;  // of Context::kept
  bool has_news_ = false;   // a message that waited may be taken now
};

}  // namespace sluice
