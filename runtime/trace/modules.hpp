// The objects that the program consists of (itself, its libraries), as the frames of sites name them. Each is written into the
// trace's table when the first frame lies in it.
//
// Objects are known by their start and load address; one that takes the place of another that was unloaded gets a number of its
// own if it is loaded elsewhere.
//
// Threading: everything [any thread, signal handlers]; looked up by _dl_find_object, which takes no lock. An entry is claimed by
// its position (fetch_add) and published by its start (release / acquire); two threads may give one object two numbers.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/trace/format.hpp"

namespace sluice::trace {

Frame frame_of(std::uintptr_t address);
/// As the dynamic linker has it; empty for the program itself, and where no object is.
std::string_view path_of_module(std::uintptr_t address);
void forget_modules();

}  // namespace sluice::trace
