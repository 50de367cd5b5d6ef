// The engine: contexts, requests, and the progress of both. Everything that the MPI surface does with messages, it does
// through this class; it knows neither MPI nor any particular transport.
//
// Threading: every public function may be called by any application thread, takes the engine lock inside, and holds it
// neither while application memory is touched through its own address (see user_memory.hpp) nor on return.
// Nothing throws except the constructor (std::runtime_error).
#pragma once

#include <sys/uio.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/alias/memory_moves.hpp"
#include "runtime/base/call_site.hpp"
#include "runtime/base/types.hpp"
#include "runtime/collective/neighbours.hpp"
#include "runtime/collective/reduction.hpp"
#include "runtime/collective/teams.hpp"
#include "runtime/datatype/layout.hpp"
#include "runtime/engine/job.hpp"
#include "runtime/engine/outcome.hpp"
#include "runtime/host_calls.hpp"
#include "runtime/policy/release_policy.hpp"
#include "runtime/trace/kinds.hpp"
#include "runtime/window/member.hpp"
#include "runtime/window/waits.hpp"

namespace sluice {

struct CollectiveOrder;  // collective_calls.hpp
struct LaneOrder;        // lane_calls.hpp
class Context;           // one adopted communicator
class Unexpected;        // one message taken out of matching by a matched probe
class Request;           // one send or receive that was started
class Waiter;            // private to the engine
class HostNeeds;
class PageGuard;
class RegistrationCache;

struct EngineStatistics;

class Engine {
 public:
  using Parts = EngineParts;

  struct Impl;
  // What callers have to do with the engine besides messages, each in a class of its own. They are parts of the engine, and live
  // as long; threading and errors are those of the engine.

  /// Adopted communicators.
  class Contexts {
   public:
    explicit Contexts(Impl* impl) : impl_(impl) {}
    /// Messages for `id` that came before this call are kept for it.
    Context* adopt(ContextId id, std::vector<Peer> group, Rank self);
    /// Pending operations finish undisturbed; no new ones may be started, unless it is kept.
    void retire(Context* context);
    /// A persistent operation may be started in it until it is let go.
    void keep(Context& context);
    void let_go(Context& context);
    /// Who copies large messages of this context inside a node, as their receivers here decide it from now on.
    void choose_rendezvous(Context& context, Rendezvous rendezvous);
    /// Whether the program may go on after an error in this context, and so must be told of it by the call that met it.
    void let_errors_return(Context& context, bool may_return);

   private:
    Impl* const impl_;
  };

  /// What becomes of operations that were started, and of buffered sends.
  class Completion {
   public:
    explicit Completion(Impl* impl) : impl_(impl) {}
    /// The word that says that it is complete, to be read with acquire; the request's as long as that is not taken.
    [[nodiscard]] static const std::atomic<bool>& completion_of(const Request& request);
    /// How many operations have been completed. As long as it stays the same (acquire), none has become complete.
    [[nodiscard]] std::uint64_t completions() const;
    /// Returns when at least one of the non-null requests is complete.
    void wait_any(std::span<Request* const> requests);
    /// The outcome of a request that is complete, without freeing it (MPI_Request_get_status).
    [[nodiscard]] static Outcome peek(const Request& request);
    /// Requests that are complete, and whose outcomes were looked at with `peek`, as RequestPool wants them: they are gone
    /// afterwards.
    void give_back(Request* first, Request* last);
    /// A receive that is not matched yet completes as cancelled; anything else stays as it is.
    void cancel(Request& request);
    /// The application forgets the request; it is finished in the background.
    void detach(Request* request);
    /// Bytes of buffered sends that have not left yet, each with `overhead` added.
    [[nodiscard]] std::size_t buffered_bytes(std::size_t overhead);
    void wait_buffered();
    void wait_buffered(const Context& context);  // those of one communicator

   private:
    Impl* const impl_;
  };

  /// Messages that have come and met no receive.
  class Probes {
   public:
    explicit Probes(Impl* impl) : impl_(impl) {}
    /// Polls once; true when a message matches, described by `found`.
    bool probe(Context& context, Rank from, Tag tag, Outcome& found);
    void wait_probe(Context& context, Rank from, Tag tag, Outcome& found);
    /// As above, and takes the message out of matching; nullptr when there is none.
    Unexpected* matched_probe(Context& context, Rank from, Tag tag, Outcome& found);
    Unexpected* wait_matched_probe(Context& context, Rank from, Tag tag, Outcome& found);

