// Processes that a program makes while it has received buffers that nobody has looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace random_program {

/// Forks. The child compares the buffer with `expected`, overwrites it, and tells what it found by its exit status.
/// Empty, or what went wrong. The parent's buffer must be as it was.
std::string child_sees(std::span<std::byte> buffer, std::span<const std::byte> expected);

enum class Started : std::uint8_t { fork_exec, spawn, system, popen, count };

/// Runs a program that does next to nothing. Empty, or what went wrong.
std::string start_program(Started how);

}  // namespace random_program
