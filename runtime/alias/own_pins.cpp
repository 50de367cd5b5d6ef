#include "runtime/alias/own_pins.hpp"

#include <algorithm>

#include "runtime/alias/eligibility.hpp"

namespace sluice::own_pins {
namespace {

constexpr std::int64_t page_kb = page_bytes / 1024;
constinit std::int64_t own_kb = 0;

std::int64_t kilobytes_of(ByteRange bytes) { return static_cast<std::int64_t>(PageRange::covering(bytes).size()) * page_kb; }
std::int64_t of_others(std::uint64_t pinned_kb) { return static_cast<std::int64_t>(pinned_kb) - own_kb; }

}  // namespace

void add(ByteRange registered) { own_kb += kilobytes_of(registered); }
void remove(ByteRange registered) { own_kb -= kilobytes_of(registered); }

Making::Making() : before_kb_(held_memory().pinned_kb) {}

Making::~Making() { own_kb += static_cast<std::int64_t>(held_memory().pinned_kb - before_kb_); }

Others::Others(std::uint64_t pinned_kb) : baseline_kb_(of_others(pinned_kb)) {}

/// When others, or queues of Sluice's, give memory back, what they pin next is new.
bool Others::have_pinned(std::uint64_t pinned_kb) {
  if (pinned_kb == HeldMemory{}.pinned_kb) return true;
  const std::int64_t now_kb = of_others(pinned_kb);
  baseline_kb_ = std::min(baseline_kb_, now_kb);
  return now_kb > baseline_kb_;
}

}  // namespace sluice::own_pins
