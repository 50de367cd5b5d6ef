#include "runtime/policy/release_policy.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

constexpr CallSite site{0x1000};
constexpr CallSite other_site{0x2000};
constexpr std::uint64_t price = 5000;

/// A call that releases one receive.
void release(ReleasePolicy& policy, CallSite where, std::uint64_t hidden_ns) {
  ReleasingCall& call = policy.begin(where);
  call.open = 1;
  policy.end(call, hidden_ns, price);
}

void lose(ReleasePolicy& policy, CallSite where, int times) {
  for (int i = 0; i < times; ++i) release(policy, where, 0);
}

/// Occasions until the site is allowed again.
int rest_of(ReleasePolicy& policy, CallSite where) {
  int occasions = 0;
  while (!policy.allows(where)) ++occasions;
  return occasions;
}

TEST(ReleasePolicy, allows_a_new_call_site) {
  ReleasePolicy policy;
  EXPECT_TRUE(policy.allows(site));
}

TEST(ReleasePolicy, rests_a_call_site_that_loses_again_and_again) {
  ReleasePolicy policy;
  lose(policy, site, 3);
  EXPECT_FALSE(policy.allows(site));
  EXPECT_TRUE(policy.allows(other_site));
}

TEST(ReleasePolicy, tries_a_resting_site_again_and_rests_it_longer_each_time) {
  ReleasePolicy policy;
  lose(policy, site, 3);
  const int first = rest_of(policy, site);
  lose(policy, site, 1);
  const int second = rest_of(policy, site);

  EXPECT_GT(first, 0);
  EXPECT_EQ(second, 2 * first);
}

/// A call that releases one receive that hides `hidden_ns`, and takes `closing_ns` for protecting it.
void release_slowly(ReleasePolicy& policy, std::uint64_t hidden_ns, std::uint64_t closing_ns) {
  ReleasingCall& call = policy.begin(site);
  call.open = 1;
  policy.closed(call, closing_ns, policy.cost_ns(1));
  policy.end(call, hidden_ns, price);
}

TEST(ReleasePolicy, charges_what_protecting_really_took) {
  ReleasePolicy policy;
  for (int i = 0; i < 3; ++i) release_slowly(policy, 10 * price, 6 * price);
  EXPECT_FALSE(policy.allows(site));
}

TEST(ReleasePolicy, expects_a_release_to_cost_what_the_last_ones_did) {
  ReleasePolicy policy;
  const std::uint64_t measured = policy.cost_ns(16);
  for (int i = 0; i < 10; ++i) release_slowly(policy, 1'000'000, 5 * policy.cost_ns(1));
  const std::uint64_t slow = policy.cost_ns(16);
  for (int i = 0; i < 40; ++i) release_slowly(policy, 1'000'000, 100);
  EXPECT_GT(slow, 2 * measured);
  EXPECT_LT(policy.cost_ns(16), measured + measured / 100);
}

TEST(ReleasePolicy, is_not_put_off_by_one_thread_that_lost_its_processor) {
  ReleasePolicy policy;
  const std::uint64_t measured = policy.cost_ns(16);
  release_slowly(policy, 1'000'000, 50'000'000);
  EXPECT_LE(policy.cost_ns(16), measured + measured / 4);
}

TEST(ReleasePolicy, forgives_losses_that_releases_made_up_for) {
  ReleasePolicy policy;
  lose(policy, site, 2);
  release(policy, site, 2 * price);
  lose(policy, site, 2);
  EXPECT_TRUE(policy.allows(site));
}

TEST(ReleasePolicy, does_not_take_one_release_that_paid_for_a_rule) {
  ReleasePolicy policy;
  lose(policy, site, 3);
  const int first = rest_of(policy, site);
  lose(policy, site, 1);
  rest_of(policy, site);
  release(policy, site, price + 1);
  lose(policy, site, 2);
  EXPECT_GE(rest_of(policy, site), 2 * first);
}

TEST(ReleasePolicy, forgets_all_losses_for_a_release_that_was_worth_many) {
  ReleasePolicy policy;
  lose(policy, site, 2);
  release(policy, site, 100 * price);
  lose(policy, site, 2);
  EXPECT_TRUE(policy.allows(site));
}

TEST(ReleasePolicy, reports_what_became_of_each_call_site) {
  ReleasePolicy policy;
  EXPECT_TRUE(policy.reports().empty());
  lose(policy, site, 3);
  release(policy, other_site, 2 * price);
  const auto reports = policy.reports();
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[0].site.return_address(), site.return_address());
  EXPECT_EQ(reports[0].calls, 3U);
  EXPECT_EQ(reports[0].losses, 3U);
  EXPECT_TRUE(reports[0].resting);
  EXPECT_EQ(reports[1].losses, 0U);
  EXPECT_EQ(reports[1].hidden_ns, 2 * price);
  EXPECT_FALSE(reports[1].resting);
}

TEST(ReleasePolicy, counts_once_what_the_releases_of_one_call_hid_together_and_the_price_of_each) {
  ReleasePolicy policy;
  constexpr std::size_t releases = 8;
  for (int i = 0; i < 3; ++i) {
    ReleasingCall& call = policy.begin(site);
    call.open = releases;
    for (std::size_t k = 0; k < releases; ++k) policy.end(call, 2 * price, price);
  }
  EXPECT_FALSE(policy.allows(site));
  const auto reports = policy.reports();
  EXPECT_EQ(reports[0].calls, 3U);
  EXPECT_EQ(reports[0].losses, 3U);
  EXPECT_EQ(reports[0].hidden_ns, 3 * 2 * price);
}

TEST(ReleasePolicy, judges_a_call_when_the_last_of_its_releases_is_over) {
  ReleasePolicy policy;
  ReleasingCall& first = policy.begin(site);
  first.open = 2;
  ReleasingCall& second = policy.begin(other_site);
  second.open = 1;
  policy.end(first, 3 * price, price);
  EXPECT_TRUE(policy.reports().empty());
  policy.end(second, 0, price);
  EXPECT_EQ(policy.reports().size(), 1U);
  policy.end(first, 0, price);
  ASSERT_EQ(policy.reports().size(), 2U);
  for (const auto& report : policy.reports()) {
    EXPECT_EQ(report.losses, report.site.return_address() == site.return_address() ? 0U : 1U);
  }
}

TEST(ReleasePolicy, costs_more_for_more_pages) {
  ReleasePolicy policy;
  policy.set_cost({1000, 10});
  EXPECT_EQ(policy.cost_ns(0), 1000U);
  EXPECT_EQ(policy.cost_ns(100), 2000U);
}

}  // namespace
}  // namespace sluice
