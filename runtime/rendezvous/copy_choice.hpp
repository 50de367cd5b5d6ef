// Which side copies a large message inside a node, as the engine of the receiver decides it (CO, sections II-B and II-D), and
// what becomes of the lines that are copied.
//
// Owns what is learnt of two halves into memory that is no block (plain_halves.hpp). Else it asks the rules of
// cooperative_choice.hpp and hybrid_choice.hpp. It moves nothing, and does not know whether the side that it names can copy.
//
// What is expected of whom (COOP-load) is told by the receiver alone, from its decision until the transfer ends or goes another
// way. So every expectation is taken back by the process that told it, or by the one that it concerns when that process dies.
//
// Belongs to the engine lock.
#pragma once

#include <cstddef>

#include "runtime/engine/application_now.hpp"
#include "runtime/engine/job.hpp"
#include "runtime/engine/message_lines.hpp"
#include "runtime/engine/requests.hpp"
#include "runtime/policy/hybrid_choice.hpp"
#include "runtime/policy/plain_halves.hpp"

namespace sluice {

class CopierChoice {
 public:
  CopierChoice(const Job& job, const Requests& requests, MessageLines& lines, const ApplicationNow& application)
      : job_(job), requests_(requests), lines_(lines), application_(application) {}

  [[nodiscard]] CopyChoice choose(const Request& receive);
  /// Whether the sender is to write by address into memory that is no block, where it could. As `auto` chooses, a trial may begin
  /// of which the receive is a part, until `end_trial`.
  [[nodiscard]] bool writes_at(Request& receive, const CopyChoice& choice);
  void end_trial(Request& receive);
  /// Whether the message can be read from a cache that both processors may share: soon, and not from its receiver's own.
  [[nodiscard]] bool may_stay_in_outer_cache(const Request& receive) const;

  /// COOP-load: for as long as the transfer goes on this way.
  void expect(Request& receive, Copier copier);
  void end_expected(Request& receive) {
    if ((receive.expected_of_peer | receive.expected_of_self) != 0) withdraw_expected(receive);
  }

 private:
  [[nodiscard]] Rendezvous wanted(const Request& receive) const;
  [[nodiscard]] CopyChoice choose_automatically(const Request& receive);
  [[nodiscard]] Copier choose_by_load(const Request& receive) const;
  [[nodiscard]] bool is_waited_for(const Request& receive) const;
  [[nodiscard]] bool is_one_of_several() const;
  [[nodiscard]] std::size_t least_shared_bytes(const Request& receive) const;
  [[nodiscard]] CopySituation situation_of(const Request& receive) const;
  void withdraw_expected(Request& receive);

  const Job& job_;
  const Requests& requests_;
  MessageLines& lines_;
  const ApplicationNow& application_;
  PlainHalves halves_;
};

}  // namespace sluice
