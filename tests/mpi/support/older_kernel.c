/* Preloaded beside Sluice: a kernel before 6.11, which does not tell by ioctl what is mapped where. */

#include "refusals.h"

__attribute__((constructor)) static void become_older(void) { refuse_map_query(); }
