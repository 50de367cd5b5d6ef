#define SLUICE_REDUCE_TABLE reduce_table_baseline
#define SLUICE_REDUCE_BASELINE 1

#include "runtime/collective/kernels/reduce_loops.hpp"
