#include "tools/reference.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <vector>

#include "runtime/trace/format.hpp"
#include "runtime/trace/kinds.hpp"
#include "tools/exit_status.hpp"

namespace sluice {

namespace {

/// "-" is a hyphen in running text, and only "\-" can be copied into a shell. A line may be broken behind each "|".
std::string escaped(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '\\') {
      out += "\\e";
    } else if (letter == '-') {
      out += "\\-";
    } else if (letter == '|') {
      out += "|\\:";
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

/// As it is declared, without the check that CLI11 puts behind it.
std::string type_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.substr(0, type.find(':'));
}

/// Options first, then what has no name.
std::vector<const CLI::Option*> all_of(const CLI::App& app) {
  std::vector<const CLI::Option*> options = app.get_options();
  std::stable_partition(options.begin(), options.end(), [](const CLI::Option* option) { return option->nonpositional(); });
  return options;
}

/// The values of a type that is written as "a|b|c".
std::string choices_of(const CLI::Option& option) {
  std::string type = type_of(option);
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

std::string with_backslashes(std::string_view text, std::string_view before) {
  std::string out;
  for (const char letter : text) {
    if (before.find(letter) != std::string_view::npos) out += '\\';
    out += letter;
  }
  return out;
}

/// In quotes, whatever it contains.
std::string shell_word(std::string_view text) {
  std::string out = "'";
  for (const char letter : text) out += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return out + "'";
}

/// The first sentence. What `run` sets is left out: that has the option's name.
std::string summary_of(const CLI::Option& option) {
  constexpr std::string_view between = ". ";
  std::string text = option.get_description();
  const auto set = text.starts_with("Sets SLUICE_") ? text.find(between) : std::string::npos;
  if (set != std::string::npos) text.erase(0, set + between.size());
  text = text.substr(0, text.find(between));
  if (text.ends_with('.')) text.pop_back();
  return text;
}

/// What _arguments does for a value: a space only says what is wanted.
std::string zsh_action(const CLI::Option& option) {
  if (const std::string choices = choices_of(option); !choices.empty()) return "(" + choices + ")";
  if (const std::string type = type_of(option); option.nonpositional()) {
    if (type == "DIRECTORY") return "_files -/";
    return type == "FILE" || type == "PATH" ? "_files" : " ";
  }
  // Of what has no name all but this are traces.
  if (option.get_single_name() == "program") return "_files -g \"*(-*)\"";
  return fmt::format("_files -g \"*{}\"", trace::file_suffix);
}

/// What is no longer offered behind this option: itself, unless it may be repeated, and what contradicts it.
std::string zsh_exclusions(const CLI::App& app, const CLI::Option& option) {
  if (&option == app.get_help_ptr() || &option == app.get_version_ptr()) return "(- : *)";
  std::vector<std::string> names;
  if (names_of(option).size() > 1) names = names_of(option);
  for (const CLI::Option* other : all_of(app)) {
    if (option.get_excludes().count(const_cast<CLI::Option*>(other)) == 0) continue;
    const auto more = names_of(*other);
    names.insert(names.end(), more.begin(), more.end());
  }
  return names.empty() ? "" : "(" + joined(names) + ")";
}

/// An option as _arguments wants it, once for each of its names.
std::string zsh_option(const CLI::App& app, const CLI::Option& option) {
  const bool repeats = option.get_expected_max() > 1;
  std::string value;
  if (takes_value(option)) value = fmt::format(":{}:{}", option.get_single_name(), zsh_action(option));
  std::string lines;
  for (const std::string& name : names_of(option)) {
    const std::string_view may_touch = value.empty() ? "" : name.starts_with("--") ? "=" : "+";
    lines += " \\\n        " + shell_word(fmt::format("{}{}{}[{}]{}", repeats ? "*" : zsh_exclusions(app, option), name,
                                                      may_touch, with_backslashes(summary_of(option), "\\[]:"), value));
  }
  return lines;
}

std::string zsh_options(const CLI::App& app) {
  std::string lines;
  for (const CLI::Option* option : all_of(app)) {
    if (option->nonpositional()) lines += zsh_option(app, *option);
  }
  return lines;
}

std::string zsh_words(const CLI::App& subcommand) {
  std::string lines = zsh_options(subcommand);
  int position = 0;
  for (const CLI::Option* option : all_of(subcommand)) {
    if (option->nonpositional()) continue;
    lines += " \\\n        " + shell_word(fmt::format("{}:{}{}:{}", ++position, option->get_required() ? "" : ":",
                                                      option->get_single_name(), zsh_action(*option)));
  }
  return lines;
}

/// A program and its words behind the options: none of those is an option here.
constexpr std::string_view zsh_program = R"( \
        '(-)1:program: _command_names -e' \
        '*::words of the program: _sluice_program')";

std::string zsh_completion_of(const CLI::App& subcommand) {
  const bool runs = subcommand.get_prefix_command();
  return fmt::format("    {})\n      _arguments -S{}{}{} && ret=0\n      ;;\n", subcommand.get_name(), runs ? " -A '-*'" : "",
                     zsh_words(subcommand), runs ? zsh_program : "");
}

}  // namespace

std::string options_as_man_page(const CLI::App& subcommand) {
  std::string text;
  for (const CLI::Option* option : all_of(subcommand)) {
    const std::string value = takes_value(*option) ? type_of(*option) : "";
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

// At its end: the file has been loaded by zsh's completion for the first word, or sourced.
std::string zsh_completion(const CLI::App& top) {
  std::string names;
  std::string cases;
  for (const CLI::App* subcommand : shown_subcommands(top)) {
    names += fmt::format("    {}\n", shell_word(subcommand->get_name() + ":" + subcommand->get_description()));
    cases += zsh_completion_of(*subcommand);
  }
  return fmt::format(R"(#compdef sluice
# zsh completion for sluice; printed by `sluice completion zsh`
# The words of a program, with what it has itself for them. A first "--" is among them, a later one is not.
_sluice_program() {{
  if [[ $words[1] = -- ]]; then
    shift words
    (( CURRENT-- ))
  fi
  _normal
}}
_sluice() {{
  local curcontext=$curcontext state state_descr line ret=1
  local -A opt_args
  local -a subcommands=(
{0}  )
  _arguments -C{1} \
        '(-): :->subcommand' \
        '(-)*:: :->words' && ret=0
  if [[ $state = subcommand ]]; then
    _describe -t commands subcommand subcommands && ret=0
    return ret
  fi
  [[ $state = words ]] || return ret
  curcontext=${{curcontext%:*:*}}:sluice-$words[1]:
  case $words[1] in
{2}    *) _message 'no such subcommand' ;;
  esac
  return ret
}}
if [[ $funcstack[1] = _sluice ]]; then _sluice "$@"; else compdef _sluice sluice; fi
)",
                     names, zsh_options(top), cases);
}

CompletionCommand::CompletionCommand(CLI::App& parent)
    : Subcommand(parent, "completion", "Print a script that completes the words of this command in a shell") {
  command().add_option("shell", shell_, "bash or zsh")->required()->check(CLI::IsMember({"bash", "zsh"}))->type_name("bash|zsh");
}

int CompletionCommand::execute() {
  const CLI::App& top = *command().get_parent();
  fmt::print("{}", shell_ == "zsh" ? zsh_completion(top) : bash_completion(top));
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
