// Whether Sluice carries the calls of this process. Apart from the session, for what needs to know no more.
#pragma once

#include <atomic>

namespace sluice {
namespace detail {
extern std::atomic<bool> engaged;
}  // namespace detail

/// Sluice carries the calls of this process. Between MPI_Init and MPI_Finalize, unless disabled or impossible.
inline bool engaged() { return detail::engaged.load(std::memory_order_relaxed); }

}  // namespace sluice