   private:
    Impl* const impl_;
  };

  /// What releases and alias blocks keep the program from doing with its memory, and what the program does with it.
  class Memory {
   public:
    explicit Memory(Impl* impl) : impl_(impl) {}
    /// Anything under guard? One relaxed load.
    [[nodiscard]] static bool anything_released();
    /// The calling thread has released a receive at some time.
    [[nodiscard]] static bool released_by_this_thread();
    /// The caller interrupted this very thread inside the engine (it is a signal handler): it must not wait for anything here.
    [[nodiscard]] static bool this_thread_is_inside();
    /// Waits until nothing is under guard any more (rules 1, 9, 11).
    void settle_all(trace::SettleCause cause = trace::SettleCause::host_call);
    /// Waits until no release stands in the way of the host's call that needs this (rules 1, 9; docs/host-calls.md).
    void settle_for_host(const HostNeeds& needs);
    /// Waits until these bytes can be read or written (rule 6): until no released receive overlaps them, and to write them, no
    /// released send either.
    void settle(ByteRange bytes, Access access);
    /// Until neither overlaps them, without calling the host, which allocates memory: for calls that come from inside an
    /// allocator (rule 12).
    void settle_without_host(ByteRange bytes);
    /// Waits until the message of every released receive is known: before output that Sluice does not carry (rule 1).
    void settle_unknown();
    /// Blocks in these bytes become private memory again, contents kept; before the application moves or resizes them.
    void make_private(ByteRange bytes);
    /// The program's address space is about to be limited: what aliases take of it is given back, now or when nothing is on its
    /// way.
    void leave_address_space();
    /// Blocks in these bytes read as zeros from now on (MADV_DONTNEED).
    void discard(ByteRange bytes);
    /// Byte count of a receive that was released before it was known; waits for it (rule 3).
    std::size_t resolve(std::uint64_t lazy_token);

    /// Completes what is under guard and keeps everything still, until the parent calls `after_fork` and the child
    /// `Engine::abandon`.
    void prepare_fork();
    void after_fork();

   private:
    Impl* const impl_;
  };

  /// Around calls that the host carries.
  class HostCalls {
   public:
    explicit HostCalls(Impl* impl) : impl_(impl) {}
    /// The helper thread answers peers while the host has the application's thread. One relaxed load.
    [[nodiscard]] static bool prepared() { return detail::host_call_prepared.load(std::memory_order_relaxed); }
    void prepare();
    /// Returns once no page is being replaced. Who counts a call of the host's first, and asks this then, has no page replaced
    /// during the call: of him and of who replaces pages, and looks at the count after having said so, one sees the other
    /// (Dekker).
    static void wait_until_memory_rests() {
      if (MemoryMoves::any()) [[unlikely]]
        wait_for_moves();
    }

   private:
    static void wait_for_moves();

    Impl* const impl_;
  };

