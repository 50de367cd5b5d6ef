"""Communicators whose hint says who carries their collective calls."""

import re

from .program import Program

RANKS = 3


def carries(calls_of_a_rank):
    """The judge of a job in which so many calls are carried."""
    def judge(result, reference):
        if not result.ok or not reference.ok:
            return "a job failed"
        if "CASE" in result.stdout + reference.stdout:
            return "wrong data"
        if calls_of_a_rank and "hint sluice_collectives=sometimes: expected off, auto or all" not in result.stderr:
            return "nobody is told of the value that is not known"
        found = re.search(r"collective calls +(\d+)", result.stderr)
        carried = int(found[1]) if found else 0
        return "" if carried == RANKS * calls_of_a_rank else f"{carried} calls were carried, not {RANKS * calls_of_a_rank}"
    return judge


def program(mode, calls_of_a_rank):
    return Program(f"hints_beside_{mode}", "hints", ranks=(RANKS,), env={"SLUICE_COLLECTIVES": mode}, expect=carries(calls_of_a_rank),
                   releases=False, guards=("mprotect",))


# 25 calls of MPI_Allreduce and of MPI_Ialltoallv on each of seven communicators; `auto` leaves the latter to the host.
PROGRAMS = [program("off", 0), program("auto", 7 * 25), program("all", 9 * 25)]
