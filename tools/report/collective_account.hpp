// Adds collective calls to a report: how long each took and waited, who was late, and what of it was hidden.
//
// Who was late is known only when all ranks of a call are: the one that entered last of those that a rank waited for. So the
// events of all ranks come here in order of time. A call of which a rank is missing goes by what each of the others has seen.
//
// Memory: what is under way at a time, at most `max_open` calls of each rank; and who entered the calls of which not all is
// known, at most `max_members`. Of more, the oldest are told as far as they are known.
//
// Threading: one thread for each object.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tools/report/totals.hpp"
#include "tools/trace/sites.hpp"
#include "tools/trace/trace.hpp"

namespace sluice {

class CollectiveAccount {
 public:
  /// Both must outlive this.
  CollectiveAccount(Symbols& symbols, ReportTotals& totals) : symbols_(&symbols), totals_(&totals) {}

  /// In order of time, all ranks merged.
  void add(const Event& event);
  /// When there are no more.
  void finish();

 private:
  /// The same on all ranks of one call: job, communicator, which numbers, number.
  using Name = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t, std::uint64_t>;
  using Turn = std::pair<Name, std::uint64_t>;  // with the serial number of the group
  /// What a rank of a call is to be told about with the others.
  struct Member {
    std::int32_t rank = 0;
    std::int32_t root = -1;
    std::int32_t seen_last = -1;
    trace::CollectiveKind kind{};
    bool is_nonblocking = false;
    std::int64_t entered_ns = 0;
    std::int64_t over_ns = 0;
    std::int64_t waits_since_ns = -1;  // -1: since it entered
    Ns waited = 0;
    CollectiveTotals* at = nullptr;
    std::set<std::int32_t> neighbours;  // of calls between neighbours: from whom it receives
  };
  struct Group {
    std::uint64_t serial = 0;
    std::size_t ranks = 0;  // 0: not known yet
    std::size_t over = 0;
    std::vector<Member> members;
  };
  /// One that has begun on a rank, until it is over and all its releases are.
  struct Call {
    Name name;
    CollectiveTotals* at = nullptr;
    std::uint32_t site = 0;
    bool is_nonblocking = false;
    bool is_over = false;
    unsigned releases = 0;  // under way
    bool was_released = false;
    Ns lasted = 0;
    Ns in_call = 0;      // waited in the call that began it
    Ns last_round = 0;   // of that, for what might have been released
    Ns for_request = 0;  // waited for its request
    std::int64_t waits_since_ns = -1;
    Ns saved = 0;
    Ns on_pages = 0;
    std::string reason;
    std::vector<std::uint32_t> parts;
  };
  struct Rank {
    explicit Rank(Sites of) : sites(std::move(of)) {}

    Sites sites;
    std::unordered_map<std::uint32_t, Call> calls;                // by operation
    std::unordered_map<std::uint32_t, std::uint32_t> parts;       // operation of the call, by that of the part
    std::deque<std::uint32_t> begun;                              // operations of calls, the oldest in front
    std::unordered_map<std::uint32_t, CollectiveTotals*> totals;  // by site
  };
  static constexpr std::size_t max_open = 4096;
  static constexpr std::size_t max_members = std::size_t{1} << 18;

  void begin(Rank& rank, const Event& event);
  void end(Rank& rank, const Event& event);
  void wait(Rank& rank, const Event& event);
  void release_end(Rank& rank, const Event& event);
  void enter(const Call& call, const Event& event);
  void note_neighbour(const Call& call, const Event& event);
  void leave(const Call& call, const Event& event);
  void conclude(Rank& rank, std::uint32_t operation);
  void tell_the_oldest();
  void tell(std::map<Name, Group>::iterator place);
  /// By the operation of a part.
  [[nodiscard]] static Call* call_of(Rank& rank, std::uint32_t operation);
  [[nodiscard]] static std::string why_not_hidden(const Call& call);
  [[nodiscard]] static const Member* last_for(const Group& group, const Member& own);
  [[nodiscard]] static Member* member(Group& group, std::int32_t rank);
  [[nodiscard]] Rank& rank_of(const Event& event);
  [[nodiscard]] CollectiveTotals& at(Rank& rank, std::uint32_t site);

  Symbols* symbols_;
  ReportTotals* totals_;
  std::map<const TraceFile*, Rank> ranks_;
  std::map<Name, Group> groups_;
  std::deque<Turn> turns_;  // the oldest group in front; some were told since
  std::uint64_t serial_ = 0;
  std::size_t members_ = 0;  // of all groups
};

}  // namespace sluice
