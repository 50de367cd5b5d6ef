// The `sluice` command: one class per subcommand.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "tools/check/check.hpp"
#include "tools/diff/diff.hpp"
#include "tools/dump.hpp"
#include "tools/exit_status.hpp"
#include "tools/export/export.hpp"
#include "tools/info.hpp"
#include "tools/interruption.hpp"
#include "tools/reference.hpp"
#include "tools/report/report.hpp"
#include "tools/run.hpp"
#include "tools/timeline/timeline.hpp"

namespace {

struct CommandLine {
  std::vector<std::string> own;            // last word first, as CLI11 takes them
  std::vector<std::string> behind_dashes;  // of `run`, the words from the first "--" on: they may be the program's
};

CommandLine split(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const bool runs = !words.empty() && words.front() == "run";
  const auto dashes = runs ? std::find(words.begin(), words.end(), "--") : words.end();
  return {{std::make_reverse_iterator(dashes), words.rend()}, {dashes, words.end()}};
}

std::vector<std::unique_ptr<sluice::Subcommand>> make_subcommands(CLI::App& app, std::vector<std::string> behind_dashes) {
  std::vector<std::unique_ptr<sluice::Subcommand>> made;
  made.push_back(std::make_unique<sluice::RunCommand>(app, std::move(behind_dashes)));
  made.push_back(std::make_unique<sluice::InfoCommand>(app));
  made.push_back(std::make_unique<sluice::CheckCommand>(app));
  made.push_back(std::make_unique<sluice::DumpCommand>(app));
  made.push_back(std::make_unique<sluice::ReportCommand>(app));
  made.push_back(std::make_unique<sluice::DiffCommand>(app));
  made.push_back(std::make_unique<sluice::ExportCommand>(app));
  made.push_back(std::make_unique<sluice::TimelineCommand>(app));
  made.push_back(std::make_unique<sluice::CompletionCommand>(app));
  made.push_back(std::make_unique<sluice::ManualOptionsCommand>(app));
  return made;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    CLI::App app("Runs unmodified MPI programs under the Sluice runtime.", "sluice");
    app.set_version_flag("--version", "sluice " SLUICE_VERSION);
    app.require_subcommand(1);
    CommandLine line = split(argc, argv);
    const auto subcommands = make_subcommands(app, std::move(line.behind_dashes));
    try {
      app.parse(line.own);
    } catch (const CLI::ParseError& error) {
      return app.exit(error) == 0 ? sluice::exit_success : sluice::exit_usage;
    }
    const auto chosen =
        std::find_if(subcommands.begin(), subcommands.end(), [](const auto& subcommand) { return subcommand->chosen(); });
    return (*chosen)->execute();
  } catch (const sluice::Interruption& interruption) {
    interruption.take_effect();
  } catch (const std::exception& error) {
    std::fputs("sluice: ", stderr);
    std::fputs(error.what(), stderr);
    std::fputs("\n", stderr);
    return sluice::exit_failure;
  }
}
