// Layouts in messages: how a process describes memory of another one.
//
// A layout is its extent and its runs, each followed by the layout of its blocks where they are no plain bytes.
// Pure functions: any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "runtime/datatype/layout.hpp"

namespace sluice {

void write_layout(const Layout& layout, std::vector<std::byte>& bytes);
/// The same memory, perhaps in other runs. nullptr: these bytes describe none.
[[nodiscard]] std::shared_ptr<const Layout> read_layout(std::span<const std::byte> bytes);

}  // namespace sluice