  /// Collective calls: of short messages inside a node (engine_collective.cpp), and of others (engine_collective_calls.cpp).
  class Collectives {
   public:
    explicit Collectives(Impl* impl) : impl_(impl) {}
    /// What this rank brings into a team; who has asked calls `make_team` or `take_back`. All members are on this node.
    LaneOffer offer_lane();
    void take_back(const LaneOffer& offer);
    /// By rank of the context. nullptr when somebody has no lane.
    Team* make_team(const Context& context, std::span<const LaneOffer> offers);
    /// Its communicator has been freed: no member calls anything of it any more.
    void retire(Team& team);
    /// Longest packed message of a call with data, or its longest block, by the number of members. It is alike on all ranks.
    [[nodiscard]] static std::size_t most_bytes(std::size_t members, Description::Kind kind);
    /// What the calling thread waits for: one of lane_steps.hpp. Answers with a member that is in another call, if one is seen.
    /// Nothing of the call is of use then.
    template <typename Step>
    [[nodiscard]] std::optional<Mismatch> through_lanes(Team& team, const Step& step);
    /// Nonblocking. Of the same members, in an order of their own.
    [[nodiscard]] Request* start_in_lanes(Context& context, const Team& team, LaneOrder order, CallSite site);
    /// Gather, scatter and alltoall with parts whose lengths only pairs of ranks know. `sent` and `received`: by rank, or the one
    /// part of this rank, or none. Bit by bit of those: what lanes had no room for. It goes by messages, with an order that the
    /// caller gives `carry_out` if there is any on this rank.
    struct Exchanged {
      std::optional<Mismatch> mismatch;
      std::uint32_t sent_left = 0;
      std::uint32_t received_left = 0;
      bool is_truncated = false;  // a part was longer than this rank expected
      [[nodiscard]] bool is_complete() const { return sent_left == 0 && received_left == 0; }
    };
    [[nodiscard]] Exchanged exchange(Context& context, Team& team, Description::Kind kind, Rank root,
                                     std::span<const UserBuffer> sent, std::span<const UserBuffer> received);
    /// Between neighbours. `sent`: by destination, or one part for all; `received`: by source.
    struct Neighbours {
      Description::Kind kind{};
      const Neighbourhood& between;
      std::span<const UserBuffer> sent;
      std::span<const UserBuffer> received;
    };
    /// By edge, empty where nothing is: what lanes had no room for.
    struct NeighboursExchanged {
      std::optional<Mismatch> mismatch;
      std::vector<bool> sent_left;
      std::vector<bool> received_left;
      bool is_truncated = false;
      [[nodiscard]] bool is_complete() const { return sent_left.empty() && received_left.empty(); }
    };
    [[nodiscard]] NeighboursExchanged exchange(Context& context, Team& team, const Neighbours& call);

    // By messages: of any length, to any node (collective_calls.hpp). All members call the same, in one order.
    /// Returns when the call is done, or what is left of it is under guard.
    [[nodiscard]] Outcome carry_out(Context& context, CollectiveOrder order, CallSite site);
    [[nodiscard]] Request* start(Context& context, CollectiveOrder order, CallSite site);
    /// As CollectiveCalls has them.
    [[nodiscard]] std::optional<std::uint32_t> make_persistent(Context& context);
    void unmake_persistent(Context& context);

   private:
    Impl* const impl_;
  };

  /// What the summary asks.
  class Reports {
   public:
    explicit Reports(Impl* impl) : impl_(impl) {}
    /// What releases were worth, by call site.
    [[nodiscard]] std::vector<ReleasePolicy::Report> call_sites() const;
    /// nullptr when nothing can be released.
    [[nodiscard]] const PageGuard* guard() const;
    /// nullptr when no adapter was used.
    [[nodiscard]] const RegistrationCache* registrations() const;

   private:
    Impl* const impl_;
  };

  explicit Engine(const Parts& parts);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // --- blocking calls -----------------------------------------------------------------------------------------------
  /// Returns when the buffer may be reused. `to` is a valid rank of the context.
  void send(Context& context, Rank to, Tag tag, const void* data, std::size_t bytes, SendMode mode, CallSite site);
  void send(Context& context, Rank to, Tag tag, const UserBuffer& buffer, SendMode mode, CallSite site);
  /// Returns when the message is there, or is under guard (released).
  Outcome receive(Context& context, Rank from, Tag tag, void* data, std::size_t capacity, CallSite site);
  Outcome receive(Context& context, Rank from, Tag tag, const UserBuffer& buffer, CallSite site);

  // --- nonblocking calls --------------------------------------------------------------------------------------------
  /// Whether the application's call waits for the operation that it starts (MPI_Sendrecv, MPI_Mrecv).
  enum class Caller : std::uint8_t { goes_on, waits };
  /// start_send answers nullptr when the message has left already and there is nothing to wait for.
  Request* start_send(Context& context, Rank to, Tag tag, std::span<const std::byte> data, SendMode mode, CallSite site,
                      Caller caller = Caller::goes_on);
  Request* start_send(Context& context, Rank to, Tag tag, const UserBuffer& buffer, SendMode mode, CallSite site,
                      Caller caller = Caller::goes_on);
  /// Of a copy, which lives as long as the request.
  Request* start_send(Context& context, Rank to, Tag tag, std::unique_ptr<std::byte[]> copy, std::size_t bytes, CallSite site,
                      Caller caller = Caller::goes_on, SendMode mode = SendMode::standard);
  Request* start_receive(Context& context, Rank from, Tag tag, std::span<std::byte> buffer, CallSite site,
                         Caller caller = Caller::goes_on);
  Request* start_receive(Context& context, Rank from, Tag tag, const UserBuffer& buffer, CallSite site,
                         Caller caller = Caller::goes_on);
  Request* start_receive(Unexpected* message, const UserBuffer& buffer, CallSite site, Caller caller = Caller::goes_on);

