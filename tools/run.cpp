#include "tools/run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "tools/exit_status.hpp"
#include "tools/preload.hpp"

namespace sluice {

namespace {

/// "SLUICE_EAGER_LIMIT" becomes "--eager-limit".
std::string option_name(std::string_view variable) {
  std::string name = "--";
  for (const char letter : variable.substr(std::string_view("SLUICE_").size())) {
    name += letter == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return name;
}

/// What turns a switch over: "--summary", or "--no-verbs-ordered" for one that is on.
std::string flag_name(std::string_view variable, bool on_by_default) {
  if (variable == "SLUICE_ENABLE") return "--disable";
  const std::string name = option_name(variable);
  return on_by_default ? "--no-" + name.substr(std::string_view("--").size()) : name;
}

bool is_switch(const ConfigVariable& variable) { return variable.expected == "0 or 1"; }

/// "off|matched|early" where a few words are all that may be said, which completion and help then show; what a path is of.
std::string type_of(const ConfigVariable& variable) {
  if (variable.expected.starts_with("a directory")) return "DIRECTORY";
  if (variable.expected.ends_with("the path of a file")) return "FILE";
  std::string type(variable.expected);
  for (const std::string_view separator : {", ", " or "}) {
    for (std::size_t at; (at = type.find(separator)) != std::string::npos;) type.replace(at, separator.size(), "|");
  }
  const bool words_only = std::all_of(type.begin(), type.end(), [](unsigned char letter) {
    return std::islower(letter) || std::isdigit(letter) || letter == '|' || letter == '-';
  });
  return words_only && !type.empty() ? type : "VALUE";
}

/// Puts the library into LD_PRELOAD; false, with a message, when there is none that could be put there.
bool preload_library() {
  const auto library = find_library();
  if (!library) {
    fmt::print(stderr, "sluice run: libsluice.so is neither installed beside this command nor in its build tree\n");
    return false;
  }
  if (library->string().find_first_of(": ") != std::string::npos) {
    fmt::print(stderr, "sluice run: {}: LD_PRELOAD cannot name a path with a colon or a space\n", library->string());
    return false;
  }
  const char* const existing = std::getenv("LD_PRELOAD");
  ::setenv("LD_PRELOAD", with_preload(existing ? existing : "", library->string()).c_str(), 1);
  return true;
}

int become(const std::vector<std::string>& program) {
  std::vector<char*> arguments;
  std::transform(program.begin(), program.end(), std::back_inserter(arguments),
                 [](const std::string& argument) { return const_cast<char*>(argument.c_str()); });
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  const int error = errno;
  fmt::print(stderr, "sluice run: {}: {}\n", program[0], std::strerror(error));
  return error == ENOENT ? exit_not_found : exit_not_runnable;
}

}  // namespace

RunCommand::RunCommand(CLI::App& parent, std::vector<std::string> behind_dashes)
    : Subcommand(parent, "run", "Run a program with Sluice preloaded, or mpirun with everything that it starts"),
      behind_dashes_(std::move(behind_dashes)) {
  command().footer("Behind the options: [--] program [arguments]");
  command().prefix_command();
  for (const ConfigVariable& variable : config_variables()) add_option(variable);
}

void RunCommand::add_option(const ConfigVariable& variable) {
  const std::string name(variable.name);
  if (is_switch(variable)) {
    const bool on_by_default = variable.default_value == "1";
    const std::string value = on_by_default ? "0" : "1";
    command().add_flag_function(
        flag_name(name, on_by_default), [this, name, value](std::int64_t) { settings_[name] = value; },
        fmt::format("Sets {}={}. {}", name, value, variable.meaning));
    return;
  }
  command()
      .add_option_function<std::string>(
          option_name(name), [this, name](const std::string& value) { settings_[name] = value; },
          fmt::format("Sets {}: {}; default {}. {}", name, variable.expected, variable.default_value, variable.meaning))
      ->type_name(type_of(variable));
}

int RunCommand::execute() {
  std::vector<std::string> words = command().remaining();
  // The first "--" ends the options; one behind the program's name is the program's own.
  const bool named = !words.empty();
  const std::size_t skipped = !named && !behind_dashes_.empty() ? 1 : 0;
  words.insert(words.end(), behind_dashes_.begin() + static_cast<std::ptrdiff_t>(skipped), behind_dashes_.end());
  if (words.empty()) {
    fmt::print(stderr, "sluice run: which program? See sluice run --help\n");
    return exit_usage;
  }
  if (named && words.front().starts_with("-")) {
    fmt::print(stderr, "sluice run: {} is not an option; see sluice run --help\n", words.front());
    return exit_usage;
  }
  for (const auto& [name, value] : settings_) ::setenv(name.c_str(), value.c_str(), 1);
  // A mistake is told here, once, and not by every rank.
  const ParsedConfig parsed = parse_config(environ);
  for (const std::string& error : parsed.errors) fmt::print(stderr, "sluice run: {}\n", error);
  if (!parsed.errors.empty()) return exit_usage;
  if (!preload_library()) return exit_failure;
  return become(words);
}

}  // namespace sluice
