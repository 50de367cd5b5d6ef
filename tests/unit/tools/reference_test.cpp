// Completion and manual options, taken from the parser.
#include <gtest/gtest.h>

#include "tests/unit/tools/shell.hpp"

namespace sluice {
namespace {

/// What bash would offer behind these words, the last of which is being typed; one a line.
std::string completions(const std::string& words) {
  return shell(
             "bash -c 'source <($0 completion bash); COMP_WORDS=(sluice \"$@\"); COMP_CWORD=$#; _sluice; printf \"%s\\n\" "
             "\"${COMPREPLY[@]}\"' $sluice " +
             words)
      .output;
}

TEST(completion, subcommands_come_first) {
  const std::string offered = completions("''");

  EXPECT_TRUE(contains(offered, "run\ninfo\ncheck\n")) << offered;
  EXPECT_FALSE(contains(offered, "manual-options")) << offered;
}

TEST(completion, options_of_the_subcommand_are_offered) { EXPECT_EQ(completions("info --js"), "--json\n"); }

TEST(completion, values_of_an_option_are_offered) { EXPECT_EQ(completions("run --release ''"), "off\nmatched\nearly\n"); }

TEST(completion, words_behind_the_program_are_its_own) { EXPECT_EQ(completions("run --release off ./program --rele"), "\n"); }

TEST(completion, other_shells_are_refused) { EXPECT_EQ(shell("$sluice completion tcsh").status, 2); }

TEST(manual_options, hyphens_can_be_copied) {
  const std::string page = shell("$sluice manual-options info").output;

  EXPECT_TRUE(contains(page, "\\fB\\-\\-json\\fR")) << page;
}

}  // namespace
}  // namespace sluice
