// Adds the events of one rank to a report. Memory: the operations that are under way, and the last 64K that are over, since the
// record of a wait follows that of the completion.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>

#include "tools/report/totals.hpp"
#include "tools/trace/sites.hpp"
#include "tools/trace/trace.hpp"

namespace sluice {

class RankAccount {
 public:
  /// All must outlive this.
  RankAccount(const TraceFile& file, Symbols& symbols, ReportTotals& totals, std::map<std::string, std::size_t>& site_numbers);

  /// In order of time.
  void add(const Event& event);
  /// When there are no more: counters, and what was never over.
  void finish();
  /// Some of them were collective calls (CollectiveAccount), which count here as operations at their sites.
  [[nodiscard]] bool has_collectives() const { return has_collectives_; }

 private:
  struct Operation {
    bool is_send = false;
    bool is_part = false;  // of a collective call: none of the program's own
    bool over = false;
    bool has_protocol = false;
    std::int32_t peer = -1;
    std::uint32_t posted_at = 0;    // site
    std::uint32_t released_at = 0;  // site; 0: not released
    std::uint32_t released_by = 0;  // number of the call; 0: not known yet
    std::uint16_t protocol = 0;
    std::uint32_t protocol_reason = 0;
    std::uint64_t bytes = 0;
    std::int64_t partner_came_ns = -1;
    bool release_is_over = false;
    Ns saved = 0;        // of a release that is over
    Waiting waiting;     // for this one alone
    std::string reason;  // why it was not released, so far
  };
  /// A call that has not returned, or whose releases are not all over.
  struct Call {
    Ns for_partner = 0;
    Ns saved = 0;
    unsigned releases = 0;
    bool returned = false;
    std::uint32_t site = 0;
  };

  void post(const Event& event, bool is_send);
  void begin_collective(const Event& event);
  void begin_part(const Event& event);
  void still_waits(const Event& event);
  void match(const Event& event);
  void complete(const Event& event);
  void wait(const Event& event);
  void call(const Event& event);
  void release(const Event& event);
  void release_end(const Event& event);
  void wait_on_pages(const Event& event, bool is_fault);

  [[nodiscard]] Operation* find(std::uint32_t operation);
  SiteTotals& site(std::uint32_t id);
  PeerTotals& peer(std::int32_t peer);
  ProtocolTotals& protocol_of(const Operation& operation);
  /// Adds to what was waited at a site, on its path, and by this rank.
  void add_waiting_at(std::uint32_t site, const Waiting& waiting);
  /// Adds to what was waited for one operation, and for its peer.
  void add_waiting(Operation& operation, const Waiting& waiting);
  void forget(std::uint32_t operation);
  [[nodiscard]] std::string place_of(std::uint32_t site) { return sites_.at(site).place(); }
  [[nodiscard]] std::string word(const char* list, std::uint32_t value) const { return file_->table().word(list, value); }
  void end_release(std::unordered_map<std::uint32_t, Call>::iterator call);

  const TraceFile* file_;
  Sites sites_;
  ReportTotals* totals_;
  std::map<std::string, std::size_t>* site_numbers_;            // by call and place, over all ranks
  std::unordered_map<std::uint32_t, std::size_t> own_numbers_;  // by this rank's ids
  std::unordered_map<std::uint32_t, Operation> operations_;
  std::deque<std::uint32_t> over_;
  std::unordered_map<std::uint32_t, Call> calls_;
  std::map<std::uint32_t, std::string> still_waiting_;  // by operation
  bool has_collectives_ = false;
};

}  // namespace sluice
