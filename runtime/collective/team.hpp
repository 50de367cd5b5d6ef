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
// Of calls that overlap (started_calls.hpp) each is suspended while the team is at another one.
//
// Belongs to the engine lock. lane.hpp has the words.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/base/intrusive_list.hpp"
#include "runtime/base/types.hpp"
#include "runtime/collective/description.hpp"
#include "runtime/collective/lane.hpp"

namespace sluice {

class StartedCalls;

class Team {
 public:
  struct Member {
    Peer peer{};
    Lane lane;
    const std::atomic<WakeMask>* wake_mask = nullptr;  // LaneMemory::wake_mask_of
  };
  /// For whom this rank's part of a call is.
  enum class Readers : std::uint8_t { none, one, some, all };
  /// Whether a call ends before the next one begins, as MPI demands of blocking ones.
  enum class Calls : std::uint8_t { follow_each_other, overlap };

 private:
  enum class Awaited : std::uint8_t { nothing, room, one, some, lower, all };

 public:
  /// Where this rank stands in a call. Its contents are the team's.
  struct Running {
    std::uint64_t number = 0;
    Description call;
    std::uint64_t word = 0;                             // of the description
    std::uint64_t compared = 0;                         // those of its bits that are alike on all
    bool is_long = false;                               // it uses a long slot
    bool is_wide = false;                               // ... or a wide one
    std::uint64_t done_interval = Lane::done_interval;  // by the longest payload that it publishes or reads
    bool differs = false;                               // one that has come is in another call, or beyond
    Awaited awaited = Awaited::nothing;
    std::size_t awaited_member = 0;  // that one, or of several the first that is not there yet
    std::size_t awaited_end = 0;     // of several, behind the last one
    std::span<const Rank> some{};    // of some, those; the two above are places in it
  };

  /// `first`: the number of the first call, alike on all; none of the lanes has it or a greater one.
  Team(std::vector<Member> members, Rank self, std::uint64_t first, Calls calls = Calls::follow_each_other);

  [[nodiscard]] std::size_t size() const { return members_.size(); }
  [[nodiscard]] Rank self() const { return Rank{static_cast<int>(self_)}; }
  [[nodiscard]] const std::vector<Member>& members() const { return members_; }
  /// No lane of a member has been given this number or a greater one by this team.
  [[nodiscard]] std::uint64_t next() const { return begun_ + 1; }

