// What `sluice info` tells of small messages without their copy.
#include "tools/frequent_uses.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "runtime/alias/watched_memory.hpp"
#include "tests/unit/support/model_adapter.hpp"
#include "tests/unit/tools/shell.hpp"

namespace sluice {
namespace {

/// Of 4 KB: C = 1024 ns, and R / (C - V) = 6144 / (1024 - 512) = 12.
FrequentUses measured() {
  return {.terms = FrequentTerms{.copy_per_byte = 0.25, .use = 512, .register_per_page = 6144},
          .source = "measured now with mlx5_0",
          .share = 25,
          .longest = 8192};
}

TEST(frequent_uses, n_is_told_for_each_size_up_to_the_longest_small_message) {
  const nlohmann::json told = as_json(measured());

  ASSERT_EQ(told["sizes"].size(), 5U) << "512 bytes to 8 KB";
  EXPECT_TRUE(told["sizes"][0]["n"].is_null()) << "512 bytes are copied in less time";
  EXPECT_TRUE(told["sizes"][2]["n"].is_null()) << "2 KB in the same";
  EXPECT_EQ(told["sizes"][3]["bytes"], 4096);
  EXPECT_EQ(told["sizes"][3]["n"], 12);
  EXPECT_EQ(told["sizes"][3]["registered_with_use"], 3);
  EXPECT_EQ(told["sizes"][4]["n"], 8) << "two pages: 12288 / (2048 - 512)";
  EXPECT_EQ(told["terms"]["use_ns"], 512);
}

TEST(frequent_uses, text_says_what_was_measured_and_what_follows) {
  const std::string text = as_text(measured());

  EXPECT_TRUE(contains(text, "measured now with mlx5_0")) << text;
  EXPECT_TRUE(contains(text, "V = 512 ns")) << text;
  EXPECT_TRUE(contains(text, "512: never")) << text;
  EXPECT_TRUE(contains(text, "4K: n = 12, registered with use 3")) << text;
}

TEST(frequent_uses, where_nothing_was_measured_it_says_why_and_what_holds) {
  const FrequentUses uses = unmeasured_uses(Config(), "there is no adapter");

  EXPECT_EQ(as_text(uses), "small sends: all are copied, and nothing is measured: there is no adapter\n");
  EXPECT_TRUE(as_json(uses)["terms"].is_null());
  EXPECT_TRUE(as_json(uses)["sizes"].empty());
}

TEST(frequent_uses, terms_are_measured_with_whatever_registers_memory) {
  ModelAdapters network(2);
  const auto terms = measure_frequent_terms(*network.transport(Peer{0}).rdma(Peer{1}));

  ASSERT_TRUE(terms);
  EXPECT_GT(terms->copy_per_byte, 0);
  EXPECT_GT(terms->use, 0);
  EXPECT_GT(terms->register_per_page, 0);
  EXPECT_FALSE(watched_memory::any()) << "nobody asks any more";
}

TEST(frequent_uses, without_memory_to_register_there_are_none) {
  ModelAdapters network(2, {.registrations = 0});

  EXPECT_FALSE(measure_frequent_terms(*network.transport(Peer{0}).rdma(Peer{1})));
}

TEST(frequent_uses, the_command_tells_them_on_a_machine_with_and_without_an_adapter) {
  const auto info = nlohmann::json::parse(shell("$sluice info --json").output);

  const bool has_adapter = info["verbs"]["adapter"] != "none";
  EXPECT_EQ(!info["small_sends"]["terms"].is_null(), has_adapter) << info["small_sends"];
  EXPECT_EQ(contains(info["small_sends"]["source"], "there is no adapter"), !has_adapter) << info["small_sends"];
  EXPECT_TRUE(contains(shell("$sluice info").output, "small sends: "));
}

}  // namespace
}  // namespace sluice
