// Where the host is an MPI library that Sluice does not know: the job runs on it alone, and one rank says so.
#pragma once

#include <string>
#include <string_view>

namespace sluice {

/// Directly after the host's start of MPI, or of a session, has succeeded. Said once; nothing is said where Sluice is disabled.
void step_aside();

/// What a library tells of itself, up to its version: the front of its first line, without columns.
std::string version_in(std::string_view told);

}  // namespace sluice
