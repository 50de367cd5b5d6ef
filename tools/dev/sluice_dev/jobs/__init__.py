"""MPI jobs: how one is run, where, with which settings; what the suites of tests/mpi share."""
