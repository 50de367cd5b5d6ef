#include "verbs/eager_ring.hpp"

#include <cstring>

namespace sluice {
namespace {

static_assert(verbs_slot::bytes % eager_ring::trailer_bytes == 0);
constexpr unsigned number_shift = 32;

std::uint32_t number_in(std::uint64_t word) { return static_cast<std::uint32_t>(word >> number_shift); }

}  // namespace

RingSender::Write RingSender::next(std::byte* behind, std::uint32_t message_bytes, std::uint32_t number) {
  const std::size_t taken = eager_ring::taken(message_bytes);
  const std::uint64_t word = message_bytes | static_cast<std::uint64_t>(number) << number_shift;
  std::memcpy(behind + (taken - message_bytes - eager_ring::trailer_bytes), &word, sizeof word);
  const std::uint64_t end = words_->theirs.address + std::uint64_t{next_++ % slots_ + 1} * verbs_slot::bytes;
  return {static_cast<std::uint32_t>(taken), {end - taken, words_->theirs.key}};
}

RingReceiver::Found RingReceiver::find(std::uint32_t number) const {
  if (!memory_) return {};
  const std::uint64_t word = last_word().load(std::memory_order_acquire);
  if (word == 0) return {};
  const auto bytes = static_cast<std::uint32_t>(word);
  const std::uint32_t missing = number_in(word) - number;  // were sent, and their entries are on their way
  const bool good =
      bytes >= verbs_slot::overhead && eager_ring::taken(bytes) <= verbs_slot::bytes && missing < eager_ring::max_under_way;
  if (!good || missing != 0) return {good, word, {}};
  return {true, word, {end_of_slot() - eager_ring::taken(bytes), bytes}};
}

std::string RingReceiver::explain(std::uint64_t word, std::uint32_t number) {
  return "message " + std::to_string(number_in(word)) + " of " + std::to_string(static_cast<std::uint32_t>(word)) +
         " bytes, where message " + std::to_string(number) + " should be";
}

void RingReceiver::consume() {
  last_word().store(0, std::memory_order_relaxed);
  ++next_;
}

}  // namespace sluice
