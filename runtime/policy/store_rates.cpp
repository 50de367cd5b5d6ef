#include "runtime/policy/store_rates.hpp"

#include <algorithm>

namespace sluice {
namespace {

/// How much longer plain stores may take.
constexpr float reading_from_memory = 2;
/// A chunk that was disturbed, by another process on the processor, counts as slower by so much at most,
constexpr float most_slower = 2;
/// and for this share.
constexpr float share_of_slower = 0.25F;
constexpr float rate_bytes = 1 << 20;

}  // namespace

bool StoreRates::choose_plain() {
  if (plain_ == 0 || streaming_ == 0) return plain_ == 0;
  const bool plain = plain_ <= reading_from_memory * streaming_;
  if (plain != plain_before_) until_trial_ = between_trials_ = least_between_trials;
  plain_before_ = plain;
  if (--until_trial_ != 0) return plain;
  until_trial_ = between_trials_ = std::min(2 * between_trials_, most_between_trials);
  return !plain;
}

void StoreRates::took(bool plain, std::size_t bytes, std::uint64_t ns) {
  if (bytes < least_bytes) return;
  follow(plain ? plain_ : streaming_, std::max(static_cast<float>(ns), 1.0F) * rate_bytes / static_cast<float>(bytes));
}

/// Down at once: what disturbs a chunk only ever makes it longer.
void StoreRates::follow(Rate& rate, Rate now) {
  const bool is_faster = rate == 0 || now < rate;
  rate = is_faster ? now : rate + share_of_slower * (std::min(now, most_slower * rate) - rate);
}

}  // namespace sluice
