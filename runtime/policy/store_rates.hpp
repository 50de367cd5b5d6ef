// Which stores copy faster to a peer, or from it, now: plain ones, or those that stream past the caches.
//
// Asked of long messages, of which most lines are in no processor's own cache (any more), though both processors have used them.
// Where they share the next cache those lines are in it, and so is the message when it is read: plain stores. Where they do not,
// each plain store waits for its line from the peer's caches. Nobody says so: a node has pairs of either kind, and a virtual
// machine's processors are moved about. So what chunks take is remembered, and now and then the other stores copy one.
// Zen 5 guest, µs, both sides copying (or the sender alone), all data read, where both store plainly and where it streams:
//
//                           one cache for both          none
//                          plain   streaming      plain   streaming
//   2 MB, there and back     134         190       1030         410
//   4 MB, there and back     238         450                    835
//   4 MB, gathered           122         257        363         343
//   4 MB, by it alone        209         289       2478         308
//
// What was streamed is read from memory afterwards, which costs about as much again: plain stores may take twice as long.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/clock.hpp"
#include "runtime/copy/shared_copy.hpp"

namespace sluice {

/// [one thread at a time]
class StoreRates {
 public:
  /// Chunks until the slower stores are tried again; twice as many after each trial that changes nothing. One chunk may take as
  /// long as eight by the others.
  static constexpr std::uint32_t least_between_trials = 64;
  static constexpr std::uint32_t most_between_trials = 1024;

  /// For the next chunk: whether plain stores are to copy it. Counts.
  [[nodiscard]] bool choose_plain();
  /// What that took. Of less than that nothing is remembered: it says what beginning costs.
  static constexpr std::size_t least_bytes = std::size_t{32} << 10;
  void took(bool plain, std::size_t bytes, std::uint64_t ns);

 private:
  /// ns for 1 MB; 0: not known.
  using Rate = float;
  static void follow(Rate& rate, Rate now);

  Rate plain_ = 0;
  Rate streaming_ = 0;
  bool plain_before_ = true;
  std::uint32_t between_trials_ = least_between_trials;
  std::uint32_t until_trial_ = least_between_trials;
};

/// One chunk into such lines. [`stop`: any thread; the others as StoreRates]
class StoreTrial {
 public:
  /// For lines that are not outer there is nothing to choose, or to be learnt.
  StoreTrial(TargetLines lines, StoreRates& rates) : lines_(lines) {
    if (lines != TargetLines::outer) return;
    rates_ = &rates;
    if (!rates.choose_plain()) lines_ = TargetLines::shared;
    ns_ = now_ns();
  }
  /// What is to be said of the target: that it is outer brings plain stores.
  [[nodiscard]] TargetLines lines() const { return lines_; }
  /// When it is copied.
  void stop() {
    if (rates_) ns_ = now_ns() - ns_;
  }
  void keep(std::size_t bytes) {
    if (rates_) rates_->took(lines_ == TargetLines::outer, bytes, ns_);
  }

 private:
  TargetLines lines_;
  StoreRates* rates_ = nullptr;
  std::uint64_t ns_ = 0;  // when it began, and then how long it took
};

}  // namespace sluice
