#include "runtime/policy/hybrid_choice.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using trace::Reason;

constexpr std::size_t kb = 1024;
constexpr std::size_t coop_bytes = 48 * kb;

struct Case {
  const char* name;
  CopySituation now;
  bool sender_waits;
  Copier copier;
  Reason reason;
};

class HybridChoice : public testing::TestWithParam<Case> {};

TEST_P(HybridChoice, says_who_copies_and_why) {
  const Case& given = GetParam();
  const CopyChoice choice = choose_hybrid(given.now, coop_bytes, [&] { return given.sender_waits; });
  EXPECT_EQ(choice.copier, given.copier);
  EXPECT_EQ(choice.reason, given.reason);
  EXPECT_EQ(choice.if_idle, choice.copier == Copier::both && choice.reason == Reason::calls) << "no helper thread is woken";
}

/// MPI_Recv and MPI_Send, both waiting; and MPI_Irecv in MPI_Wait, with MPI_Isend.
constexpr CopySituation blocking(std::size_t bytes) {
  return {.bytes = bytes, .send = SendCall::blocking, .receive_blocks = true, .receiver_waits = true, .found_in_a_call = true};
}
constexpr CopySituation nonblocking(std::size_t bytes) {
  return {.bytes = bytes, .send = SendCall::nonblocking, .receiver_waits = true, .found_in_a_call = true};
}
constexpr CopySituation exchange(std::size_t bytes) {
  CopySituation now = nonblocking(bytes);
  now.is_exchange = true;
  return now;
}
constexpr CopySituation of_helper(CopySituation now) {
  now.found_in_a_call = now.receiver_waits = false;
  return now;
}
constexpr CopySituation from_isend(std::size_t bytes) {
  CopySituation now = blocking(bytes);
  now.send = SendCall::nonblocking;
  return now;
}
constexpr CopySituation to_irecv(std::size_t bytes) {
  CopySituation now = blocking(bytes);
  now.receive_blocks = false;
  return now;
}
constexpr CopySituation shared(CopySituation now) {
  now.oversubscribed = true;
  return now;
}
constexpr CopySituation gathered(CopySituation now) {
  now.is_gathered = true;
  return now;
}
constexpr CopySituation paying(CopySituation now) {
  now.pays_in_turns = true;
  return now;
}
constexpr CopySituation several(CopySituation now) {
  now.one_of_several = true;
  return now;
}
constexpr CopySituation cached(CopySituation now) {
  now.into_own_cache = true;
  return now;
}
constexpr CopySituation unattended(CopySituation now) {
  now.receiver_waits = false;
  return now;
}

INSTANTIATE_TEST_SUITE_P(
    AProcessorEach, HybridChoice,
    testing::Values(
        Case{"a_short_message_is_read", blocking(40 * kb), true, Copier::receiver, Reason::receiver_waits},
        Case{"two_halves_are_worth_it", blocking(48 * kb), true, Copier::both, Reason::both_copy},
        Case{"a_window_of_short_ones", nonblocking(47 * kb), true, Copier::receiver, Reason::receiver_waits},
        Case{"a_window", nonblocking(48 * kb), true, Copier::both, Reason::both_copy},
        Case{"a_window_of_a_busy_sender", nonblocking(191 * kb), false, Copier::receiver, Reason::receiver_waits},
        Case{"a_window_of_long_ones_of_a_busy_sender", nonblocking(192 * kb), false, Copier::both, Reason::both_copy},
        Case{"several_of_a_busy_sender", several(nonblocking(48 * kb)), false, Copier::both, Reason::calls},
        Case{"several_short_ones", several(nonblocking(47 * kb)), false, Copier::receiver, Reason::receiver_waits},
        Case{"several_long_ones_of_a_busy_sender", several(nonblocking(192 * kb)), false, Copier::both, Reason::both_copy},
        Case{"several_that_nobody_waits_for", several(unattended(nonblocking(191 * kb))), false, Copier::receiver,
             Reason::is_short},
        Case{"isend_meets_recv", from_isend(48 * kb), true, Copier::both, Reason::both_copy},
        Case{"send_meets_irecv", to_irecv(48 * kb), true, Copier::both, Reason::both_copy},
        Case{"nobody_waits_for_a_short_one", unattended(nonblocking(47 * kb)), true, Copier::receiver, Reason::is_short},
        Case{"an_idle_sender_helps_the_helper", of_helper(nonblocking(47 * kb)), true, Copier::both, Reason::both_copy},
        Case{"a_busy_sender_does_not", of_helper(nonblocking(191 * kb)), false, Copier::receiver, Reason::is_short},
        Case{"an_exchange", exchange(4096 * kb), true, Copier::receiver, Reason::exchange},
        Case{"an_exchange_with_an_idle_sender", of_helper(exchange(4096 * kb)), true, Copier::both, Reason::both_copy},
        Case{"a_cached_exchange", cached(exchange(4096 * kb)), true, Copier::receiver, Reason::exchange},
        Case{"several_exchanged_into_a_cache", several(cached(exchange(1024 * kb))), true, Copier::receiver, Reason::exchange},
        Case{"several_exchanged", several(exchange(192 * kb)), false, Copier::both, Reason::both_copy},
        Case{"several_shorter_ones_exchanged", several(exchange(191 * kb)), true, Copier::receiver, Reason::exchange},
        Case{"isend_of_a_busy_sender", from_isend(1024 * kb), false, Copier::both, Reason::calls},
        Case{"isend_of_a_sender_that_waits", from_isend(1024 * kb), true, Copier::both, Reason::both_copy}),
    [](const auto& instance) { return instance.param.name; });

