#include "runtime/alias/memory_moves.hpp"

namespace sluice {

std::atomic<bool> detail::memory_moves{false};

}  // namespace sluice
