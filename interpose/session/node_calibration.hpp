// The thresholds of copies inside a node: found by its first rank, told to the others.
#pragma once

#include <mpi.h>

#include <string>

#include "runtime/machine/calibration.hpp"

namespace sluice {

/// Collective over the ranks of one node. While the first one measures (some ten milliseconds, once on each kind of machine), the
/// others sleep, so that there are two processors to measure on. `setting`: SLUICE_CALIBRATION.
[[nodiscard]] Calibration agree_on_calibration(const std::string& setting, MPI_Comm node);

}  // namespace sluice