INSTANTIATE_TEST_SUITE_P(
    SharedProcessors, HybridChoice,
    testing::Values(
        Case{"a_gathering_root_that_waits_reads", shared(to_irecv(2047 * kb)), true, Copier::receiver, Reason::receiver_waits},
        Case{"it_shares_very_long_ones", shared(to_irecv(2048 * kb)), true, Copier::both, Reason::both_copy},
        Case{"of_many_at_once_senders_copy_theirs", shared(gathered(to_irecv(2047 * kb))), true, Copier::sender,
             Reason::sender_copies},
        Case{"also_very_long_ones", shared(gathered(to_irecv(4096 * kb))), true, Copier::sender, Reason::sender_copies},
        Case{"not_from_isend", shared(gathered(nonblocking(2047 * kb))), true, Copier::receiver, Reason::receiver_waits},
        Case{"nor_to_a_blocking_receive", shared(gathered(blocking(2047 * kb))), true, Copier::receiver, Reason::receiver_waits},
        Case{"senders_copy_while_it_computes", shared(unattended(to_irecv(128 * kb))), true, Copier::sender, Reason::calls},
        Case{"no_short_ones", shared(unattended(to_irecv(127 * kb))), true, Copier::receiver, Reason::is_short},
        Case{"who_waits_reads", shared(blocking(2047 * kb)), true, Copier::receiver, Reason::receiver_waits},
        Case{"a_very_long_one", shared(blocking(2048 * kb)), true, Copier::both, Reason::both_copy},
        Case{"a_very_long_one_of_a_busy_sender", shared(blocking(2048 * kb)), false, Copier::receiver, Reason::receiver_waits},
        Case{"a_very_long_one_that_was_released", shared(unattended(blocking(2048 * kb))), true, Copier::sender,
             Reason::sender_copies},
        Case{"a_window", shared(nonblocking(4096 * kb)), true, Copier::receiver, Reason::receiver_waits},
        Case{"two_halves_that_pay", shared(paying(nonblocking(128 * kb))), true, Copier::both, Reason::both_copy},
        Case{"two_halves_of_a_busy_sender", shared(paying(nonblocking(128 * kb))), false, Copier::both, Reason::calls},
        Case{"also_of_a_blocking_receive", shared(paying(from_isend(128 * kb))), false, Copier::both, Reason::calls},
        Case{"two_halves_that_nobody_waits_for", shared(paying(unattended(nonblocking(128 * kb)))), true, Copier::receiver,
             Reason::is_short},
        Case{"of_many_at_once_two_halves_pay_less", shared(paying(gathered(to_irecv(1024 * kb)))), true, Copier::sender,
             Reason::sender_copies},
        Case{"nobody_waits", shared(unattended(nonblocking(1024 * kb))), false, Copier::sender, Reason::sender_copies},
        Case{"nobody_waits_for_a_short_one", shared(unattended(nonblocking(1023 * kb))), false, Copier::receiver,
             Reason::is_short}),
    [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace sluice