  // --- one call -----------------------------------------------------------------------------------------------------------
  void begin(const Description& call) {
    now_.number = ++begun_;
    now_.call = call;
    now_.word = call.word();
    now_.compared = call.is_counted() ? ~Description::bytes_in_word : ~std::uint64_t{0};
    now_.is_wide = Lane::is_wide(call.bytes);
    now_.is_long = Lane::is_long(call.bytes) && !now_.is_wide;
    now_.done_interval = Lane::done_interval_of(call.bytes);
    now_.differs = false;
  }
  void await_room() { now_.awaited = Awaited::room; }
  void await_nobody() { now_.awaited = Awaited::nothing; }
  [[nodiscard]] std::byte* payload() const { return own().payload(now_.number, now_.call.bytes); }
  /// `reader`: where there is one.
  void publish(Readers readers, Rank reader = Rank{}) { publish({now_.number, readers, static_cast<std::size_t>(reader), {}}); }
  /// For these, which stay where they are as long as the team. This rank may be among them.
  void publish(std::span<const Rank> readers) { publish({now_.number, Readers::some, 0, readers}); }
  /// A thread of this member sleeps, perhaps for what was published.
  [[nodiscard]] static bool is_asleep(const Member& member) {
    return member.wake_mask && asks_for(member.wake_mask->load(std::memory_order_seq_cst), EventMask::lane);
  }
  /// The parts of all other members, of those of lower rank, or of one.
  void await_all() { await_first(Awaited::all, members_.size()); }
  void await_lower() { await_first(Awaited::lower, self_); }
  void await(Rank rank) {
    now_.awaited = Awaited::one;
    now_.awaited_member = static_cast<std::size_t>(rank);
  }
  /// ... of these, which stay where they are. This rank may be among them.
  void await_some(std::span<const Rank> ranks) {
    await_first(Awaited::some, ranks.size());
    now_.some = ranks;
  }
  /// What is awaited is there.
  [[nodiscard]] bool is_there() {
    switch (now_.awaited) {
      case Awaited::room:
        return has_room();
      case Awaited::one:
        return has_come(now_.awaited_member);
      case Awaited::some:
        return have_some_come();
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
    const bool is_member = now_.awaited == Awaited::one || (awaits_several() && now_.awaited_member != now_.awaited_end);
    return is_member ? std::optional(Rank{static_cast<int>(member_at(now_.awaited_member))}) : std::nullopt;
  }
  /// Once it is there.
  [[nodiscard]] const std::byte* part(Rank rank) const {
    const Lane& from = lane(rank);
    return from.payload(now_.number, now_.call.is_counted() ? bytes_in(from) : now_.call.bytes);
  }
  /// Of those whose parts are there, one that is in another call.
  [[nodiscard]] std::optional<Mismatch> mismatch() const {
    if (!now_.differs) [[likely]]
      return std::nullopt;
    return find_mismatch();
  }
  /// Whether others were told of it, who may wait for it.
  bool finish() {
    if (now_.awaited == Awaited::all) done_by_all_ = now_.number - 1;
    now_.awaited = Awaited::nothing;
    owed_interval_ = std::min(owed_interval_, now_.done_interval);
    if (now_.number % owed_interval_ != 0) return false;
    owed_interval_ = Lane::done_interval;
    tell_done(now_.number);
    return true;
  }
  /// There are no more calls.
  void end() { tell_done(begun_); }

  /// ... of any member, and each is through with the last one.
  [[nodiscard]] bool is_over() { return all_have_done(begun_); }

  // --- instead of `finish`, of calls that overlap
  /// Where the call stands that the team is at.
  [[nodiscard]] const Running& suspend() const { return now_; }
  void resume(const Running& call) { now_ = call; }
  /// All calls before `number` have ended, by and by more of them. Whether others were told of it, who may wait for it.
  bool have_ended_before(std::uint64_t number);

  ListLink<Team> waiting_link;      // Teams
  ContextId communicator{};         // for the trace
  StartedCalls* started = nullptr;  // the nonblocking calls of the same members

 private:
  struct Written {
    std::uint64_t number = 0;
    Readers readers = Readers::none;
    std::size_t reader = 0;
    std::span<const Rank> some{};
  };

  void publish(const Written& written) {
    written_[now_.number % Lane::slots] = written;
    if (now_.is_long) written_long_[now_.number % Lane::long_slots] = written;
    if (now_.is_wide) [[unlikely]]
      written_wide_[now_.number % Lane::wide_slots] = written;
    own().description(now_.number).store(now_.word, std::memory_order_relaxed);
    own().sequence(now_.number).store(now_.number, std::memory_order_release);
    own().expect_write(now_.number + 1);
  }

  void tell_done(std::uint64_t number) { own().done().store(number, std::memory_order_release); }
  [[nodiscard]] const Lane& own() const { return members_[self_].lane; }
  [[nodiscard]] const Lane& lane(Rank rank) const { return members_[static_cast<std::size_t>(rank)].lane; }
  [[nodiscard]] bool has_come(std::size_t member) {
    const Lane& lane = members_[member].lane;
    const std::uint64_t sequence = lane.sequence(now_.number).load(std::memory_order_acquire);
    if (sequence < now_.number) return false;
    const std::uint64_t word = lane.description(now_.number).load(std::memory_order_relaxed);
    now_.differs |= sequence != now_.number || ((word ^ now_.word) & now_.compared) != 0;
    now_.done_interval = std::min(now_.done_interval, Lane::done_interval_of(word & Description::bytes_in_word));
    return true;
  }
  [[nodiscard]] std::size_t bytes_in(const Lane& lane) const {
    return lane.description(now_.number).load(std::memory_order_relaxed) & Description::bytes_in_word;
  }
  [[nodiscard]] std::uint64_t done_by(std::size_t member) const {
    return members_[member].lane.done().load(std::memory_order_acquire);
  }
  [[nodiscard]] bool all_have_done(std::uint64_t number);
  [[nodiscard]] bool has_done(std::size_t member, std::uint64_t number);
  /// Nobody reads what is there, or all are known to be through with it; else it takes a look.
  [[nodiscard]] bool has_room() {
    if (!is_free(written_[now_.number % Lane::slots])) return false;
    if (now_.is_wide) [[unlikely]]
      return is_free(written_wide_[now_.number % Lane::wide_slots]);
    return !now_.is_long || is_free(written_long_[now_.number % Lane::long_slots]);
  }
  [[nodiscard]] bool is_free(const Written& last) {
    if (last.number >= ended_before_) [[unlikely]]
      return false;
    return last.readers == Readers::none || done_by_all_ >= last.number || have_read(last);
  }
  [[nodiscard]] bool have_read(const Written& last);
  void await_first(Awaited what, std::size_t members) {
    now_.awaited = what;
    now_.awaited_member = 0;
    now_.awaited_end = members;
  }
  [[nodiscard]] bool awaits_several() const { return now_.awaited > Awaited::one; }
  [[nodiscard]] std::size_t member_at(std::size_t place) const {
    return now_.awaited == Awaited::some ? static_cast<std::size_t>(now_.some[place]) : place;
  }
  [[nodiscard]] bool have_first_come() {
    while (now_.awaited_member != now_.awaited_end && (now_.awaited_member == self_ || has_come(now_.awaited_member)))
      ++now_.awaited_member;
    return now_.awaited_member == now_.awaited_end;
  }
  [[nodiscard]] bool have_some_come() {
    for (; now_.awaited_member != now_.awaited_end; ++now_.awaited_member) {
      const std::size_t member = member_at(now_.awaited_member);
      if (member != self_ && !has_come(member)) return false;
    }
    return true;
  }
  [[nodiscard]] std::optional<Mismatch> find_mismatch() const;

  static constexpr std::uint64_t always = ~std::uint64_t{0};

  const std::vector<Member> members_;
  const std::size_t self_;
  std::uint64_t begun_;  // the number of the last call that has begun
  Running now_;
  std::uint64_t owed_interval_ = Lane::done_interval;  // by the longest payload since `done` was written
  std::uint64_t ended_before_;      // own slots with this number or a greater one are still read here; `always`: none
  std::uint64_t done_by_all_;       // known without a look
  std::size_t done_by_one_of_ = 0;  // the member whom the last look was at
  std::uint64_t done_by_one_ = 0;
  std::array<Written, Lane::slots> written_{};
  std::array<Written, Lane::long_slots> written_long_{};
  std::array<Written, Lane::wide_slots> written_wide_{};
};

}  // namespace sluice
