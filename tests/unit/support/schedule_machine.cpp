#include "schedule_machine.hpp"

#include <algorithm>
#include <string>

namespace sluice::simulation {
namespace {

void demand(bool holds, const char* what, std::size_t rank) {
  if (!holds) throw Fault("rank " + std::to_string(rank) + ": " + what);
}

bool overlap(Memory::Span a, Memory::Span b) { return a.begin < b.end && b.begin < a.end; }

}  // namespace

Memory::Memory(std::vector<std::size_t> operand, std::vector<std::size_t> result, std::size_t scratch, bool operand_is_result) {
  std::size_t end = 0;
  const auto add = [&](Region::Area area, const std::vector<std::size_t>& blocks) {
    for (const std::size_t bytes : blocks) {
      areas_[static_cast<std::size_t>(area)].push_back({end, bytes});
      end += bytes + 1;
    }
  };
  add(Region::Area::operand, operand);
  add(Region::Area::result, result);
  add(Region::Area::scratch, {scratch});
  if (operand_is_result) {
    areas_[static_cast<std::size_t>(Region::Area::result)][0].begin =
        areas_[static_cast<std::size_t>(Region::Area::operand)][0].begin;
  }
  bytes_.assign(end, undefined);
}

Memory::Span Memory::span(const Region& region) const {
  if (region.bytes == 0) return {};
  const auto& blocks = areas_[static_cast<std::size_t>(region.area)];
  if (region.block >= blocks.size()) throw Fault("no such block");
  const Block& block = blocks[region.block];
  if (region.begin + region.bytes > block.bytes) throw Fault("region exceeds its block");
  return {block.begin + region.begin, block.begin + region.begin + region.bytes};
}

Machine::Machine(std::vector<Schedule> schedules, std::vector<Memory> memories, std::size_t element_bytes)
    : element_bytes_(element_bytes), channels_(schedules.size() * schedules.size()) {
  for (std::size_t rank = 0; rank < schedules.size(); ++rank) {
    ranks_.push_back({std::move(schedules[rank]), std::move(memories[rank])});
    for (const Round& round : ranks_[rank].schedule.rounds) check(rank, round);
  }
}

std::size_t Machine::most_scratch() const {
  std::size_t most = 0;
  for (const RankState& rank : ranks_) most = std::max(most, rank.schedule.scratch_bytes);
  return most;
}

/// The rules within a round.
void Machine::check(std::size_t rank, const Round& round) {
  enum class Use : std::uint8_t { received, sent, read, written };
  struct Piece {
    Memory::Span span;
    Use use;
  };
  std::vector<Piece> pieces;
  const Memory& memory = ranks_[rank].memory;
  for (const auto& message : round.receives) pieces.push_back({memory.span(message.region), Use::received});
  for (const auto& message : round.sends) pieces.push_back({memory.span(message.region), Use::sent});
  for (const auto& local : round.local) {
    const Memory::Span target = memory.span(local.target);
    demand(!local.sources.empty() && local.target.bytes != 0, "a local step without operands", rank);
    demand(local.sources.size() == 1 || local.target.bytes % element_bytes_ == 0, "an element is cut", rank);
    for (const Region& region : local.sources) {
      const Memory::Span source = memory.span(region);
      demand(region.bytes == local.target.bytes, "operands of different lengths", rank);
      demand(local.sources.size() == 1 || region.area == Region::Area::scratch || region.begin % element_bytes_ == 0,
             "an element is cut", rank);
      demand(source.begin == target.begin || !overlap(source, target), "a target overlaps its source", rank);
      pieces.push_back({source, Use::read});
    }
    pieces.push_back({target, Use::written});
  }
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.span.begin < b.span.begin; });
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    for (std::size_t j = i + 1; j < pieces.size() && pieces[j].span.begin < pieces[i].span.end; ++j) {
      if (!overlap(pieces[i].span, pieces[j].span)) continue;
      const auto are = [&](Use use, auto other) {
        return (pieces[i].use == use && other(pieces[j].use)) || (pieces[j].use == use && other(pieces[i].use));
      };
      demand(!are(Use::received, [](Use) { return true; }), "what is received into is used", rank);
      demand(!are(Use::sent, [](Use use) { return use == Use::written; }), "what is sent is written", rank);
    }
  }
}

void Machine::run(Order order, bool are_eager, std::uint64_t seed) {
  random_.seed(seed);
  are_eager_ = are_eager;
  last_rank_ = random_() % ranks_.size();
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) settle(rank);
  while (!able_.empty() || !ready_.empty()) {
    const std::size_t choice = choose(order);
    if (choice < able_.size()) {
      const std::size_t rank = able_[choice];
      able_.erase(able_.begin() + static_cast<std::ptrdiff_t>(choice));
      act(rank);
      settle(rank);
    } else {
      const auto at = ready_.begin() + static_cast<std::ptrdiff_t>(choice - able_.size());
      Message& message = messages_[*at];
      ready_.erase(at);
      transfer(message);
    }
  }
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    demand(ranks_[rank].round == ranks_[rank].schedule.rounds.size(), "waits for ever", rank);
  }
  const auto expect_used_up = [this](const Channel& channel) {
    if (!channel.waiting.empty()) demand(false, "half a message", messages_[channel.waiting.front()].source);
  };
  for (const Channel& channel : channels_) expect_used_up(channel);
  for (const auto& [key, channel] : other_parts_) expect_used_up(channel);
}

