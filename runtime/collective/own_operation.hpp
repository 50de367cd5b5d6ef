// An operation of the program's own, which only the program can do: MPI_Op_create, and types that kernels do not know.
//
// It combines packed elements, whole ones only. It runs as the program does between its calls of MPI: a thread of the program
// calls it, outside the engine. It may allocate, touch what is under guard, and call MPI.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/collective/canonical_order.hpp"

namespace sluice {

class OwnOperation {
 public:
  virtual ~OwnOperation() = default;

  /// Of one element, packed; not 0.
  [[nodiscard]] virtual std::size_t element_bytes() const = 0;
  /// upper = lower op upper. Both begin where any type may.
  virtual void combine(const std::byte* lower, std::byte* upper, std::size_t elements) = 0;
};

/// A piece of one step: its operands, copied aside, and what the operation makes of them in the canonical order.
class OwnFold {
 public:
  OwnFold(OwnOperation& operation, std::size_t operands, std::size_t bytes) : operation_(operation), bytes_(bytes) {
    for (std::size_t i = 0; i < operands; ++i) operands_.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes));
  }

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] std::byte* operand(std::size_t number) const { return operands_[number].get(); }

  /// Calls the program.
  void combine() {
    const auto join = [this](std::byte* lower, std::byte* upper) {
      operation_.combine(lower, upper, bytes_ / operation_.element_bytes());
      return upper;
    };
    result_ = CanonicalOrder(operands_.size()).fold([this](std::size_t number) { return operand(number); }, join);
  }
  /// nullptr: not yet.
  [[nodiscard]] const std::byte* result() const { return result_; }

 private:
  OwnOperation& operation_;
  std::size_t bytes_;
  std::vector<std::unique_ptr<std::byte[]>> operands_;
  std::byte* result_ = nullptr;
};

}  // namespace sluice
