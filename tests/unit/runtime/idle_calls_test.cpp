#include "runtime/idle_calls.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

/// As the engine makes them: a call at rest that does not count becomes one that does.
IdleCalls::Turns call(IdleCalls& calls, bool host_is_busy) {
  return calls.note_at_rest() ? IdleCalls::Turns{} : calls.note(host_is_busy);
}

struct Counted {
  unsigned telling = 0;
  unsigned host = 0;
};

Counted count(unsigned number, bool host_is_busy) {
  IdleCalls calls;
  Counted counted;
  for (unsigned i = 0; i < number; ++i) {
    const IdleCalls::Turns turns = call(calls, host_is_busy);
    counted.telling += turns.telling ? 1 : 0;
    counted.host += turns.host ? 1 : 0;
  }
  return counted;
}

TEST(IdleCalls, each_gets_its_turn_as_often_as_without_rest) {
  constexpr unsigned calls = 4 * IdleCalls::host_idle;
  EXPECT_EQ(count(calls, false).telling, calls / IdleCalls::telling);
  EXPECT_EQ(count(calls, false).host, 4u);
  EXPECT_EQ(count(calls, true).telling, calls / IdleCalls::telling);
  EXPECT_EQ(count(calls, true).host, calls / IdleCalls::host_busy);
}

TEST(IdleCalls, the_first_is_never_at_rest) {
  IdleCalls calls;
  EXPECT_FALSE(calls.note_at_rest());
  calls.note(false);
  EXPECT_TRUE(calls.note_at_rest());
}

TEST(IdleCalls, a_host_that_gets_work_has_its_turn_with_the_next_telling) {
  IdleCalls calls;
  calls.note(false);
  unsigned waited = 0;
  while (calls.note_at_rest()) ++waited;
  EXPECT_LT(waited, IdleCalls::telling);
  EXPECT_TRUE(calls.note(true).host);
}

}  // namespace
}  // namespace sluice
