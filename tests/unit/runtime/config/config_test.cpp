#include "runtime/config/config.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {
namespace {

ParsedConfig parse(const std::vector<const char*>& settings) {
  std::vector<const char*> environment = settings;
  environment.push_back(nullptr);
  return parse_config(environment.data());
}

TEST(config, empty_environment_gives_the_defaults) {
  const ParsedConfig parsed = parse({});

  EXPECT_TRUE(parsed.errors.empty());
  EXPECT_TRUE(parsed.warnings.empty());
  EXPECT_TRUE(parsed.config.enable);
  EXPECT_EQ(parsed.config.release, ReleaseMode::automatic);
}

TEST(config, missing_environment_gives_the_defaults) { EXPECT_EQ(parse_config(nullptr).config.transports, "shmem,verbs,tcp"); }

TEST(config, default_in_the_table_is_what_a_default_config_shows) {
  for (const ConfigVariable& variable : config_variables()) {
    EXPECT_EQ(variable.show(Config{}), variable.default_value) << variable.name;
  }
}

TEST(config, default_in_the_table_is_accepted) {
  for (const ConfigVariable& variable : config_variables()) {
    Config config;
    EXPECT_TRUE(variable.assign(config, variable.default_value)) << variable.name;
  }
}

TEST(config, every_variable_is_read) {
  const ParsedConfig parsed = parse(
      {"SLUICE_ENABLE=0",          "SLUICE_RELEASE=matched",    "SLUICE_GUARD=mprotect",   "SLUICE_EAGER_LIMIT=4K",
       "SLUICE_TRANSPORTS=tcp",    "SLUICE_SHMEM_COPY=stream",  "SLUICE_RNDV=coop",        "SLUICE_TCP_INTERFACES=^10.0.0.0/8",
       "SLUICE_TCP_TIMEOUT=7",     "SLUICE_TCP_EAGER_LIMIT=2K", "SLUICE_TCP_BUFFER=1M",    "SLUICE_REG_BYTES=2M",
       "SLUICE_REG_ENTRIES=8",     "SLUICE_RDRP_CHUNK=8K",      "SLUICE_COPY_CHUNK=12K",   "SLUICE_SINGLE_COPY=20K",
       "SLUICE_CALIBRATION=off",   "SLUICE_RDRP_OUTSTANDING=9", "SLUICE_RTR_WAIT=70",      "SLUICE_VERBOSE=3",
       "SLUICE_SUMMARY=1",         "SLUICE_SEND_RELEASE=1",     "SLUICE_HCA_BYTES=1M",     "SLUICE_HCA_LOAD=5",
       "SLUICE_HCA_OUTSTANDING=3", "SLUICE_FREQUENT_SENDS=all", "SLUICE_FREQUENT_SHARE=50"});

  EXPECT_TRUE(parsed.errors.empty());
  EXPECT_FALSE(parsed.config.enable);
  EXPECT_EQ(parsed.config.release, ReleaseMode::matched);
  EXPECT_EQ(parsed.config.guard, GuardEngine::mprotect);
  EXPECT_EQ(parsed.config.eager_limit, 4096U);
  EXPECT_EQ(parsed.config.transports, "tcp");
  EXPECT_EQ(parsed.config.tcp_interfaces, "^10.0.0.0/8");
  EXPECT_EQ(parsed.config.tcp_timeout, 7U);
  EXPECT_EQ(parsed.config.tcp_eager_limit, 2048U);
  EXPECT_EQ(parsed.config.tcp_buffer, 1048576U);
  EXPECT_EQ(parsed.config.reg_bytes, 2097152U);
  EXPECT_EQ(parsed.config.reg_entries, 8U);
  EXPECT_EQ(parsed.config.rdrp_chunk, 8192U);
  EXPECT_EQ(parsed.config.copy_chunk, 12288U);
  EXPECT_EQ(parsed.config.single_copy, 20480U);
  EXPECT_EQ(parsed.config.calibration, "off");
  EXPECT_EQ(parsed.config.rdrp_outstanding, 9U);
  EXPECT_EQ(parsed.config.rtr_wait, 70U);
  EXPECT_EQ(parsed.config.hca_bytes, 1048576U);
  EXPECT_EQ(parsed.config.hca_load, 5U);
  EXPECT_EQ(parsed.config.hca_outstanding, 3U);
  EXPECT_EQ(parsed.config.frequent_sends, FrequentChoice::all);
  EXPECT_EQ(parsed.config.frequent_share, 50U);
  EXPECT_EQ(parsed.config.shmem_copy, "stream");
  EXPECT_EQ(parsed.config.rendezvous, Rendezvous::coop);
  EXPECT_EQ(parsed.config.verbose, 3);
  EXPECT_TRUE(parsed.config.summary);
  EXPECT_TRUE(parsed.config.send_release);
}

TEST(config, chunks_of_copies_are_a_length_within_bounds_or_automatic) {
  EXPECT_EQ(parse({"SLUICE_COPY_CHUNK=auto"}).config.copy_chunk, 0U);
  EXPECT_TRUE(parse({"SLUICE_COPY_CHUNK=auto"}).errors.empty());
  for (const char* bad : {"SLUICE_COPY_CHUNK=0", "SLUICE_COPY_CHUNK=4095", "SLUICE_COPY_CHUNK=65M", "SLUICE_COPY_CHUNK=often"}) {
    const auto errors = parse({bad}).errors;
    ASSERT_EQ(errors.size(), 1U) << bad;
    EXPECT_EQ(errors.front(), std::string(bad) + ": expected auto or a number of bytes from 4K to 64M");
  }
}

struct WordsOf {
  std::string name;
  std::vector<std::string> words;
};

const ConfigVariable& variable_called(std::string_view name) {
  const auto& table = config_variables();
  return *std::find_if(table.begin(), table.end(), [&](const ConfigVariable& variable) { return variable.name == name; });
}

TEST(config, every_word_that_is_expected_is_accepted_and_shown) {
  const std::vector<WordsOf> choices{
      {"SLUICE_ENABLE", {"0", "1"}},
      {"SLUICE_RELEASE", {"auto", "off", "matched", "early"}},
      {"SLUICE_BLOCKS", {"auto", "on", "off"}},
      {"SLUICE_HUGE_PAGES", {"keep", "replace"}},
      {"SLUICE_COLLECTIVES", {"auto", "all", "off"}},
      {"SLUICE_ONESIDED", {"auto", "all", "off"}},
      {"SLUICE_SEND_RELEASE", {"0", "1"}},
      {"SLUICE_GUARD", {"auto", "mprotect", "userfaultfd"}},
      {"SLUICE_SHMEM_COPY", {"auto", "alias", "cma", "stream"}},
      {"SLUICE_RNDV",
       {"auto", "rput", "rget", "coop", "coop-coll", "coop-load", "coop-hca", "getcqe", "get", "rdrp", "putnr", "put"}},
      {"SLUICE_FREQUENT_SENDS", {"off", "nonblocking", "all"}},
      {"SLUICE_VERBOSE", {"0", "1", "2", "3"}},
      {"SLUICE_SUMMARY", {"0", "1"}}};
  for (const auto& [name, words] : choices) {
    const ConfigVariable& variable = variable_called(name);
    for (const std::string& word : words) {
      EXPECT_NE(variable.expected.find(word), std::string_view::npos) << name << ' ' << word;
      const std::string setting = std::string(name).append("=").append(word);
      EXPECT_EQ(variable.show(parse({setting.c_str()}).config), word);
    }
  }
}

TEST(config, pages_are_kept_without_blocks_and_unless_asked_without_releases) {
  EXPECT_FALSE(parse({}).config.keeps_pages());
  EXPECT_TRUE(parse({"SLUICE_BLOCKS=off"}).config.keeps_pages());
  EXPECT_TRUE(parse({"SLUICE_RELEASE=off"}).config.keeps_pages());
  EXPECT_FALSE(parse({"SLUICE_RELEASE=off", "SLUICE_BLOCKS=on"}).config.keeps_pages());
  EXPECT_TRUE(parse({"SLUICE_RELEASE=off", "SLUICE_BLOCKS=off"}).config.keeps_pages());
  EXPECT_FALSE(parse({"SLUICE_RELEASE=matched"}).config.keeps_pages());
}

TEST(config, protocols_inside_a_node_have_their_names) {
  EXPECT_EQ(rendezvous_inside_a_node("coop-load"), Rendezvous::coop_load);
  EXPECT_EQ(rendezvous_inside_a_node("auto"), Rendezvous::automatic);
  EXPECT_EQ(rendezvous_inside_a_node("coop-hca"), std::nullopt);
  EXPECT_EQ(rendezvous_inside_a_node("put"), std::nullopt);
  EXPECT_EQ(rendezvous_inside_a_node("sideways"), std::nullopt);
}

TEST(config, modes_of_collectives_have_their_names) {
  EXPECT_EQ(collective_mode("off"), CarryMode::off);
  EXPECT_EQ(collective_mode("auto"), CarryMode::automatic);
  EXPECT_EQ(collective_mode("all"), CarryMode::all);
  EXPECT_EQ(collective_mode("some"), std::nullopt);
}

TEST(config, bad_value_names_variable_value_and_what_is_expected) {
  const ParsedConfig parsed = parse({"SLUICE_RELEASE=sometimes"});

  ASSERT_EQ(parsed.errors.size(), 1U);
  EXPECT_EQ(parsed.errors[0], "SLUICE_RELEASE=sometimes: expected auto, off, matched or early");
}

TEST(config, bad_value_leaves_the_default) {
  EXPECT_EQ(parse({"SLUICE_EAGER_LIMIT=4Q"}).config.eager_limit, Config{}.eager_limit);
}

TEST(config, every_bad_value_is_reported) { EXPECT_EQ(parse({"SLUICE_ENABLE=2", "SLUICE_VERBOSE=loud"}).errors.size(), 2U); }

TEST(config, item_of_a_list_that_is_not_known_is_named) {
  const ParsedConfig parsed = parse({"SLUICE_TRANSPORTS=shmem,pigeon"});

  ASSERT_EQ(parsed.errors.size(), 1U);
  EXPECT_EQ(parsed.errors[0],
            "SLUICE_TRANSPORTS=shmem,pigeon: \"pigeon\" is not known, expected a comma-separated list of shmem, verbs and tcp");
}

TEST(config, empty_value_counts_as_not_set) {
  const ParsedConfig parsed = parse({"SLUICE_RELEASE=", "SLUICE_TRANSPORTS="});

  EXPECT_TRUE(parsed.errors.empty());
  EXPECT_EQ(parsed.config.release, ReleaseMode::automatic);
  EXPECT_EQ(parsed.config.transports, "shmem,verbs,tcp");
}

TEST(config, first_of_two_settings_counts) { EXPECT_EQ(parse({"SLUICE_VERBOSE=1", "SLUICE_VERBOSE=2"}).config.verbose, 1); }

TEST(config, misspelt_name_is_answered_with_the_nearest) {
  const ParsedConfig parsed = parse({"SLUICE_RELAESE=off"});

  ASSERT_EQ(parsed.warnings.size(), 1U);
  EXPECT_EQ(parsed.warnings[0], "SLUICE_RELAESE is not known; did you mean SLUICE_RELEASE?");
  EXPECT_TRUE(parsed.errors.empty());
}

TEST(config, name_that_resembles_nothing_is_answered_without_a_guess) {
  const ParsedConfig parsed = parse({"SLUICE_XYZZY=1"});

  ASSERT_EQ(parsed.warnings.size(), 1U);
  EXPECT_EQ(parsed.warnings[0], "SLUICE_XYZZY is not known; `sluice info --config` lists what is");
}

TEST(config, names_of_others_are_left_alone) {
  const ParsedConfig parsed = parse({"SLUICE=1", "XSLUICE_RELEASE=x", "PATH=/bin", "SLUICE_NO_EQUALS"});

  EXPECT_TRUE(parsed.errors.empty());
  EXPECT_TRUE(parsed.warnings.empty());
}

}  // namespace
}  // namespace sluice
