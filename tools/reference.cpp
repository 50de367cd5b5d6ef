#include "tools/reference.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <vector>

#include "runtime/trace_kinds.hpp"
#include "tools/exit_status.hpp"

namespace sluice {

namespace {

/// "-" is a hyphen in running text, and only "\-" can be copied into a shell.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '\\') {
      out += "\\e";
    } else if (letter == '-') {
      out += "\\-";
    } else {
      out += letter;
    }
  }
  // A control line would begin with one of these.
  return out.starts_with(".") || out.starts_with("'") ? "\\&" + out : out;
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

/// Options first, then what has no name.
std::vector<const CLI::Option*> all_of(const CLI::App& app) {
  std::vector<const CLI::Option*> options = app.get_options();
  std::stable_partition(options.begin(), options.end(), [](const CLI::Option* option) { return option->nonpositional(); });
  return options;
}

/// The values of a type that is written as "a|b|c".
std::string choices_of(const CLI::Option& option) {
  std::string type = option.get_type_name();
  if (type.find('|') == std::string::npos) return "";
  std::replace(type.begin(), type.end(), '|', ' ');
  return type;
}

std::vector<const CLI::App*> shown_subcommands(const CLI::App& top) {
  std::vector<const CLI::App*> shown = top.get_subcommands([](const CLI::App* app) { return !app->get_group().empty(); });
  return shown;
}

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

/// "detail:how|post" is called "how", whatever it is made of.
std::string shown_name(const std::string& member) {
  const auto begin = member.find(':') == std::string::npos ? 0 : member.find(':') + 1;
  return member.substr(begin, member.find_first_of("=|@", begin) - begin);
}

std::string kinds_as_man_page() {
  std::string text;
  for (const trace::KindText& kind : trace::kinds) {
    std::istringstream members{std::string(kind.members)};
    std::string names;
    for (std::string member; members >> member;) names += (names.empty() ? "" : ", ") + shown_name(member);
    text += fmt::format(".TP\n.B {}\n{}\n.br\n{}.\n", kind.name, escaped(kind.meaning), escaped(names));
  }
  return text;
}

std::string completion_of(const CLI::App& subcommand) {
  std::vector<std::string> words;
  std::vector<std::string> with_value;
  std::string values;
  for (const CLI::Option* option : all_of(subcommand)) {
    const auto names = names_of(*option);
    words.insert(words.end(), names.begin(), names.end());
    if (names.empty() || !takes_value(*option)) continue;
    with_value.insert(with_value.end(), names.begin(), names.end());
    const std::string choices = choices_of(*option);
    if (!choices.empty()) values += fmt::format("        {}) choices='{}' ;;\n", fmt::join(names, "|"), choices);
  }
  return fmt::format(
      "    {0})\n      options='{1}'\n      takes_value=' {2} '\n      case $previous in\n{3}        *) ;;\n      esac\n      "
      ";;\n",
      subcommand.get_name(), joined(words), joined(with_value), values);
}

}  // namespace

std::string options_as_man_page(const CLI::App& subcommand) {
  std::string text;
  for (const CLI::Option* option : all_of(subcommand)) {
    const std::string value = takes_value(*option) ? option->get_type_name() : "";
    if (option->nonpositional()) {
      std::vector<std::string> names;
      for (const std::string& name : names_of(*option)) names.push_back(fmt::format("\\fB{}\\fR", escaped(name)));
      text += fmt::format(".TP\n{}{}\n", fmt::join(names, ", "), value.empty() ? "" : fmt::format(" \\fI{}\\fR", escaped(value)));
    } else {
      text += fmt::format(".TP\n\\fI{}\\fR\n", escaped(option->get_single_name()));
    }
    text += escaped(option->get_description()) + (option->get_description().ends_with('.') ? "\n" : ".\n");
  }
  return text;
}

// Words behind the program that `run` is given are completed as that program's own, where the package bash-completion offers
// that, and as files otherwise.
std::string bash_completion(const CLI::App& top) {
  std::vector<std::string> names;
  std::string cases;
  for (const CLI::App* subcommand : shown_subcommands(top)) {
    names.push_back(subcommand->get_name());
    cases += completion_of(*subcommand);
  }
  return fmt::format(R"(# bash completion for sluice; printed by `sluice completion bash`
_sluice() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}} options= takes_value= choices= i
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{0} --help --version' -- "$word"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{1}    *) return ;;
  esac
  if [ "${{COMP_WORDS[1]}}" = run ]; then
    for ((i = 2; i < COMP_CWORD; i++)); do
      case ${{COMP_WORDS[i]}} in
        --) i=$((i + 1)) ;;
        -*) case $takes_value in *" ${{COMP_WORDS[i]}} "*) i=$((i + 1)) ;; esac; continue ;;
      esac
      if declare -F _command_offset > /dev/null; then _command_offset "$i"; else COMPREPLY=($(compgen -f -- "$word")); fi
      return
    done
  fi
  case $takes_value in
    *" $previous "*) if [ -n "$choices" ]; then COMPREPLY=($(compgen -W "$choices" -- "$word")); else COMPREPLY=($(compgen -f -- "$word")); fi ;;
    *) if [[ $word == -* ]]; then COMPREPLY=($(compgen -W "$options" -- "$word")); else COMPREPLY=($(compgen -c -f -- "$word")); fi ;;
  esac
}}
complete -o filenames -F _sluice sluice
)",
                     joined(names), cases);
}

CompletionCommand::CompletionCommand(CLI::App& parent)
    : Subcommand(parent, "completion", "Print a script that completes the words of this command in a shell") {
  command().add_option("shell", shell_, "bash")->required()->check(CLI::IsMember({"bash"}))->type_name("bash");
}

int CompletionCommand::execute() {
  fmt::print("{}", bash_completion(*command().get_parent()));
  return exit_success;
}

ManualOptionsCommand::ManualOptionsCommand(CLI::App& parent)
    : Subcommand(parent, "manual-options", "Print the options of a subcommand for its manual page") {
  command().group("");
  auto* const name = command().add_option("name", name_, "Subcommand");
  command().add_flag("--kinds", kinds_, "The kinds of records in a trace instead")->excludes(name);
}

int ManualOptionsCommand::execute() {
  if (kinds_) {
    fmt::print("{}", kinds_as_man_page());
    return exit_success;
  }
  const auto known = command().get_parent()->get_subcommands([this](const CLI::App* app) { return app->get_name() == name_; });
  if (known.empty()) {
    fmt::print(stderr, "sluice manual-options: {} is no subcommand\n", name_);
    return exit_usage;
  }
  fmt::print("{}", options_as_man_page(*known.front()));
  return exit_success;
}

}  // namespace sluice
