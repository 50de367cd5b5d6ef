// The rank of this process as its launcher tells it, for hosts that cannot be asked because their handles are not known.
#pragma once

#include <optional>

#include "runtime/config/config.hpp"

namespace sluice {

/// nullopt when no launcher says it: a program that runs alone, or under a launcher that is not known.
std::optional<int> rank_told_by_launcher(Environment environment);

}  // namespace sluice