std::size_t Machine::ended_without(std::size_t absent) {
  are_eager_ = true;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (rank != absent) settle(rank);
  }
  while (!able_.empty() || !ready_.empty()) {
    if (able_.empty()) {
      Message& message = messages_[ready_.back()];
      ready_.pop_back();
      transfer(message);
    } else {
      const std::size_t rank = able_.back();
      able_.pop_back();
      act(rank);
      settle(rank);
    }
  }
  return static_cast<std::size_t>(std::count_if(ranks_.begin(), ranks_.end(),
                                                [](const RankState& rank) { return rank.round == rank.schedule.rounds.size(); }));
}

std::size_t Machine::choose(Order order) {
  const std::size_t able = able_.size();
  const std::size_t all = able + ready_.size();
  const auto least = [&](auto key) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < able; ++i) {
      if (key(able_[i]) < key(able_[best])) best = i;
    }
    return best;
  };
  switch (order) {
    case Order::low_ranks_first:
      return able != 0 ? least([](std::size_t rank) { return rank; }) : all - 1;
    case Order::high_ranks_first:
      return able != 0 ? least([](std::size_t rank) { return ~rank; }) : 0;
    case Order::messages_first:
      return able != all ? all - 1 : random_() % all;
    case Order::messages_last:
      return able != 0 ? random_() % able : random_() % all;
    case Order::one_rank_last: {
      const std::size_t choice = random_() % all;
      return choice < able && able_[choice] == last_rank_ ? (choice + 1) % all : choice;
    }
    case Order::random:
      break;
  }
  return random_() % all;
}

/// The rank's next step, in the order in which they stand.
void Machine::act(std::size_t rank) {
  RankState& state = ranks_[rank];
  const Round& round = state.schedule.rounds[state.round];
  std::size_t step = state.step++;
  if (step < round.receives.size()) return start_receive(rank, round.receives[step]);
  step -= round.receives.size();
  if (step < round.sends.size()) return start_send(rank, round.sends[step]);
  do_local(state, round.local[step - round.sends.size()]);
}

/// The oldest message that waits for this side, or else a new one.
Machine::Message& Machine::meet(std::size_t source, std::size_t target, std::uint16_t part, bool is_sent) {
  const std::size_t pair = source * ranks_.size() + target;
  Channel& channel = part == 0 ? channels_[pair] : other_parts_[{pair, part}];
  if (!channel.waiting.empty() && channel.are_sent != is_sent) {
    const std::size_t number = channel.waiting.front();
    channel.waiting.pop_front();
    ready_.push_back(number);
    return messages_[number];
  }
  channel.are_sent = is_sent;
  channel.waiting.push_back(messages_.size());
  Message& message = messages_.emplace_back();
  message.source = source;
  message.target = target;
  return message;
}

void Machine::start_receive(std::size_t rank, const Round::Message& receive) {
  const auto source = static_cast<std::size_t>(receive.peer);
  demand(source < ranks_.size() && source != rank, "receives from nobody", rank);
  ++ranks_[rank].open;
  meet(source, rank, receive.part, false).to = ranks_[rank].memory.span(receive.region);
}

void Machine::start_send(std::size_t rank, const Round::Message& send) {
  const auto target = static_cast<std::size_t>(send.peer);
  demand(target < ranks_.size() && target != rank, "sends to nobody", rank);
  Message& message = meet(rank, target, send.part, true);
  Memory& memory = ranks_[rank].memory;
  message.from = memory.span(send.region);
  if (!are_eager_) {
    ++ranks_[rank].open;
    return;
  }
  message.is_sender_through = true;
  for (std::size_t byte = message.from.begin; byte < message.from.end; ++byte) message.captured.push_back(memory.at(byte));
}

void Machine::transfer(Message& message) {
  const std::size_t bytes = message.to.end - message.to.begin;
  demand(bytes == message.from.end - message.from.begin, "a message has two lengths", message.target);
  for (std::size_t byte = 0; byte < bytes; ++byte) {
    ranks_[message.target].memory.at(message.to.begin + byte) =
        are_eager_ ? message.captured[byte] : ranks_[message.source].memory.at(message.from.begin + byte);
  }
  one_less(message.target);
  if (!message.is_sender_through) one_less(message.source);
}

void Machine::do_local(RankState& rank, const Round::Local& local) {
  const std::size_t bytes = local.target.bytes;
  using Vector = std::vector<Term>;
  const auto operand = [&](std::size_t source) {
    const std::size_t begin = rank.memory.span(local.sources[source]).begin;
    return Vector(&rank.memory.at(begin), &rank.memory.at(begin) + bytes);
  };
  const Vector folded = CanonicalOrder(local.sources.size()).fold(operand, [](Vector lower, const Vector& upper) {
    for (std::size_t byte = 0; byte < lower.size(); ++byte) lower[byte] = join(lower[byte], upper[byte]);
    return lower;
  });
  const std::size_t target = rank.memory.span(local.target).begin;
  for (std::size_t byte = 0; byte < bytes; ++byte) rank.memory.at(target + byte) = folded[byte];
}

void Machine::one_less(std::size_t rank) {
  RankState& state = ranks_[rank];
  const bool is_able = std::find(able_.begin(), able_.end(), rank) != able_.end();
  if (--state.open == 0 && !is_able) settle(rank);
}

/// Goes on to the next round where all is complete.
void Machine::settle(std::size_t rank) {
  RankState& state = ranks_[rank];
  const auto& rounds = state.schedule.rounds;
  const auto has_step = [&] {
    const Round& round = rounds[state.round];
    return state.step < round.receives.size() + round.sends.size() + round.local.size();
  };
  while (state.round < rounds.size() && !has_step() && state.open == 0) {
    ++state.round;
    state.step = 0;
  }
  if (state.round < rounds.size() && has_step()) able_.push_back(rank);
}

}  // namespace sluice::simulation
