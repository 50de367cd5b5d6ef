#define SLUICE_REDUCE_TABLE reduce_table_avx2
#define SLUICE_REDUCE_VECTOR_BYTES 32

#include "runtime/collective/kernels/reduce_loops.hpp"
