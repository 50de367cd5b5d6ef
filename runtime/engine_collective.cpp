// Collective calls of short messages inside a node: what each member publishes in its lane is read by all that want it
// (collective/lane.hpp). One step, however many they are.
//
// A call tells others that this process has come so far. So with a receive released whose message is not known it first
// progresses until that is (page-guard rule 1), and only then publishes anything. While it waits it progresses everything, as
// every call does: receives under guard move on, and nothing is settled.

#include <algorithm>
#include <array>

#include "runtime/datatype/layout.hpp"
#include "runtime/engine_impl.hpp"
#include "runtime/guard/user_memory.hpp"

namespace sluice {
namespace {

/// Looks at lanes before anything else is done, and for each look at messages, where nobody else waits for the processor. The
/// first are for members that come at the same time: so long a line takes to go there and back a few times.
constexpr unsigned first_looks = 100;
constexpr unsigned looks = 16;

/// One call, from its entry to its return. It enters the engine (Inside) only if it has to wait, as small sends do.
class TeamCall {
 public:
  TeamCall(Engine::Impl& impl, Team& team, const Description& call) : impl_(impl), team_(team), lock_(impl.mutex) {
    if (impl_.causality.unmatched() != 0) [[unlikely]]
      wait_for_matches();
    team_.begin(call);
    team_.await_room();
    wait();
  }

  void publish(Team::Readers readers, Rank reader = Rank{}) {
    team_.publish(readers, reader);
    if (readers == Team::Readers::one) wake(team_.members()[static_cast<std::size_t>(reader)]);
    if (readers == Team::Readers::all) wake_all();
  }

  /// Until what the team awaits is there.
  void wait() {
    if (!is_there(first_looks)) wait_in_turns();
  }

  void finish() {
    ++impl_.statistics.collective_calls;
    if (team_.finish()) wake_all();
  }

 private:
  /// Other threads of this process see to it that the one that waits is woken.
  class Waiting {
   public:
    Waiting(Teams& teams, Team& team, Lock& lock) : teams_(teams), team_(team), lock_(lock) { teams_.waits(team_); }
    ~Waiting() {
      if (!lock_.owns_lock()) lock_.lock();
      teams_.waits_no_more(team_);
    }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    Teams& teams_;
    Team& team_;
    Lock& lock_;
  };

  [[nodiscard]] bool is_there(unsigned times) {
    if (impl_.job.oversubscribed) return team_.is_there();
    for (unsigned look = 0; look < times; ++look) {
      if (team_.is_there()) return true;
    }
    return false;
  }

  [[gnu::noinline]] void wait_in_turns() {
    const Inside inside(impl_.progress, lock_);
    const Waiting waiting(impl_.teams, team_, lock_);
    progress_until([this] { return is_there(looks); });
  }

  /// Rule 1.
  [[gnu::noinline]] void wait_for_matches() {
    const Inside inside(impl_.progress, lock_);
    progress_until([this] { return impl_.causality.unmatched() == 0; });
  }

  template <typename Condition>
  void progress_until(Condition condition) {
    Waiter waiter(impl_.progress, Waiter::Who::application);
    do {
      if (impl_.progress.round(lock_)) continue;
      waiter.step(lock_);
      waiter.let_cancellation_act(lock_);
    } while (!condition());
    impl_.statistics.waited_ns += waiter.waited_ns();
  }

  void wake(const Team::Member& member) {
    if (Team::is_asleep(member)) [[unlikely]]
      impl_.job.transport->wake_for_lane(member.peer);
  }
  void wake_all() {
    for (const Team::Member& member : team_.members()) {
      if (member.peer != impl_.job.self) wake(member);
    }
  }

