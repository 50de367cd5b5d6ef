// Finds out whether every rank of the job has loaded Sluice, before anything collective is attempted: a rank without it would
// let the others wait for ever.
#pragma once

#include "runtime/config/config.hpp"

namespace sluice {

/// Each rank greets the next one in a ring. Who is not greeted within seconds names the silent rank and aborts the job; so does
/// who is greeted by another version or with another choice of transports, or of an adapter beside shared memory.
void check_job(const Config& config);

}  // namespace sluice
