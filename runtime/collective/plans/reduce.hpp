// The two ways of a reduction.
#pragma once

#include "runtime/collective/schedule.hpp"
#include "runtime/collective/shape.hpp"

namespace sluice::plans {

/// Along the canonical tree: few steps, each with the whole vector.
Schedule reduce_along_tree(const Shape& shape);
Schedule allreduce_along_tree(const Shape& shape);

/// Each rank folds a strip: more messages, but each byte is moved and folded once only.
Schedule reduce_by_strips(const Shape& shape);
Schedule allreduce_by_strips(const Shape& shape);

}  // namespace sluice::plans
