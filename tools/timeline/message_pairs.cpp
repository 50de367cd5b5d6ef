#include "tools/timeline/message_pairs.hpp"

namespace sluice::timeline {

std::size_t MessagePairs::Hash::operator()(const MessageName& name) const {
  const std::uint64_t ranks =
      static_cast<std::uint64_t>(static_cast<std::uint32_t>(name.from)) << 32 | static_cast<std::uint32_t>(name.to);
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // spreads neighbours; any odd number does
  std::uint64_t hash = (name.job ^ ranks) * odd;
  hash = (hash ^ hash >> 29 ^ name.number ^ (name.is_put ? std::uint64_t{1} << 40 : 0)) * odd;
  return hash ^ hash >> 32;
}

std::optional<Arrow> MessagePairs::add(const MessageName& name, const Arrow& end, bool is_sender) {
  const auto [place, is_first] = waiting_.try_emplace(name);
  End& other = place->second;
  if (is_first || other.is_sender == is_sender) {
    // The same end twice: numbers of puts begin again, and the other end of the earlier one was lost.
    if (!is_first) ++given_up_;
    other = {end, is_sender, ++serial_};
    turns_.push_back({name, serial_});
    give_up_the_oldest();
    return std::nullopt;
  }
  const Arrow& sender = is_sender ? end : other.arrow;
  Arrow whole = is_sender ? other.arrow : end;
  whole.sent_ns = sender.sent_ns;
  whole.from_lane = sender.from_lane;
  whole.from_site = sender.from_site;
  whole.send = sender.send;
  waiting_.erase(place);
  return whole;
}

void MessagePairs::give_up_the_oldest() {
  const auto is_over = [this](const Turn& turn) {
    const auto place = waiting_.find(turn.name);
    return place == waiting_.end() || place->second.serial != turn.serial;
  };
  for (; waiting_.size() > most_waiting_; turns_.pop_front()) {
    if (is_over(turns_.front())) continue;
    waiting_.erase(turns_.front().name);
    ++given_up_;
  }
  if (turns_.size() > 2 * most_waiting_) std::erase_if(turns_, is_over);
}

}  // namespace sluice::timeline
