// Memory of a window's member that is not mapped here: between it and packed bytes, by calls of the kernel.
//
// Threading: any.
#pragma once

#include <cstddef>

#include "runtime/datatype/layout.hpp"
#include "runtime/window/member.hpp"

namespace sluice {

class DistantMemory {
 public:
  /// `places`: by addresses of the member's.
  DistantMemory(const WindowMember& member, const UserBuffer& places) : member_(member), reading_(places), writing_(places) {}

  /// The next so many packed bytes. False when that failed somewhere.
  [[nodiscard]] bool read(std::byte* target, std::size_t bytes);
  [[nodiscard]] bool write(const std::byte* source, std::size_t bytes);

 private:
  const WindowMember& member_;
  LayoutCursor reading_;
  LayoutCursor writing_;
};

}  // namespace sluice
