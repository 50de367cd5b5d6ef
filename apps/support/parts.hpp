// Dealing out things evenly: the first parts get one more where they don't divide.
#pragma once

#include <cstddef>

namespace apps {

struct Part {
  std::size_t first;
  std::size_t count;
};

inline Part part_of(std::size_t things, int number, int parts) {
  const std::size_t whole = things / static_cast<std::size_t>(parts);
  const std::size_t larger = things % static_cast<std::size_t>(parts);
  const auto index = static_cast<std::size_t>(number);
  return {index * whole + (index < larger ? index : larger), whole + (index < larger ? 1 : 0)};
}

}  // namespace apps
