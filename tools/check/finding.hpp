// What `sluice check` found out about one thing.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/config/config.hpp"

namespace sluice {

enum class State {
  good,
  note,     // is otherwise than usual, and does no harm
  warning,  // works, with less speed or fewer releases than could be had
  problem,  // Sluice will not work, or not see the program's calls
};

struct Finding {
  State state = State::good;
  std::string found;
  std::string advice;  // what to do; empty for a good one
};

/// What all checks are given.
struct Examined {
  Config config;                       // as the environment has it; of a bad variable the default
  ParsedConfig parsed;                 // with its errors and warnings
  std::optional<std::string> library;  // that the command belongs to
  std::string program;                 // that the user named, or empty
};

/// One line of the doctor's list. `examine` may take some milliseconds, and throws when the machine does not tell.
struct Check {
  const char* name;  // "preload order", as in the manual page
  std::function<Finding(const Examined&)> examine;
};

/// Each group in its own file.
std::vector<Check> checks_of_preloading();  // check_preload.cpp
std::vector<Check> checks_of_host();        // check_host.cpp
std::vector<Check> checks_of_memory();      // check_memory.cpp
std::vector<Check> checks_of_network();     // check_network.cpp

}  // namespace sluice
