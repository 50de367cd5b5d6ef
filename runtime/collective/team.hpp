// The members of a communicator on one node, and where this rank stands in their collective calls.
//
// Owns the number of the running call, and what is known of when its own slots may be written again. It moves no user data and
// waits for nothing: its caller asks `is_there` until it is, and progresses meanwhile.
//
// A call goes so:
//
//   begin               takes the next number
//   await_room          until this rank's slot may be written
//   payload, publish    its part, and that it has entered
//   await, part         the parts of others
//   finish              nothing of them is read any more
//
// Belongs to the engine lock. One call at a time, as MPI demands of a communicator. lane.hpp has the words.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/base/intrusive_list.hpp"
#include "runtime/base/types.hpp"
#include "runtime/collective/description.hpp"
#include "runtime/collective/lane.hpp"

namespace sluice {

class Team {
 public:
  struct Member {
    Peer peer{};
    Lane lane;
    const std::atomic<WakeMask>* wake_mask = nullptr;  // LaneMemory::wake_mask_of
  };
  /// For whom this rank's part of a call is.
  enum class Readers : std::uint8_t { none, one, all };

  /// `first`: the number of the first call, alike on all; none of the lanes has it or a greater one.
  Team(std::vector<Member> members, Rank self, std::uint64_t first);

  [[nodiscard]] std::size_t size() const { return members_.size(); }
  [[nodiscard]] Rank self() const { return Rank{static_cast<int>(self_)}; }
  [[nodiscard]] const std::vector<Member>& members() const { return members_; }
  /// No lane of a member has been given this number or a greater one by this team.
  [[nodiscard]] std::uint64_t next() const { return number_ + 1; }

  // --- one call -----------------------------------------------------------------------------------------------------------
  void begin(const Description& call) {
    ++number_;
    call_ = call;
    word_ = call.word();
    compared_ = call.is_counted() ? ~Description::bytes_in_word : ~std::uint64_t{0};
    is_long_ = Lane::is_long(call.bytes);
    reads_long_ = false;
    differs_ = false;
  }
  void await_room() { awaited_ = Awaited::room; }
  [[nodiscard]] std::byte* payload() const { return own().payload(number_, call_.bytes); }
  /// `reader`: where there is one.
  void publish(Readers readers, Rank reader = Rank{}) {
    const Written written{number_, readers, static_cast<std::size_t>(reader)};
    written_[number_ % Lane::slots] = written;
    if (is_long_) written_long_[number_ % Lane::long_slots] = written;
    own().description(number_).store(word_, std::memory_order_relaxed);
    own().sequence(number_).store(number_, std::memory_order_release);
    own().expect_write(number_ + 1);
  }
  /// A thread of this member sleeps, perhaps for what was published.
  [[nodiscard]] static bool is_asleep(const Member& member) {
    return member.wake_mask && asks_for(member.wake_mask->load(std::memory_order_seq_cst), EventMask::lane);
  }
  /// The parts of all other members, of those of lower rank, or of one.
  void await_all() { await_first(Awaited::all, members_.size()); }
  void await_lower() { await_first(Awaited::lower, self_); }
  void await(Rank rank) {
    awaited_ = Awaited::one;
    awaited_member_ = static_cast<std::size_t>(rank);
  }
  /// What is awaited is there.
  [[nodiscard]] bool is_there() {
    switch (awaited_) {
      case Awaited::room:
        return has_room();
      case Awaited::one:
        return has_come(awaited_member_);
      case Awaited::lower:
      case Awaited::all:
        return have_first_come();
      case Awaited::nothing:
        break;
    }
    return true;
  }
  /// The member whose part is awaited, and was not there when it was last looked for.
  [[nodiscard]] std::optional<Rank> missing() const {
    const bool is_member = awaited_ == Awaited::one || (awaits_several() && awaited_member_ != awaited_end_);
    return is_member ? std::optional(Rank{static_cast<int>(awaited_member_)}) : std::nullopt;
  }
  /// Once it is there.
  [[nodiscard]] const std::byte* part(Rank rank) const {
    const Lane& from = lane(rank);
    return from.payload(number_, call_.is_counted() ? bytes_in(from) : call_.bytes);
  }
  /// Of those whose parts are there, one that is in another call.
  [[nodiscard]] std::optional<Mismatch> mismatch() const {
    if (!differs_) [[likely]]
      return std::nullopt;
    return find_mismatch();
  }
  /// Whether others were told of it, who may wait for it.
  bool finish() {
    if (awaited_ == Awaited::all) done_by_all_ = number_ - 1;
    awaited_ = Awaited::nothing;
    owes_done_ |= is_long_ | reads_long_;
    if (number_ % (owes_done_ ? Lane::long_done_interval : Lane::done_interval) != 0) return false;
    owes_done_ = false;
    own().done().store(number_, std::memory_order_release);
    return true;
  }
  /// There are no more calls.
  void end() { own().done().store(number_, std::memory_order_release); }

