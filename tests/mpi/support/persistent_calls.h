// The names that the host has for persistent collectives: INIT(Bcast)(...), where HAVE_PERSISTENT_CALLS is defined.
#pragma once

#include <mpi.h>

#if MPI_VERSION >= 4
#define INIT(X) MPI_##X##_init
#define HAVE_PERSISTENT_CALLS 1
#elif defined(OPEN_MPI)
#include <mpi-ext.h>
#ifdef OMPI_HAVE_MPI_EXT_PCOLLREQ
#define INIT(X) MPIX_##X##_init
#define HAVE_PERSISTENT_CALLS 1
#endif
#endif
