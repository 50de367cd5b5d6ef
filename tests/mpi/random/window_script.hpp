// What a random program does with windows: a function of the seed and the number of ranks, the same on all of them.
//
// In an epoch no two operations meet but in ways of which MPI defines the outcome: each stretch of a target's memory is put to by
// one operation, or only read, or accumulated to with one operation and type. So every rank can compute all memory of all ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace random_program {

enum class Element : unsigned char { byte, word16, word32, word64, int32 };
enum class Combine : unsigned char { sum, bit_xor, bit_or, bit_and, max, min, replace };
enum class Sync : unsigned char { fence, start, lock_shared, lock_exclusive, lock_all };

struct WindowShape {
  bool allocated = false;
  std::vector<std::size_t> bytes;  // by rank
  std::vector<int> unit;           // of displacements, by rank
};

struct WindowOperation {
  enum class Kind : unsigned char { put, get, accumulate, get_accumulate, count };
  Kind kind{};
  int origin = 0;
  int target = 0;
  std::size_t at = 0;     // in the target's memory, in bytes
  std::size_t count = 0;  // elements
  Element element{};
  Combine combine{};
  bool origin_has_gaps = false;  // of one element behind each
  bool target_has_gaps = false;
  bool by_request = false;  // where the epoch is a passive one
  std::uint64_t data = 0;   // a seed
};

struct WindowEpoch {
  std::size_t window = 0;
  Sync sync{};
  bool beside_messages = false;
  bool flushes = false;  // after each operation of a passive epoch
  std::vector<WindowOperation> operations;
};

struct WindowScript {
  bool is_reversed = false;  // the windows' communicator has the ranks in the opposite order
  std::vector<WindowShape> windows;
  std::vector<WindowEpoch> epochs;
};

WindowScript make_window_script(std::uint64_t seed, int ranks);

std::size_t bytes_of(Element element);
/// Of elements with or without gaps between them.
inline std::size_t stretch_of(std::size_t count, bool has_gaps) { return has_gaps && count != 0 ? 2 * count - 1 : count; }
/// What the origin brings for one element.
std::uint64_t value_of(const WindowOperation& operation, std::size_t index);

/// The memory of all ranks in one window.
using WindowMemory = std::vector<std::vector<std::byte>>;
WindowMemory first_memory(const WindowShape& shape, std::uint64_t seed);
/// What the operation finds, element by element, and what it leaves.
std::vector<std::uint64_t> apply(const WindowOperation& operation, WindowMemory& memory);

}  // namespace random_program
