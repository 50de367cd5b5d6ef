// Names of the two processes of an engine test, and of the calls that they make.
#pragma once

#include "runtime/base/types.hpp"

namespace sluice {

inline constexpr CallSite here{1};
inline constexpr Rank zero{0};
inline constexpr Rank one{1};
inline constexpr Tag tag{3};

}  // namespace sluice
