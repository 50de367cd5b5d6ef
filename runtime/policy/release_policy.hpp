// Whether a call site's receives are worth releasing (rule 14): a call whose releases have hidden less time than they cost, all
// together, counts against its site. After a few of those in a row the site rests, each time for twice as long, and is tried
// again.
//
// A fixed table by XXH3 of the return address. Belongs to the engine lock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "runtime/base/call_site.hpp"
#include "runtime/base/types.hpp"

namespace sluice {

/// A call that has released something, until all of that is over. What it hid counts once, however many releases hid it.
struct ReleasingCall {
  CallSite site;
  std::size_t open = 0;          // releases that are not over
  std::uint64_t hidden_ns = 0;   // by the one that hid most
  std::uint64_t price_ns = 0;    // of all together
  std::uint64_t closing_ns = 0;  // what protecting all of them took
};

class ReleasePolicy {
 public:
  /// Protecting and opening again, in nanoseconds: a base and a share per page.
  struct Cost {
    double base_ns = 4000;
    double page_ns = 100;
  };

  /// Times mprotect on scratch memory of 1 MB; some tenths of a ms.
  static Cost measure_cost();
  /// What userfaultfd costs where mprotect costs that much: 3 to 4 times as much (docs/results/guard-figures.md).
  static Cost with_userfaultfd(Cost cost) { return {userfaultfd_factor * cost.base_ns, userfaultfd_factor * cost.page_ns}; }
  void set_cost(Cost cost) { cost_ = cost; }
  /// As measured, or as much more as protecting took of late: where another thread of the process runs on another processor,
  /// that one must be told, which in some virtual machines takes 20 times as long as all the rest.
  [[nodiscard]] std::uint64_t cost_ns(std::size_t pages) const;

  /// Asked once a call that would release; counts the rest down.
  bool allows(CallSite site);
  /// Of a call at that site, which counts its releases in `open`. Stays where it is until `end` was told of each of them.
  ReleasingCall& begin(CallSite site);
  /// All releases of the call are made; it took so long what by cost_ns is half of `expected_ns`.
  void closed(ReleasingCall& call, std::uint64_t closing_ns, std::uint64_t expected_ns);
  /// `hidden_ns`: for how long the application went on, from release until the first touch, or completion if that came first.
  /// `price_ns`: what the release cost.
  void end(ReleasingCall& call, std::uint64_t hidden_ns, std::uint64_t price_ns);

  /// What became of the releases of one call site.
  struct Report {
    CallSite site;
    std::uint64_t calls = 0;   // that released something
    std::uint64_t losses = 0;  // of these, whose data was touched before they had paid
    std::uint64_t hidden_ns = 0;
    bool resting = false;
  };
  /// Of every call site that has released something and was not forgotten for another one, the most frequent first.
  [[nodiscard]] std::vector<Report> reports() const;

 private:
  static constexpr double userfaultfd_factor = 3.5;
  static constexpr std::uint32_t losses_before_rest = 3;
  static constexpr std::uint32_t first_rest = 32;
  static constexpr std::uint32_t longest_rest = 4096;

  struct Entry {
    CallSite site;
    std::uint64_t calls = 0;
    std::uint64_t all_losses = 0;
    std::uint64_t hidden_ns = 0;
    std::uint32_t losses = 0;   // less those that later ones which paid make up for
    std::uint32_t resting = 0;  // occasions to skip
    std::uint32_t next_rest = first_rest;
  };
  Entry& entry(CallSite site);
  void learn(const ReleasingCall& call);

  Cost cost_;
  double slowness_ = 1;  // so many times as long as measured at the start does it take
  std::array<Entry, 512> entries_{};
  std::deque<ReleasingCall> calls_;  // never moved, used again
  std::vector<ReleasingCall*> free_calls_;
};

}  // namespace sluice
