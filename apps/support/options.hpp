// Command lines of the programs of the early-release paper: a table of options, filled by each program.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace apps {

/// What all of these programs have.
struct CommonOptions {
  int iterations = 100;       // --iterations
  bool by_hand = false;       // --overlap=hand: nonblocking calls and split computation in place of blocking receives
  bool check = false;         // --check: print a hash of the results
  bool serial_check = false;  // --serial-check: compare the results with a computation on one process
};

class OptionTable {
 public:
  /// `rank` 0 prints. MPI must be initialised.
  OptionTable(std::string program, int rank);

  /// The targets must live until `parse` returns.
  void number(const char* name, std::size_t& target, const char* help);
  void number(const char* name, int& target, const char* help);
  void text(const char* name, std::string& target, const char* help);
  void flag(const char* name, bool& target, const char* help);
  /// One of these words.
  void word(const char* name, std::string& target, std::vector<std::string> words, const char* help);
  void common(CommonOptions& options);

  /// Accepts `--name value` and `--name=value`. A mistake, or --help, is printed; then the process ends.
  void parse(int argc, char** argv) const;
  /// Ends the process with this complaint.
  [[noreturn]] void reject(const std::string& complaint) const;

 private:
  struct Option {
    std::string name;
    std::string value;  // what is expected, for the usage; empty for a flag
    std::string help;
    std::function<bool(std::string_view)> assign;  // false: not what is expected
  };

  [[nodiscard]] std::string usage() const;
  [[noreturn]] void stop(const std::string& text, int status) const;

  std::string program_;
  int rank_;
  std::vector<Option> options_;
};

}  // namespace apps
