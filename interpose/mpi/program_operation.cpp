#include "interpose/mpi/program_operation.hpp"

#include <algorithm>

#include "interpose/host/host.hpp"

namespace sluice {

ProgramOperation::ProgramOperation(MPI_Op operation, MPI_Datatype type, const FlatType& flat)
    : operation_(operation), type_(type), flat_(flat) {}

std::size_t ProgramOperation::element_bytes() const { return std::max(flat_.size, std::size_t{1}); }

void ProgramOperation::combine(const std::byte* lower, std::byte* upper, std::size_t elements) {
  if (flat_.simple) {
    host().Reduce_local(lower, upper, static_cast<int>(elements), type_, operation_);
    return;
  }
  lower_.unpack(flat_, lower, elements);
  upper_.unpack(flat_, upper, elements);
  host().Reduce_local(lower_.origin(), upper_.origin(), static_cast<int>(elements), type_, operation_);
  upper_.pack(upper);
}

void ProgramOperation::Elements::unpack(const FlatType& flat, const std::byte* packed, std::size_t elements) {
  constexpr std::uintptr_t alignment = cache_line;
  buffer_ = {nullptr, elements, flat.layout};
  const ByteRange span = buffer_.span();  // as if the origin were at address 0
  memory_.resize(span.size() + alignment);
  const auto start = reinterpret_cast<std::uintptr_t>(memory_.data()) - span.begin;
  buffer_.base = reinterpret_cast<std::byte*>((start + alignment - 1) / alignment * alignment);
  LayoutCursor(buffer_).unpack({packed, elements * flat.size});
}

void ProgramOperation::Elements::pack(std::byte* packed) const { LayoutCursor(buffer_).pack({packed, buffer_.bytes()}); }

}  // namespace sluice
