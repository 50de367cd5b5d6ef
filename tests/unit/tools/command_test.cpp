// The `sluice` command as a user meets it: arguments in, output and exit status out.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/tools/shell.hpp"

namespace sluice {
namespace {

TEST(sluice_run, program_sees_the_library_and_the_settings_of_the_options) {
  const Result result = shell("$sluice run --release off --eager-limit 4K --summary --disable env");

  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(contains(result.output, "/libsluice.so\n")) << result.output;
  EXPECT_TRUE(contains(result.output, "SLUICE_RELEASE=off\n"));
  EXPECT_TRUE(contains(result.output, "SLUICE_EAGER_LIMIT=4K\n"));
  EXPECT_TRUE(contains(result.output, "SLUICE_SUMMARY=1\n"));
  EXPECT_TRUE(contains(result.output, "SLUICE_ENABLE=0\n"));
}

TEST(sluice_run, options_behind_the_program_belong_to_it) {
  EXPECT_EQ(shell("$sluice run sh -c 'echo \"$@\"' sh --release -- --help").output, "--release -- --help\n");
}

TEST(sluice_run, two_dashes_end_the_options) {
  EXPECT_EQ(shell("$sluice run --release off -- sh -c 'echo $SLUICE_RELEASE \"$@\"' sh -- x").output, "off -- x\n");
}

TEST(sluice_run, other_preloaded_tools_stay_in_front) {
  const Result result = shell("LD_PRELOAD=libdl.so.2 $sluice run sh -c 'echo $LD_PRELOAD'");

  EXPECT_TRUE(result.output.starts_with("libdl.so.2:/")) << result.output;
}

TEST(sluice_run, status_is_that_of_the_program) { EXPECT_EQ(shell("$sluice run sh -c 'exit 7'").status, 7); }

TEST(sluice_run, bad_value_of_an_option_is_told_before_anything_runs) {
  const Result result = shell("$sluice run --release sometimes echo started");

  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.output, "sluice run: SLUICE_RELEASE=sometimes: expected auto, off, matched or early\n");
}

TEST(sluice_run, bad_value_in_the_environment_is_told_before_anything_runs) {
  const Result result = shell("SLUICE_VERBOSE=loud $sluice run echo started");

  EXPECT_EQ(result.status, 2);
  EXPECT_FALSE(contains(result.output, "started"));
}

TEST(sluice_run, unknown_option_is_no_program) {
  const Result result = shell("$sluice run --relaese off echo started");

  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(contains(result.output, "--relaese is not an option"));
}

TEST(sluice_run, missing_program_is_asked_for) { EXPECT_EQ(shell("$sluice run --summary").status, 2); }

TEST(sluice_run, program_that_does_not_exist_has_the_status_of_the_shell) {
  const Result result = shell("$sluice run /nowhere/program");

  EXPECT_EQ(result.status, 127);
  EXPECT_EQ(result.output, "sluice run: /nowhere/program: No such file or directory\n");
}

TEST(sluice_run, program_that_is_not_executable_has_the_status_of_the_shell) {
  EXPECT_EQ(shell("$sluice run /dev/null").status, 126);
}

TEST(sluice_info, value_and_its_source_are_told) {
  const auto settings = nlohmann::json::parse(shell("SLUICE_RELEASE=matched $sluice info --config --json").output);

  for (const auto& setting : settings) {
    const bool set = setting["name"] == "SLUICE_RELEASE";
    EXPECT_EQ(setting["source"], set ? "environment" : "default");
    EXPECT_EQ(setting["value"], set ? nlohmann::json("matched") : setting["default"]);
  }
}

TEST(sluice_info, library_and_host_are_found) {
  const auto info = nlohmann::json::parse(shell("$sluice info --json").output);

  EXPECT_TRUE(info["library"].is_string());
  EXPECT_TRUE(contains(info["host_mpi"]["version"], "Open MPI v4."));
  EXPECT_EQ(info["guard"]["chosen"], "mprotect");
  EXPECT_EQ(info["transports"], "shmem,verbs,tcp");
}

TEST(sluice_info, guard_that_was_asked_for_is_told_with_its_reason) {
  const auto info = nlohmann::json::parse(shell("SLUICE_GUARD=userfaultfd $sluice info --json").output);

  EXPECT_TRUE(contains(info["guard"]["reason"], "SLUICE_GUARD=userfaultfd"));
}

TEST(sluice_info, no_guard_is_chosen_without_release) {
  const auto info = nlohmann::json::parse(shell("SLUICE_RELEASE=off $sluice info --json").output);

  EXPECT_EQ(info["guard"]["chosen"], "none");
  EXPECT_EQ(info["guard"]["reason"], "SLUICE_RELEASE=off");
}

TEST(sluice_info, bad_value_is_told_and_makes_the_status_two) {
  const Result result = shell("SLUICE_SUMMARY=maybe $sluice info");

  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(contains(result.output, "SLUICE_SUMMARY=maybe: expected 0 or 1"));
}

TEST(sluice_info, misspelt_name_is_answered_with_the_nearest) {
  EXPECT_TRUE(contains(shell("SLUICE_EAGER_LIMTI=4K $sluice info").output, "did you mean SLUICE_EAGER_LIMIT?"));
}

TEST(sluice, command_without_a_subcommand_is_refused) { EXPECT_EQ(shell("$sluice").status, 2); }

TEST(sluice, version_is_told) { EXPECT_TRUE(shell("$sluice --version").output.starts_with("sluice ")); }

}  // namespace
}  // namespace sluice
