// The `sluice` command: one class per subcommand.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iterator>
#include <string>
#include <vector>

#include "tools/exit_status.hpp"
#include "tools/info.hpp"
#include "tools/run.hpp"

namespace {

struct CommandLine {
  std::vector<std::string> own;            // up to the first "--", last word first, as CLI11 takes them
  std::vector<std::string> behind_dashes;  // from there on; keeps the "--" of a program that was named before it
};

/// CLI11 would give the words behind "--" to the command itself and not to `run`.
CommandLine split(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto dashes = std::find(words.begin(), words.end(), "--");
  return {{std::make_reverse_iterator(dashes), words.rend()}, {dashes, words.end()}};
}

}  // namespace

int main(int argc, char** argv) {
  try {
    CLI::App app("Runs unmodified MPI programs under the Sluice runtime.", "sluice");
    app.set_version_flag("--version", "sluice " SLUICE_VERSION);
    app.require_subcommand(1);
    const sluice::RunCommand run(app);
    const sluice::InfoCommand info(app);
    CommandLine line = split(argc, argv);
    try {
      app.parse(line.own);
    } catch (const CLI::ParseError& error) {
      return app.exit(error) == 0 ? sluice::exit_success : sluice::exit_usage;
    }
    return run.chosen() ? run.execute(line.behind_dashes) : info.execute();
  } catch (const std::exception& error) {
    std::fputs("sluice: ", stderr);
    std::fputs(error.what(), stderr);
    std::fputs("\n", stderr);
    return sluice::exit_failure;
  }
}