  Engine::Impl& impl_;
  Team& team_;
  Lock lock_;
};

void pack(const UserBuffer& from, std::byte* to, std::size_t bytes) {
  if (from.is_contiguous()) return copy_from_user(to, from.data(), bytes);
  LayoutCursor(from).pack({to, bytes});
}

void unpack(const std::byte* from, const UserBuffer& to, std::size_t bytes) {
  if (to.is_contiguous()) return copy_to_user(to.data(), from, bytes);
  LayoutCursor(to).unpack({from, bytes});
}

/// This rank's operand: in the lane if it was published. Otherwise nobody else reads it, and it stays where it is, or is copied
/// into the slot if something is under guard.
const std::byte* own_part(const Team& team, const Engine::Collectives::Operands& operands, std::size_t bytes) {
  if (!operands.root) return team.payload();
  if (!user_memory_is_guarded()) return operands.own;
  copy_from_user(team.payload(), operands.own, bytes);
  return team.payload();
}

/// In the canonical order, whoever does it.
void fold(const Team& team, const Reduction& reduction, const Engine::Collectives::Operands& operands, std::size_t bytes) {
  const std::byte* parts[Teams::most_members];
  for (std::size_t member = 0; member < team.size(); ++member) {
    const Rank rank{static_cast<int>(member)};
    parts[member] = rank == team.self() ? own_part(team, operands, bytes) : team.part(rank);
  }
  const Reduction::Sources sources(parts, team.size());
  if (!user_memory_is_guarded()) return reduction.fold(sources, {&operands.result, 1}, operands.count);
  alignas(cache_line) std::array<std::byte, Lane::most_bytes> result;
  std::byte* const target = result.data();
  reduction.fold(sources, {&target, 1}, operands.count);
  copy_to_user(operands.result, target, bytes);
}

}  // namespace

LaneOffer Engine::Collectives::offer_lane() {
  const Lock lock(impl_->mutex);
  return impl_->teams.offer();
}

void Engine::Collectives::take_back(const LaneOffer& offer) {
  const Lock lock(impl_->mutex);
  impl_->teams.take_back(offer);
}

Team* Engine::Collectives::make_team(const Context& context, std::span<const LaneOffer> offers) {
  const Lock lock(impl_->mutex);
  std::vector<Peer> members;
  for (std::size_t rank = 0; rank < offers.size(); ++rank) members.push_back(context.peer(Rank{static_cast<int>(rank)}));
  return impl_->teams.make(impl_->job.transport, members, context.self(), offers);
}

void Engine::Collectives::retire(Team& team) {
  const Lock lock(impl_->mutex);
  impl_->teams.retire(team);
}

/// Every member that wants a result reads all parts.
std::size_t Engine::Collectives::most_bytes(std::size_t members, Description::Kind kind) {
  constexpr std::size_t most_read = std::size_t{32} << 10;
  return kind == Description::Kind::bcast ? Lane::most_bytes : std::min(Lane::most_bytes, most_read / members);
}

std::optional<Mismatch> Engine::Collectives::barrier(Team& team) {
  TeamCall call(*impl_, team, {.kind = Description::Kind::barrier});
  call.publish(Team::Readers::all);
  team.await_all();
  call.wait();
  const auto mismatch = team.mismatch();
  call.finish();
  return mismatch;
}

std::optional<Mismatch> Engine::Collectives::bcast(Team& team, Rank root, const UserBuffer& buffer) {
  const std::size_t bytes = buffer.bytes();
  TeamCall call(
      *impl_, team,
      {.kind = Description::Kind::bcast, .root = static_cast<std::uint16_t>(root), .bytes = static_cast<std::uint32_t>(bytes)});
  std::optional<Mismatch> mismatch;
  if (team.self() == root) {
    pack(buffer, team.payload(), bytes);
    call.publish(Team::Readers::all);
  } else {
    call.publish(Team::Readers::none);
    team.await(root);
    call.wait();
    mismatch = team.mismatch();
    if (!mismatch) unpack(team.part(root), buffer, bytes);
  }
  call.finish();
  return mismatch;
}

std::optional<Mismatch> Engine::Collectives::reduce(Team& team, const Reduction& reduction, const Operands& operands) {
  const std::size_t bytes = operands.count * reduction.element_bytes();
  const bool has_root = operands.root.has_value();
  TeamCall call(*impl_, team,
                {.kind = has_root ? Description::Kind::reduce : Description::Kind::allreduce,
                 .reduction = reduction.code(),
                 .root = static_cast<std::uint16_t>(operands.root.value_or(Rank{0})),
                 .bytes = static_cast<std::uint32_t>(bytes)});
  const bool is_root = has_root && *operands.root == team.self();
  if (!is_root) copy_from_user(team.payload(), operands.own, bytes);
  std::optional<Mismatch> mismatch;
  if (has_root && !is_root) {
    call.publish(Team::Readers::one, *operands.root);
  } else {
    call.publish(has_root ? Team::Readers::none : Team::Readers::all);
    team.await_all();
    call.wait();
    mismatch = team.mismatch();
    if (!mismatch) fold(team, reduction, operands, bytes);
  }
  call.finish();
  return mismatch;
}

}  // namespace sluice
