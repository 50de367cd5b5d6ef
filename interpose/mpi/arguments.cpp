#include "interpose/mpi/arguments.hpp"

#include <algorithm>

namespace sluice {

std::shared_ptr<const Layout> byte_layout() {
  static const auto* const owner = new std::shared_ptr<const Layout>(Layout::contiguous(1));
  return {std::shared_ptr<const Layout>{}, owner->get()};
}

ByteRange BufferArgument::span() const {
  if (type_->simple || bytes() == 0) return ByteRange::of(base_, bytes());
  const Layout& layout = *type_->layout;
  const std::ptrdiff_t last_element = layout.extent() * (count_ - 1);
  const auto base = reinterpret_cast<std::intptr_t>(base_);
  const auto begin = base + layout.first_byte() + std::min<std::ptrdiff_t>(0, last_element);
  const auto end = base + layout.last_byte() + std::max<std::ptrdiff_t>(0, last_element);
  return {static_cast<std::uintptr_t>(begin), static_cast<std::uintptr_t>(end)};
}

}  // namespace sluice
