// What an accumulate does at its target, by the name that it has in messages (far_message.hpp).
//
// Pairs of a value and an index come without their padding where they do not lie as C lays them out. Then each is laid out so,
// combined, and packed again.
//
// Two accumulates to one target exclude each other by the engine lock. Nothing here uses the application's allocator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/collective/own_operation.hpp"
#include "runtime/collective/reduction.hpp"
#include "runtime/datatype/layout.hpp"
#include "runtime/window/accumulate.hpp"

namespace sluice {

class FarOperation {
 public:
  // Names. Those of reductions are their codes.
  static constexpr std::uint16_t replace = 1;
  static constexpr std::uint16_t nothing = 2;

  /// nullptr: there is none of that name.
  static std::unique_ptr<FarOperation> named(std::uint16_t name, bool packs_pairs);
  FarOperation(const FarOperation&) = delete;
  FarOperation& operator=(const FarOperation&) = delete;

  [[nodiscard]] bool reads_operand() const { return operation_.reads_operand(); }
  /// The most bytes up to `limit` that are whole elements, packed.
  [[nodiscard]] std::size_t whole_elements(std::size_t limit) const { return operation_.whole_elements(limit); }

  /// To the next so many packed bytes of the target, whole elements. `before`: where what was there goes; nullptr: nowhere.
  void apply(const std::byte* operand, LayoutCursor& target, std::size_t bytes, std::byte* before);

 private:
  FarOperation(std::optional<Reduction> reduction, std::unique_ptr<OwnOperation> pairs, const AccumulateOperation* copy);
  void apply_packed(const std::byte* operand, LayoutCursor& target, std::size_t bytes, std::byte* before);

  const std::optional<Reduction> reduction_;
  const std::unique_ptr<OwnOperation> pairs_;
  const AccumulateOperation operation_;
  std::vector<std::byte> piece_;
};

}  // namespace sluice
