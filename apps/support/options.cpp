#include "apps/support/options.hpp"

#include <mpi.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace apps {

namespace {

template <class Number>
bool read_number(std::string_view text, Number& target) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return false;
  target = number;
  return true;
}

}  // namespace

OptionTable::OptionTable(std::string program, int rank) : program_(std::move(program)), rank_(rank) {}

void OptionTable::number(const char* name, std::size_t& target, const char* help) {
  options_.push_back({name, "a number", help, [&target](std::string_view text) { return read_number(text, target); }});
}

void OptionTable::number(const char* name, int& target, const char* help) {
  options_.push_back({name, "a number", help, [&target](std::string_view text) { return read_number(text, target); }});
}

void OptionTable::text(const char* name, std::string& target, const char* help) {
  options_.push_back({name, "a text", help, [&target](std::string_view text) {
                        target = text;
                        return !text.empty();
                      }});
}

void OptionTable::flag(const char* name, bool& target, const char* help) {
  options_.push_back({name, "", help, [&target](std::string_view) { return target = true; }});
}

void OptionTable::word(const char* name, std::string& target, std::vector<std::string> words, const char* help) {
  std::string expected;
  for (const std::string& word : words) {
    if (!expected.empty()) expected += &word == &words.back() ? " or " : ", ";
    expected += word;
  }
  options_.push_back({name, expected, help, [&target, words = std::move(words)](std::string_view text) {
                        target = text;
                        return std::find(words.begin(), words.end(), text) != words.end();
                      }});
}

void OptionTable::common(CommonOptions& options) {
  number("--iterations", options.iterations, "(100)");
  options_.push_back(
      {"--overlap", "none or hand", "hand: nonblocking calls and split computation (none)", [&options](std::string_view text) {
         options.by_hand = text == "hand";
         return options.by_hand || text == "none";
       }});
  flag("--check", options.check, "print a hash of the results");
  flag("--serial-check", options.serial_check, "compare the results with a computation on one process");
}

void OptionTable::parse(int argc, char** argv) const {
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  for (std::size_t index = 0; index < words.size(); ++index) {
    const std::string_view name = words[index].substr(0, words[index].find('='));
    if (name == "--help") stop(usage(), EXIT_SUCCESS);
    const auto option = std::find_if(options_.begin(), options_.end(), [&](const Option& known) { return known.name == name; });
    if (option == options_.end()) reject(std::string(name) + " is not an option\n" + usage());
    const bool joined = name.size() < words[index].size();
    const bool takes_value = !option->value.empty();
    if (joined && !takes_value) reject(option->name + " takes no value");
    if (takes_value && !joined && index + 1 == words.size()) reject(option->name + " needs " + option->value);
    std::string_view value;
    if (takes_value) value = joined ? words[index].substr(name.size() + 1) : words[++index];
    if (!option->assign(value)) reject(option->name + " " + std::string(value) + ": expected " + option->value);
  }
}

void OptionTable::reject(const std::string& complaint) const { stop(program_ + ": " + complaint + "\n", EXIT_FAILURE); }

std::string OptionTable::usage() const {
  std::string text = "usage: " + program_ + " [OPTION...]\n";
  for (const Option& option : options_) {
    text += "  " + option.name + (option.value.empty() ? "" : " <" + option.value + ">") + "  " + option.help + "\n";
  }
  return text;
}

void OptionTable::stop(const std::string& text, int status) const {
  if (rank_ == 0) std::fprintf(status == EXIT_SUCCESS ? stdout : stderr, "%s", text.c_str());
  MPI_Finalize();
  std::exit(status);
}

}  // namespace apps
