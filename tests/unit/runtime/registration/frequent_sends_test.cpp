#include "runtime/registration/frequent_sends.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

/// A copy of 0.1 ns a byte, 300 ns for a use of what is registered, 8 µs a page for the registration: a message of 8000 bytes
/// saves 500 ns a use, and its two pages are paid for after 32.
constexpr FrequentTerms terms{.copy_per_byte = 0.1, .use = 300, .register_per_page = 8000};
constexpr std::uint32_t never = ~std::uint32_t{0};
constexpr auto goes_on = FrequentSends::Call::goes_on;
constexpr auto waits = FrequentSends::Call::waits;

constexpr ByteRange message(std::size_t bytes) { return {0x10000, 0x10000 + bytes}; }

std::uint32_t uses_until_frequent(FrequentSends& sends, std::size_t bytes, std::uint32_t max_uses) {
  for (std::uint32_t use = 1; use <= max_uses; ++use) {
    if (sends.use(message(bytes), goes_on, [] { return std::optional(terms); })) return use;
  }
  return never;
}

TEST(FrequentSends, a_buffer_pays_from_r_over_c_less_v_uses_on) {
  FrequentSends all(100);
  all.set_terms(terms);
  EXPECT_EQ(all.uses_needed(8000), 32u);
  EXPECT_EQ(all.uses_needed(4000), 80u);
  EXPECT_EQ(all.uses_needed(16'000), 25u) << "24.6";
  EXPECT_EQ(all.uses_needed(3000), never) << "saves nothing";
  FrequentSends quarter(25);
  quarter.set_terms(terms);
  EXPECT_EQ(quarter.uses_needed(8000), 8u);
}

TEST(FrequentSends, it_is_frequent_after_a_share_of_them) {
  FrequentSends quarter(25);
  EXPECT_EQ(uses_until_frequent(quarter, 8000, 100), 8u);
  FrequentSends all(100);
  EXPECT_EQ(uses_until_frequent(all, 8000, 100), 32u);
}

TEST(FrequentSends, the_terms_are_measured_once_and_only_when_a_buffer_comes_back) {
  FrequentSends sends(25);
  int measured = 0;
  const auto measure = [&]() -> std::optional<FrequentTerms> {
    ++measured;
    return terms;
  };
  for (std::size_t i = 0; i < 10; ++i) (void)sends.use(ByteRange{0x10000 * (i + 1), 0x10000 * (i + 1) + 8000}, goes_on, measure);
  EXPECT_EQ(measured, 0);
  for (std::size_t i = 0; i < 10; ++i) (void)sends.use(message(8000), goes_on, measure);
  EXPECT_EQ(measured, 1);
}

TEST(FrequentSends, where_measuring_is_refused_it_is_tried_again_ever_more_rarely) {
  FrequentSends sends(25);
  int tried = 0;
  const auto refused = [&]() -> std::optional<FrequentTerms> {
    ++tried;
    return std::nullopt;
  };
  for (std::uint32_t use = 0; use < 1000; ++use) EXPECT_FALSE(sends.use(message(8000), goes_on, refused));
  EXPECT_GT(tried, 3);
  EXPECT_LT(tried, 12);
  EXPECT_EQ(sends.min_bytes(), FrequentSends::min_sge_bytes) << "it goes on to count";
  EXPECT_NE(uses_until_frequent(sends, 8000, 2000), never);
}

TEST(FrequentSends, messages_that_save_nothing_are_not_counted) {
  FrequentSends sends(25);
  EXPECT_EQ(sends.min_bytes(), FrequentSends::min_sge_bytes);
  sends.set_terms(terms);
  EXPECT_EQ(sends.min_bytes(), 3000u);
  sends.set_terms({.copy_per_byte = 10, .use = 300, .register_per_page = 8000});
  EXPECT_EQ(sends.min_bytes(), FrequentSends::min_sge_bytes) << "what goes inline is not gathered";
  sends.set_terms({});
  EXPECT_EQ(sends.min_bytes(), FrequentSends::never) << "nothing could be measured";
}

TEST(FrequentSends, with_a_share_of_nothing_the_second_use_is_enough_and_nothing_is_measured) {
  FrequentSends sends(0);
  const auto measure = []() -> std::optional<FrequentTerms> {
    ADD_FAILURE();
    return {};
  };
  EXPECT_FALSE(sends.use(message(300), goes_on, measure));
  EXPECT_TRUE(sends.use(message(300), goes_on, measure));
}

TEST(FrequentSends, what_could_not_be_registered_is_counted_anew) {
  FrequentSends sends(25);
  ASSERT_EQ(uses_until_frequent(sends, 8000, 100), 8u);
  sends.forget(1);
  EXPECT_EQ(uses_until_frequent(sends, 8000, 100), 8u);
}

/// Half of the copies are as long as the probe said, half four times as long.
TEST(FrequentSends, what_really_comes_corrects_the_terms) {
  FrequentSends sends(100);
  sends.set_terms(terms);
  for (std::size_t i = 0; i < FirstSamples::wanted; ++i) {
    EXPECT_TRUE(sends.wants_copies());
    sends.note_copied(8000, i % 2 == 0 ? 3200 : 800, i % 2 == 0 ? 3400 : 1000);
  }
  EXPECT_FALSE(sends.wants_copies());
  EXPECT_DOUBLE_EQ(sends.terms().copy_per_byte, 0.4);
  EXPECT_DOUBLE_EQ(sends.terms().use, 300);
  for (std::size_t i = 0; i < FirstSamples::wanted; ++i) sends.note_gathered(goes_on, 1400);
  EXPECT_DOUBLE_EQ(sends.terms().use, 1200) << "a call that gathers, without what a call that copies does besides";
  for (std::size_t i = 0; i < FirstSamples::wanted; ++i) sends.note_registered(8000, 40'000);
  EXPECT_EQ(sends.uses_needed(8000), 20u) << "40000 / (3200 - 1200)";
}

TEST(FrequentSends, where_gathering_takes_longer_than_copying_it_ends) {
  FrequentSends sends(25);
  ASSERT_NE(uses_until_frequent(sends, 8000, 100), never);
  for (std::size_t i = 0; i < FirstSamples::wanted; ++i) sends.note_copied(8000, 800, 1000);
  for (std::size_t i = 0; i < FirstSamples::wanted; ++i) sends.note_gathered(goes_on, 1100);
  EXPECT_EQ(sends.uses_needed(8000), never) << "900 instead of 800";
  EXPECT_EQ(sends.min_bytes(), 9000u);
  EXPECT_EQ(uses_until_frequent(sends, 8000, 1000), never);
}

TEST(FrequentSends, calls_that_wait_are_tried_and_go_on_where_the_adapter_is_quick) {
  for (const double whole : {700.0, 5000.0}) {
    FrequentSends sends(25);
    for (std::size_t i = 0; i < FirstSamples::wanted; ++i) sends.note_copied(8000, 800, 1000);
    sends.set_terms(terms);
    EXPECT_EQ(sends.uses_needed(8000, waits), sends.uses_needed(8000, goes_on));
    for (std::size_t i = 0; i < FirstSamples::wanted; ++i) {
      EXPECT_TRUE(sends.wants_gathered(waits));
      sends.note_gathered(waits, whole);
    }
    EXPECT_FALSE(sends.wants_gathered(waits));
    EXPECT_EQ(sends.uses_needed(8000, waits) == never, whole > 1000);
    EXPECT_EQ(sends.min_bytes(waits) > 8000, whole > 1000);
    EXPECT_NE(sends.uses_needed(8000, goes_on), never) << "of calls that go on this says nothing";
  }
}

}  // namespace
}  // namespace sluice
