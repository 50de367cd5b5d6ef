// Events in the order of time. All delays are bounded, so a ring with a list for each tick is enough: O(1) for an event.
// Events of one tick happen in the order in which they were added.
#pragma once

#include <bit>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "apps/bench/dragonfly/settings.hpp"

namespace sluice::dragonfly {

struct Event {
  enum class Kind : std::uint8_t { arrives, crossed, credit, reaches, inject, generate, drained, returned, granted };
  Kind kind{};
  std::uint8_t in = 0;      // a port, or a virtual channel
  std::uint8_t out = 0;     // a port
  std::uint32_t where = 0;  // a router, a port of one, or a node
  std::uint32_t what = 0;   // a packet, or what the kind says
};

class Calendar {
 public:
  explicit Calendar(Tick longest) : days_(std::bit_ceil(longest + 1)) {}

  [[nodiscard]] Tick now() const { return now_; }
  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] Tick longest() const { return static_cast<Tick>(days_.size() - 1); }
  [[nodiscard]] bool empty() const { return pending_ == 0; }

  /// `delay` is at least one tick.
  void after(Tick delay, const Event& event) {
    if (delay == 0 || delay >= days_.size()) throw std::logic_error("an event beyond the calendar");
    std::uint32_t entry = free_;
    if (entry == none) {
      entry = static_cast<std::uint32_t>(entries_.size());
      entries_.push_back({event, none});
    } else {
      free_ = entries_[entry].next;
      entries_[entry] = {event, none};
    }
    Day& day = days_[(now_ + delay) & (days_.size() - 1)];
    if (day.first == none) {
      day.first = entry;
    } else {
      entries_[day.last].next = entry;
    }
    day.last = entry;
    ++pending_;
  }

  /// Until that time, or until nothing is left.
  template <class Handle>
  void run_until(Tick end, Handle&& handle) {
    while (now_ < end && pending_ > 0) {
      ++now_;
      Day& day = days_[now_ & (days_.size() - 1)];
      std::uint32_t entry = day.first;
      day = {};
      while (entry != none) {
        const Event event = entries_[entry].event;
        const std::uint32_t next = entries_[entry].next;
        entries_[entry].next = free_;
        free_ = entry;
        entry = next;
        --pending_;
        ++events_;
        handle(event);
      }
    }
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct Day {
    std::uint32_t first = none;
    std::uint32_t last = none;
  };
  struct Entry {
    Event event;
    std::uint32_t next = none;
  };

  std::vector<Day> days_;
  std::vector<Entry> entries_;
  std::uint32_t free_ = none;
  Tick now_ = 0;
  std::uint64_t pending_ = 0;
  std::uint64_t events_ = 0;
};

}  // namespace sluice::dragonfly