  /// ... of any member, and each is through with the last one.
  [[nodiscard]] bool is_over() { return all_have_done(number_); }

  ListLink<Team> waiting_link;  // Teams
  ContextId communicator{};     // for the trace

 private:
  enum class Awaited : std::uint8_t { nothing, room, one, lower, all };
  struct Written {
    std::uint64_t number = 0;
    Readers readers = Readers::none;
    std::size_t reader = 0;
  };

  [[nodiscard]] const Lane& own() const { return members_[self_].lane; }
  [[nodiscard]] const Lane& lane(Rank rank) const { return members_[static_cast<std::size_t>(rank)].lane; }
  [[nodiscard]] bool has_come(std::size_t member) {
    const Lane& lane = members_[member].lane;
    const std::uint64_t sequence = lane.sequence(number_).load(std::memory_order_acquire);
    if (sequence < number_) return false;
    const std::uint64_t word = lane.description(number_).load(std::memory_order_relaxed);
    differs_ |= sequence != number_ || ((word ^ word_) & compared_) != 0;
    reads_long_ |= Lane::is_long(word & Description::bytes_in_word);
    return true;
  }
  [[nodiscard]] std::size_t bytes_in(const Lane& lane) const {
    return lane.description(number_).load(std::memory_order_relaxed) & Description::bytes_in_word;
  }
  [[nodiscard]] std::uint64_t done_by(std::size_t member) const {
    return members_[member].lane.done().load(std::memory_order_acquire);
  }
  [[nodiscard]] bool all_have_done(std::uint64_t number);
  [[nodiscard]] bool has_done(std::size_t member, std::uint64_t number);
  /// Nobody reads what is there, or all are known to be through with it; else it takes a look.
  [[nodiscard]] bool has_room() {
    return is_free(written_[number_ % Lane::slots]) && (!is_long_ || is_free(written_long_[number_ % Lane::long_slots]));
  }
  [[nodiscard]] bool is_free(const Written& last) {
    return last.readers == Readers::none || done_by_all_ >= last.number || have_read(last);
  }
  [[nodiscard]] bool have_read(const Written& last);
  void await_first(Awaited what, std::size_t members) {
    awaited_ = what;
    awaited_member_ = 0;
    awaited_end_ = members;
  }
  [[nodiscard]] bool awaits_several() const { return awaited_ == Awaited::lower || awaited_ == Awaited::all; }
  [[nodiscard]] bool have_first_come() {
    while (awaited_member_ != awaited_end_ && (awaited_member_ == self_ || has_come(awaited_member_))) ++awaited_member_;
    return awaited_member_ == awaited_end_;
  }
  [[nodiscard]] std::optional<Mismatch> find_mismatch() const;

  const std::vector<Member> members_;
  const std::size_t self_;
  std::uint64_t number_;  // of the running call, or of the last one
  Description call_;
  std::uint64_t word_ = 0;      // of the description
  std::uint64_t compared_ = 0;  // those of its bits that are alike on all
  bool is_long_ = false;        // it uses a long slot
  bool reads_long_ = false;     // another member does, whose part has its own length
  bool owes_done_ = false;      // so has one since `done` was written
  bool differs_ = false;        // one that has come is in another call, or beyond
  Awaited awaited_ = Awaited::nothing;
  std::size_t awaited_member_ = 0;  // that one, or of several the first that is not there yet
  std::size_t awaited_end_ = 0;     // of several, behind the last one
  std::uint64_t done_by_all_;       // known without a look
  std::size_t done_by_one_of_ = 0;  // the member whom the last look was at
  std::uint64_t done_by_one_ = 0;
  std::array<Written, Lane::slots> written_{};
  std::array<Written, Lane::long_slots> written_long_{};
};

}  // namespace sluice
