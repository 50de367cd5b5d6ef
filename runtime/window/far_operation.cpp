#include "runtime/window/far_operation.hpp"

#include <sys/uio.h>

#include <array>
#include <cstring>
#include <utility>

#include "runtime/base/types.hpp"
#include "runtime/datatype/packed_buffer.hpp"

namespace sluice {
namespace {

/// A pair with padding, as C lays it out.
struct PairForm {
  std::size_t value_bytes;
  std::size_t index_at;
  static constexpr std::size_t index_bytes = sizeof(int);
};

template <typename Value>
constexpr PairForm form_of() {
  struct Pair {
    Value value;
    int index;
  };
  return {sizeof(Value), offsetof(Pair, index)};
}

std::optional<PairForm> form_of(ElementKind kind) {
  switch (kind) {
    case ElementKind::double_int:
      return form_of<double>();
    case ElementKind::long_double_int:
      return form_of<long double>();
    case ElementKind::long_int:
      return form_of<long>();
    case ElementKind::short_int:
      return form_of<short>();
    default:
      return std::nullopt;
  }
}

class PackedPairs final : public OwnOperation {
 public:
  PackedPairs(const Reduction& reduction, PairForm form) : reduction_(reduction), form_(form) {}

  [[nodiscard]] std::size_t element_bytes() const override { return form_.value_bytes + PairForm::index_bytes; }
  void combine(const std::byte* lower, std::byte* upper, std::size_t elements) override {
    for (; elements != 0; --elements, lower += element_bytes(), upper += element_bytes()) {
      Whole one = lay_out(lower);
      const Whole other = lay_out(upper);
      reduction_.combine(one.data(), other.data(), one.data(), 1);
      std::memcpy(upper, one.data(), form_.value_bytes);
      std::memcpy(upper + form_.value_bytes, one.data() + form_.index_at, PairForm::index_bytes);
    }
  }

 private:
  using Whole = std::array<std::byte, 2 * sizeof(long double)>;

  [[nodiscard]] Whole lay_out(const std::byte* packed) const {
    Whole whole{};
    std::memcpy(whole.data(), packed, form_.value_bytes);
    std::memcpy(whole.data() + form_.index_at, packed + form_.value_bytes, PairForm::index_bytes);
    return whole;
  }

  const Reduction reduction_;
  const PairForm form_;
};

/// Names come from peers.
std::optional<Reduction> reduction_named(std::uint16_t name) {
  const unsigned operation = name >> 8;
  const unsigned kind = name & 0xff;
  if (operation == 0 || operation > reduce_operations || kind >= element_kinds) return std::nullopt;
  return Reduction::of(static_cast<ReduceOperation>(operation - 1), static_cast<ElementKind>(kind));
}

AccumulateOperation operation_of(const std::optional<Reduction>& reduction, OwnOperation* pairs,
                                 const AccumulateOperation* copy) {
  if (copy) return *copy;
  return pairs ? AccumulateOperation::combine(*pairs) : AccumulateOperation::reduce(*reduction);
}

}  // namespace

FarOperation::FarOperation(std::optional<Reduction> reduction, std::unique_ptr<OwnOperation> pairs,
                           const AccumulateOperation* copy)
    : reduction_(reduction), pairs_(std::move(pairs)), operation_(operation_of(reduction_, pairs_.get(), copy)) {}

std::unique_ptr<FarOperation> FarOperation::named(std::uint16_t name, bool packs_pairs) {
  const auto make = [](std::optional<Reduction> reduction, std::unique_ptr<OwnOperation> pairs, const AccumulateOperation* copy) {
    return std::unique_ptr<FarOperation>(new FarOperation(reduction, std::move(pairs), copy));
  };
  if (name == replace || name == nothing) {
    const AccumulateOperation copy = name == replace ? AccumulateOperation::replace() : AccumulateOperation::nothing();
    return make(std::nullopt, nullptr, &copy);
  }
  const std::optional<Reduction> reduction = reduction_named(name);
  if (!reduction) return nullptr;
  if (!packs_pairs) return make(reduction, nullptr, nullptr);
  const std::optional<PairForm> form = form_of(static_cast<ElementKind>(name & 0xff));
  return form ? make(reduction, std::make_unique<PackedPairs>(*reduction, *form), nullptr) : nullptr;
}

void FarOperation::apply_packed(const std::byte* operand, LayoutCursor& target, std::size_t bytes, std::byte* before) {
  piece_.resize(bytes);
  LayoutCursor writing(target);
  target.pack(piece_);
  operation_.apply(operand, packed_buffer(piece_.data(), bytes), before);
  writing.unpack(piece_);
}

void FarOperation::apply(const std::byte* operand, LayoutCursor& target, std::size_t bytes, std::byte* before) {
  if (operation_.takes_packed_only()) return apply_packed(operand, target, bytes, before);
  std::array<iovec, 32> ranges;
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t found = target.gather(ranges, bytes - done);
    for (std::size_t i = 0; i < found; ++i) {
      operation_.apply(reads_operand() ? operand + done : nullptr,
                       packed_buffer(static_cast<std::byte*>(ranges[i].iov_base), ranges[i].iov_len),
                       before ? before + done : nullptr);
      done += ranges[i].iov_len;
    }
  }
}

}  // namespace sluice
