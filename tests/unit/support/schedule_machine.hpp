// Carries the schedules of all ranks out on symbols: every byte of memory holds a term, which says where it came from.
//
// It throws a Fault where a schedule breaks the rules of schedule.hpp, where two ranks disagree, and where ranks wait for each
// other for ever. A send completes when its receive has been started and not before, unless messages are eager.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include "runtime/collective/canonical_order.hpp"
#include "runtime/collective/schedule.hpp"

namespace sluice::simulation {

struct Fault : std::runtime_error {
  using runtime_error::runtime_error;
};

/// Where a byte came from. Different terms have different values, but for a chance that never comes.
using Term = std::uint64_t;
inline constexpr Term undefined = 0;

constexpr Term mixed(Term value) {
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}
/// Byte `offset` of a block that a rank contributes.
constexpr Term leaf(std::size_t rank, std::size_t block, std::size_t offset) {
  return mixed(mixed(mixed(rank + 1) + block) + offset);
}
constexpr Term join(Term lower, Term upper) { return mixed(mixed(lower) + upper + 1); }

/// The memory of one rank.
class Memory {
 public:
  /// Sizes by block. `operand_is_result`: both have one block, and begin at the same byte.
  Memory(std::vector<std::size_t> operand, std::vector<std::size_t> result, std::size_t scratch, bool operand_is_result);

  struct Span {
    std::size_t begin, end;
  };
  [[nodiscard]] Span span(const Region& region) const;
  Term& at(std::size_t byte) { return bytes_[byte]; }

 private:
  struct Block {
    std::size_t begin, bytes;
  };
  std::vector<Block> areas_[3];
  std::vector<Term> bytes_;
};

/// In which order things happen that may happen in any order.
enum class Order : std::uint8_t { random, low_ranks_first, high_ranks_first, messages_first, messages_last, one_rank_last };
inline constexpr Order orders[] = {Order::random,         Order::low_ranks_first, Order::high_ranks_first,
                                   Order::messages_first, Order::messages_last,   Order::one_rank_last};

class Machine {
 public:
  Machine(std::vector<Schedule> schedules, std::vector<Memory> memories, std::size_t element_bytes);

  /// Until all schedules have ended.
  void run(Order order, bool are_eager, std::uint64_t seed);
  /// Ranks whose schedules end though this one does nothing. Messages are eager.
  [[nodiscard]] std::size_t ended_without(std::size_t rank);
  Memory& memory(std::size_t rank) { return ranks_[rank].memory; }
  [[nodiscard]] std::size_t most_scratch() const;

 private:
  struct Message {
    std::size_t source, target;
    Memory::Span from{}, to{};
    bool is_sent = false, is_received = false, is_sender_through = false;
    std::vector<Term> captured{};
  };
  struct Channel {
    std::deque<std::size_t> waiting;  // messages that lack one side, all the same one
    bool are_sent = false;
  };
  struct RankState {
    Schedule schedule;
    Memory memory;
    std::size_t round = 0, step = 0, open = 0;
  };

  void check(std::size_t rank, const Round& round);
  void act(std::size_t rank);
  Message& meet(std::size_t source, std::size_t target, std::uint16_t part, bool is_sent);
  void start_receive(std::size_t rank, const Round::Message& receive);
  void start_send(std::size_t rank, const Round::Message& send);
  void do_local(RankState& rank, const Round::Local& local);
  void transfer(Message& message);
  void one_less(std::size_t rank);
  void settle(std::size_t rank);
  std::size_t choose(Order order);

  std::size_t element_bytes_;
  bool are_eager_ = false;
  std::mt19937_64 random_;
  std::vector<RankState> ranks_;
  std::vector<Message> messages_;
  std::vector<Channel> channels_;  // by source and target, of part 0
  std::map<std::pair<std::size_t, std::uint16_t>, Channel> other_parts_;
  std::vector<std::size_t> able_;   // ranks with a step to do
  std::vector<std::size_t> ready_;  // messages that both sides have started
  std::size_t last_rank_ = 0;
};

}  // namespace sluice::simulation
