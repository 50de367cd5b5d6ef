#include "tools/check/check.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/check/finding.hpp"
#include "tools/exit_status.hpp"
#include "tools/preload.hpp"
#include "tools/terminal.hpp"

namespace sluice {

namespace {

struct Line {
  std::string name;
  Finding finding;
};

const char* name_of(State state) {
  switch (state) {
    case State::good:
      return "ok";
    case State::note:
      return "note";
    case State::warning:
      return "warning";
    case State::problem:
      return "problem";
  }
  return "";
}

Colour colour_of(State state) {
  switch (state) {
    case State::good:
      return Colour::green;
    case State::note:
      return Colour::grey;
    case State::warning:
      return Colour::yellow;
    case State::problem:
      return Colour::red;
  }
  return Colour::none;
}

Examined examine(const std::string& program) {
  ParsedConfig parsed = parse_config(environ);
  const auto library = find_library();
  const Config config = parsed.config;
  return {config, std::move(parsed), library ? std::optional(library->string()) : std::nullopt, program};
}

std::vector<Line> examine_all(const Examined& examined) {
  std::vector<Line> lines;
  for (const auto& group : {checks_of_preloading(), checks_of_host(), checks_of_memory(), checks_of_network()}) {
    for (const Check& check : group) {
      try {
        lines.push_back({check.name, check.examine(examined)});
      } catch (const std::exception& error) {
        lines.push_back({check.name, {State::warning, fmt::format("cannot be told: {}", error.what()), ""}});
      }
    }
  }
  return lines;
}

std::size_t count(const std::vector<Line>& lines, State state) {
  return static_cast<std::size_t>(
      std::count_if(lines.begin(), lines.end(), [state](const Line& line) { return line.finding.state == state; }));
}

std::string number_of(std::size_t count, const char* noun) { return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s"); }

void print_text(const std::vector<Line>& lines) {
  const Palette palette(stdout);
  constexpr std::size_t width = 19;  // of the longest name
  for (const auto& [name, finding] : lines) {
    const std::string state = fmt::format("{:<7}", name_of(finding.state));
    fmt::print("{}  {:<{}}  {}\n", palette.paint(colour_of(finding.state), state), name, width, finding.found);
    if (!finding.advice.empty()) fmt::print("{:>{}}{}\n", "", 7 + 2 + width + 2, palette.paint(Colour::bold, finding.advice));
  }
  fmt::print("{}, {}\n", number_of(count(lines, State::problem), "problem"), number_of(count(lines, State::warning), "warning"));
}

void print_json(const std::vector<Line>& lines) {
  nlohmann::json checks = nlohmann::json::array();
  for (const auto& [name, finding] : lines) {
    checks.push_back({{"name", name}, {"state", name_of(finding.state)}, {"found", finding.found}, {"advice", finding.advice}});
  }
  const nlohmann::json all = {
      {"checks", checks}, {"problems", count(lines, State::problem)}, {"warnings", count(lines, State::warning)}};
  fmt::print("{}\n", all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace

CheckCommand::CheckCommand(CLI::App& parent)
    : Subcommand(parent, "check", "Find what keeps Sluice from working well here, and say what to do") {
  command().add_option("program", program_, "An MPI program to examine as well")->type_name("");
  command().add_flag("--json", json_, "Print JSON");
}

int CheckCommand::execute() {
  const std::vector<Line> lines = examine_all(examine(program_));
  if (json_) {
    print_json(lines);
  } else {
    print_text(lines);
  }
  return count(lines, State::problem) == 0 ? exit_success : exit_failure;
}

}  // namespace sluice
