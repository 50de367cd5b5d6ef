// Which guard a process gets, and why: what was asked for, against what the machine permits and what was measured.
#pragma once

#include <string>

#include "runtime/config/config.hpp"

namespace sluice {

struct GuardChoice {
  GuardEngine engine = GuardEngine::mprotect;  // never automatic
  std::string reason;                          // "SLUICE_GUARD=mprotect"
  std::string warning;                         // not empty: what was asked for cannot be had, and why
};

/// Probes the machine; costs a few system calls.
GuardChoice choose_guard(GuardEngine wanted);

/// "mprotect" or "userfaultfd".
const char* name_of(GuardEngine engine);

}  // namespace sluice
