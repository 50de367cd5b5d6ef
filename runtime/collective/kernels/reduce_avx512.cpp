#define SLUICE_REDUCE_TABLE reduce_table_avx512
#define SLUICE_REDUCE_VECTOR_BYTES 64

#include "runtime/collective/kernels/reduce_loops.hpp"
