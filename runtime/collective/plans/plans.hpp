// What each rank does in each call: pure functions, which all ranks apply to their own view of the call.
//
// What the areas are:
//
//   call                 operand                       result                        in place
//   bcast                root: the buffer              others: the buffer
//   reduce               the vector                    root: the vector              root: operand is result
//   allreduce, scan,     the vector                    the vector                    operand is result
//   exscan
//   gather               own part                      root: a block for each rank   root: own part lies in result
//   scatter              root: a block for each rank   own part                      root: own part stays in operand
//   allgather            own part                      a block for each rank         own part lies in result
//   alltoall             a block for each rank         a block for each rank         all lies in result
//   neighbour_allgather  own part                      a block for each source
//   neighbour_alltoall   a block for each destination  a block for each source
//   reduce_scatter       all strips, one after the     own strip                     operand is result, which has all
//                        other                                                       strips, and own strip at its front
//
// Where operand is result, both name the same bytes. Elsewhere a plan in place never names the side that MPI does not read.
//
// A part has bytes_to() or bytes_from() on both sides, and one of no bytes is not sent. Messages that only go from rank to rank
// stand in an order in which no rank is met by all at once.
//
// Pure functions: any thread, no state. tests/unit/runtime/collective/plans_test.cpp and
// block_plans_test.cpp carry the schedules of all ranks out.
#pragma once

#include "runtime/collective/schedule.hpp"
#include "runtime/collective/shape.hpp"

namespace sluice::plans {

Schedule barrier(const Shape& shape);
Schedule bcast(const Shape& shape);
Schedule reduce(const Shape& shape);
Schedule allreduce(const Shape& shape);
Schedule gather(const Shape& shape);
Schedule scatter(const Shape& shape);
Schedule allgather(const Shape& shape);
Schedule alltoall(const Shape& shape);
Schedule neighbour_allgather(const Shape& shape);
Schedule neighbour_alltoall(const Shape& shape);
Schedule reduce_scatter(const Shape& shape);
Schedule scan(const Shape& shape);
Schedule exscan(const Shape& shape);

}  // namespace sluice::plans
