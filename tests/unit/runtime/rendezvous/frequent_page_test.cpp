// The benchmarks of FB in counts, and the page that tells them.

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/unit/support/model_frequent.hpp"

namespace sluice {
namespace {

TEST(frequent_page, all_messages_of_a_ping_pong_but_the_first_save_their_copy) {
  const FrequentCounts counts = ModelFrequent::ping_pong(4096, 50);
  EXPECT_EQ(counts.messages, 100u);
  EXPECT_EQ(counts.saved, 98u);
  EXPECT_EQ(counts.registered, 2u);
}

TEST(frequent_page, buffers_of_a_spectrum_are_registered_with_their_second_use) {
  const FrequentCounts apart = ModelFrequent::spectrum(512, ModelFrequent::Layout::separate_pages, 40);
  EXPECT_EQ(apart.messages, 820u);
  EXPECT_EQ(apart.saved, 780u);
  EXPECT_EQ(apart.registered, 39u);
  const FrequentCounts together = ModelFrequent::spectrum(512, ModelFrequent::Layout::back_to_back, 40);
  EXPECT_EQ(together.saved, 780u);
  EXPECT_EQ(together.registered, 5u) << "eight buffers lie in a page";
}

TEST(frequent_page, the_rule_registers_after_a_share_of_n) {
  const FrequentCounts counts = ModelFrequent::spectrum_by_rule(8192, 32, 25, 40);
  EXPECT_EQ(counts.registered, 40u - 7);
  EXPECT_EQ(counts.saved, 33u * 34 / 2);
}

TEST(frequent_page, the_page_has_these_counts) {
  std::ostringstream page;
  page << std::ifstream(SLUICE_FREQUENT_PAGE).rdbuf();
  for (const std::string& found : {ModelFrequent::ping_pongs(), ModelFrequent::spectra_by_rule(),
                                   ModelFrequent::spectrum_row(512, ModelFrequent::Layout::back_to_back)}) {
    EXPECT_NE(page.str().find(found), std::string::npos) << "scripts/reproduce-fb --write makes it anew:\n" << found;
  }
}

}  // namespace
}  // namespace sluice