  /// Done, without progressing. Lock-free.
  [[nodiscard]] static bool is_complete(const Request& request);
  /// Polls everything once, for whoever waits for several messages or for one, or has not said it: several that have come are
  /// taken at once then, as after a wait for several.
  enum class Awaits : std::uint8_t { not_said, several };
  /// The host progresses in some of these polls, unless the caller calls it after each of them anyway.
  enum class Host : std::uint8_t { has_turns, is_called };
  void progress(Awaits awaits = Awaits::not_said, Host host = Host::has_turns);
  /// Returns when every request is complete or released; `take` then accepts each of them. Null entries are skipped.
  void wait_all(std::span<Request* const> requests, CallSite site);
  /// The outcome; the request is gone afterwards. Only after is_complete or wait_all said so.
  Outcome take(Request* request);

  // --- waiting for a mixture of Sluice's requests and the host's -------------------------------------------------------
  /// One step of a caller's own wait loop: `while (!ready()) { engine.progress(); pause.step(); }`.
  /// Spins, yields, then sleeps; polls the host through HostHooks as often as need be.
  class Pause {
   public:
    explicit Pause(Engine& engine);
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;
    void step();

   private:
    Impl& impl_;
    std::unique_ptr<Waiter> waiter_;
  };

  /// What calls of windows wait for, in memory that the members share, and whom they wake (window/shared_sync.hpp).
  class Windows {
   public:
    explicit Windows(Engine& engine) : impl_(engine.impl_.get()) {}
    /// The ranks of a context of that size, who are all on this node.
    [[nodiscard]] std::vector<WindowMember> members(const Context& context, std::size_t size) const;
    /// Any memory of the member's can be read and written from here.
    [[nodiscard]] bool reaches(const WindowMember& member) const;
    /// Whoever closes or replaces pages has seen what kept_memory was told of before.
    void see_kept_memory() const;
    /// Between places of a member's memory, one after the other, and packed bytes here. False when that failed somewhere.
    [[nodiscard]] bool read(const WindowMember& member, std::span<const iovec> places, std::byte* target) const;
    [[nodiscard]] bool write(const WindowMember& member, std::span<const iovec> places, const std::byte* source) const;
    /// Returns once it is there, or so much time has passed: then false.
    bool wait(WindowWait& wait, std::uint64_t limit_ns);
    /// Something was published for which a thread of the member may wait.
    void wake(const WindowMember& member) {
      if (member.is_asleep()) [[unlikely]]
        wake_sleeper(member);
    }

   private:
    void wake_sleeper(const WindowMember& member);

    Impl* const impl_;
  };

  /// Everything that this process started has left and everything under guard is complete. The last of all, before the ranks
  /// meet: peers may be gone before this process has left that call, though what it sent to itself may be pending for ever. So
  /// from now on one that ends is no news.
  void drain();

  [[nodiscard]] const EngineStatistics& statistics() const;
  /// This process ends the job (MPI_Abort): peers that vanish are no news, and they are told that this one will. In a signal
  /// handler that interrupted the engine nobody is told.
  void announce_end();

  /// In the child of a fork: the helper thread is gone, nothing of the engine may be used but its destructor.
  void abandon();

  [[nodiscard]] Contexts& contexts() { return contexts_; }
  [[nodiscard]] Completion& completion() { return completion_; }
  [[nodiscard]] Probes& probes() { return probes_; }
  [[nodiscard]] Memory& memory() { return memory_; }
  [[nodiscard]] HostCalls& host_calls() { return host_calls_; }
  [[nodiscard]] Collectives& collectives() { return collectives_; }
  [[nodiscard]] const Reports& reports() const { return reports_; }

 private:
  friend class FarWindowCalls;  // calls of windows on several nodes (far_window_calls.hpp)

  std::unique_ptr<Impl> impl_;
  Contexts contexts_;
  Completion completion_;
  Probes probes_;
  Memory memory_;
  HostCalls host_calls_;
  Collectives collectives_;
  Reports reports_;
};

}  // namespace sluice
