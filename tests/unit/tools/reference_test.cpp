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

/// What zsh offers behind this line, one candidate or row of them a line, and then the line as the tab key leaves it. It stands
/// in a folder with a directory, a trace, a program and another file.
std::string offered_by_zsh(const std::string& line) {
  return shell(
             "folder=$(mktemp -d); trap 'rm -rf \"$folder\"' EXIT; $sluice completion zsh > $folder/_sluice; "
             "mkdir -p $folder/here/ranks; cd $folder/here; touch 0.trace notes.txt; cp /bin/true program; timeout 30 zsh -f "
             "'" SLUICE_TAB "' $folder '" +
             line + "'")
      .output;
}

class ZshCompletion : public ::testing::Test {
  void SetUp() override {
    if (shell("zsh -fc 'zmodload zsh/zpty'").status != 0) GTEST_SKIP() << "zsh with its module zpty is not installed";
  }
};

TEST(completion, subcommands_come_first) {
  const std::string offered = completions("''");

  EXPECT_TRUE(contains(offered, "run\ninfo\ncheck\n")) << offered;
  EXPECT_FALSE(contains(offered, "manual-options")) << offered;
}

TEST(completion, options_of_the_subcommand_are_offered) { EXPECT_EQ(completions("info --js"), "--json\n"); }

TEST(completion, values_of_an_option_are_offered) { EXPECT_EQ(completions("run --release ''"), "auto\noff\nmatched\nearly\n"); }

TEST(completion, values_do_not_name_the_check) { EXPECT_EQ(completions("info --format m"), "markdown\nman\n"); }

TEST(completion, words_behind_the_program_are_its_own) { EXPECT_EQ(completions("run --release off ./program --rele"), "\n"); }

TEST(completion, other_shells_are_refused) { EXPECT_EQ(shell("$sluice completion tcsh").status, 2); }

TEST(completion, zsh_gets_descriptions_in_quotes) {
  const std::string script = shell("$sluice completion zsh").output;

  EXPECT_TRUE(script.starts_with("#compdef sluice\n")) << script;
  EXPECT_TRUE(contains(script, "    'diff:Compare two traces: what waits longer, what less'\n")) << script;
  EXPECT_TRUE(contains(script, "'--format=[perfetto\\: Chrome")) << script;
  EXPECT_TRUE(contains(script, "besides what the system'\\''s socket holds]")) << script;
  EXPECT_FALSE(contains(script, "manual-options")) << script;
}

TEST(completion, zsh_gets_the_first_sentence_that_explains_a_variable) {
  EXPECT_TRUE(contains(shell("$sluice completion zsh").output, "'--disable[Whether Sluice does anything]'"));
}

TEST_F(ZshCompletion, script_is_valid_and_can_be_sourced) {
  const std::string script = "autoload -Uz compinit; compinit -u -D; source <($0 completion zsh); print $_comps[sluice]";

  EXPECT_EQ(shell("zsh -fc '" + script + "' $sluice").output, "_sluice\n");
}

TEST_F(ZshCompletion, subcommands_come_first_with_their_purpose) {
  const std::string offered = offered_by_zsh("sluice ");

  EXPECT_TRUE(contains(offered, "diff        -- Compare two traces: what waits longer, what less\n")) << offered;
  EXPECT_TRUE(contains(offered, "run         -- Run a program")) << offered;
  EXPECT_FALSE(contains(offered, "manual-options")) << offered;
}

TEST_F(ZshCompletion, options_of_the_command_stand_alone) {
  EXPECT_EQ(offered_by_zsh("sluice --v"), "line: sluice --version \n");
  EXPECT_EQ(offered_by_zsh("sluice --version "), "line: sluice --version \n");
}

TEST_F(ZshCompletion, options_of_the_subcommand_are_offered_with_their_help) {
  EXPECT_EQ(offered_by_zsh("sluice export -"),
            "--format      -- perfetto: Chrome trace events, for ui.perfetto.dev; otf2: an archive for Vampir and its like; csv: "
            "a line "
            "for each record\n"
            "--help    -h  -- Print this help message and exit\n"
            "--output  -o  -- The file, or for otf2 the directory, to write; without it standard output\n"
            "line: sluice export -\n");
}

TEST_F(ZshCompletion, what_contradicts_an_option_is_not_offered_behind_it) {
  EXPECT_EQ(offered_by_zsh("sluice info --json --fo"), "line: sluice info --json --fo\n");
}

TEST_F(ZshCompletion, lists_may_be_given_again) {
  EXPECT_EQ(offered_by_zsh("sluice dump --rank 0 --ra"), "line: sluice dump --rank 0 --rank=\n");
}

TEST_F(ZshCompletion, values_are_offered_as_words_of_their_own_and_behind_the_equals_sign) {
  EXPECT_EQ(offered_by_zsh("sluice run --release "), "auto     early    matched  off\nline: sluice run --release \n");
  EXPECT_EQ(offered_by_zsh("sluice run --release=m"), "line: sluice run --release=matched \n");
  EXPECT_EQ(offered_by_zsh("sluice run --rndv rd"), "line: sluice run --rndv rdrp \n");
}

TEST_F(ZshCompletion, traces_and_directories_are_offered_to_what_reads_traces) {
  EXPECT_EQ(offered_by_zsh("sluice dump "), "0.trace  ranks/\nline: sluice dump \n");
  EXPECT_EQ(offered_by_zsh("sluice diff 0.trace "), "0.trace  ranks/\nline: sluice diff 0.trace \n");
}

TEST_F(ZshCompletion, only_directories_can_hold_a_new_trace) {
  EXPECT_EQ(offered_by_zsh("sluice run --trace "), "line: sluice run --trace ranks/\n");
}

TEST_F(ZshCompletion, only_programs_can_be_checked) {
  EXPECT_EQ(offered_by_zsh("sluice check p"), "line: sluice check program \n");
}

TEST_F(ZshCompletion, run_completes_a_program_behind_its_options) {
  EXPECT_EQ(offered_by_zsh("sluice run --release off ./p"), "line: sluice run --release off ./program \n");
  EXPECT_EQ(offered_by_zsh("sluice run --summary mkdi"), "line: sluice run --summary mkdir \n");
}

TEST_F(ZshCompletion, words_behind_the_program_are_its_own) {
  EXPECT_EQ(offered_by_zsh("sluice run mkdir --pare"), "line: sluice run mkdir --parents \n");
  EXPECT_EQ(offered_by_zsh("sluice run -- mkdir --pare"), "line: sluice run -- mkdir --parents \n");
  EXPECT_EQ(offered_by_zsh("sluice run --summary -- mkdir --pare"), "line: sluice run --summary -- mkdir --parents \n");
  EXPECT_EQ(offered_by_zsh("sluice run ./program --rele"), "line: sluice run ./program --rele\n");
}

TEST(manual_options, values_do_not_name_the_check) {
  const std::string page = shell("$sluice manual-options diff").output;

  EXPECT_TRUE(contains(page, "\\fIPERCENT\\fR\n")) << page;
}

TEST(manual_options, hyphens_can_be_copied) {
  const std::string page = shell("$sluice manual-options info").output;

  EXPECT_TRUE(contains(page, "\\fB\\-\\-json\\fR")) << page;
}

}  // namespace
}  // namespace sluice
