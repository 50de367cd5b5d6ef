// What an accumulate does to memory that this process has mapped, while it holds the target's accumulate lock.
//
// It knows no lock, rank or epoch.
// Threading: any; two at once on one target exclude each other by that lock.
#pragma once

#include <algorithm>
#include <cstddef>

#include "runtime/collective/own_operation.hpp"
#include "runtime/collective/reduction.hpp"
#include "runtime/datatype/layout.hpp"

namespace sluice {

class AccumulateOperation {
 public:
  static AccumulateOperation replace() { return AccumulateOperation(Kind::replace); }  // MPI_REPLACE
  static AccumulateOperation nothing() { return AccumulateOperation(Kind::nothing); }  // MPI_NO_OP
  static AccumulateOperation reduce(const Reduction& reduction) { return {Kind::reduce, &reduction, nullptr}; }
  /// By what lives as long as this: where no kernel is there.
  static AccumulateOperation combine(OwnOperation& own) { return {Kind::combine, nullptr, &own}; }

  [[nodiscard]] bool reads_operand() const { return kind_ != Kind::nothing; }
  /// Elements are not combined where they lie.
  [[nodiscard]] bool takes_packed_only() const { return kind_ == Kind::combine; }
  /// The most bytes up to `limit` that are whole elements, packed.
  [[nodiscard]] std::size_t whole_elements(std::size_t limit) const {
    return own_ ? std::max(limit / own_->element_bytes(), std::size_t{1}) * own_->element_bytes() : limit;
  }

  /// `operand`, packed, to the target of as many packed bytes; not read if it is not needed. `before`: where what was there goes,
  /// packed; nullptr: nowhere. Blocks of the target are whole elements, and operand and target overlap nowhere.
  /// Where it `takes_packed_only`, the target is packed memory of the caller's.
  void apply(const std::byte* operand, const UserBuffer& target, std::byte* before) const;

 private:
  enum class Kind : std::uint8_t { replace, nothing, reduce, combine };
  explicit AccumulateOperation(Kind kind) : kind_(kind) {}
  AccumulateOperation(Kind kind, const Reduction* reduction, OwnOperation* own) : kind_(kind), reduction_(reduction), own_(own) {}
  void apply_to_range(const std::byte* operand, std::byte* target, std::size_t bytes) const;

  Kind kind_;
  const Reduction* reduction_ = nullptr;
  OwnOperation* own_ = nullptr;
};

}  // namespace sluice
