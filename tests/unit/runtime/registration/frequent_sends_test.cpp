#include "runtime/registration/frequent_sends.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

/// A copy of 0.1 ns a byte, 300 ns for a use of what is registered, 8 µs a page for the registration: a message of 8000 bytes
/// saves 500 ns a use, and its two pages are paid for after 32.
constexpr FrequentTerms terms{.copy_per_byte = 0.1, .use = 300, .register_per_page = 8000};
constexpr std::uint32_t never = ~std::uint32_t{0};

constexpr ByteRange message(std::size_t bytes) { return {0x10000, 0x10000 + bytes}; }

std::uint32_t uses_until_frequent(FrequentSends& sends, std::size_t bytes, std::uint32_t most) {
  for (std::uint32_t use = 1; use <= most; ++use) {
    if (sends.use(message(bytes), [] { return terms; })) return use;
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
  const auto measure = [&] {
    ++measured;
    return terms;
  };
  for (std::size_t i = 0; i < 10; ++i) sends.use(ByteRange{0x10000 * (i + 1), 0x10000 * (i + 1) + 8000}, measure);
  EXPECT_EQ(measured, 0);
  for (std::size_t i = 0; i < 10; ++i) sends.use(message(8000), measure);
  EXPECT_EQ(measured, 1);
}

TEST(FrequentSends, messages_that_save_nothing_are_not_counted) {
  FrequentSends sends(25);
  EXPECT_EQ(sends.least_bytes(), FrequentSends::least_gathered_bytes);
  sends.set_terms(terms);
  EXPECT_EQ(sends.least_bytes(), 3000u);
  sends.set_terms({.copy_per_byte = 10, .use = 300, .register_per_page = 8000});
  EXPECT_EQ(sends.least_bytes(), FrequentSends::least_gathered_bytes) << "what goes inline is not gathered";
  sends.set_terms({});
  EXPECT_EQ(sends.least_bytes(), FrequentSends::never) << "nothing could be measured";
}

TEST(FrequentSends, with_a_share_of_nothing_the_second_use_is_enough_and_nothing_is_measured) {
  FrequentSends sends(0);
  const auto measure = []() -> FrequentTerms {
    ADD_FAILURE();
    return {};
  };
  EXPECT_FALSE(sends.use(message(300), measure));
  EXPECT_TRUE(sends.use(message(300), measure));
}

TEST(FrequentSends, what_could_not_be_registered_is_counted_anew) {
  FrequentSends sends(25);
  ASSERT_EQ(uses_until_frequent(sends, 8000, 100), 8u);
  sends.forget(message(8000));
  EXPECT_EQ(uses_until_frequent(sends, 8000, 100), 8u);
}

}  // namespace
}  // namespace sluice
