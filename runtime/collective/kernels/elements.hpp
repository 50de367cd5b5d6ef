// How a kernel reads and writes elements, and how it combines N of them. Internal linkage, as in operations.hpp.
#pragma once

#include <cstddef>

#include "runtime/collective/kernels/operations.hpp"

namespace sluice {
namespace {

/// At any address, and of memory that has another type.
template <typename Element>
struct __attribute__((packed, may_alias)) Loose {
  Element element;
};

/// Neighbours first, then pairs of neighbours.
template <typename Operation, typename Element, std::size_t N>
struct Tree {
  static SLUICE_REDUCE_INLINE Element of(const Loose<Element>* const* from, std::size_t i) {
    return Operation::apply(Tree<Operation, Element, N / 2>::of(from, i), Tree<Operation, Element, N / 2>::of(from + N / 2, i));
  }
};

template <typename Operation, typename Element>
struct Tree<Operation, Element, 1> {
  static SLUICE_REDUCE_INLINE Element of(const Loose<Element>* const* from, std::size_t i) { return from[0][i].element; }
};

}  // namespace
}  // namespace sluice
