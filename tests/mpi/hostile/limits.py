"""Programs under limits of the process (setrlimit, ulimit) that are set before or after MPI_Init."""

from .program import Program

GIGABYTE = 1 << 30
FIRST = (f"as={GIGABYTE}", f"as={4 * GIGABYTE}", "nofile=64", "memlock=65536", f"data={GIGABYTE}")


# Whether something is released under a limit is not the question.
PROGRAMS = [
    Program("limits_set_late", ranks=(2, 3)),
    Program("limits_of_a_child", ranks=(2,)),
    Program("limits_many_mappings", ranks=(2,), releases=False),
]
PROGRAMS += [Program(f"limits_set_first ({limit})", "limits_set_first", ranks=(2, 3), arguments=(limit,), releases=False)
             for limit in FIRST]
