"""Measures one-sided calls on the host alone and under Sluice with SLUICE_ONESIDED=all, by turns.

    apps/bench/onesided --builddir DIR [--rounds N] [--ranks 2,4] [--calls put,fetch_and_op] [--sizes 8,1K,1M] [--kinds allocated,created]
    apps/bench/onesided --builddir DIR --testbed           with each rank on a host of its own, made of namespaces
    apps/bench/onesided --builddir DIR --page FILE.md      writes the table there too

Each time is that of one call with the synchronisation that makes it complete. Of the jobs of each round, the ratio of their times counts
(Sluice divided by the host); printed are the median of these, and in which interval it lies 95 times in 100.
"""

import argparse
import collections
import contextlib
import os
import pathlib
import subprocess
import sys

from sluice_dev.base.builds import LIBRARY_IN_BUILD
from sluice_dev.bench.points import point_of, show, write_page, written_by
from sluice_dev.bench.sweep import PROGRAM_IN_BUILD
from sluice_dev.testbed.bed import Bed

JOB_SECONDS = 120
CALLS = "put,get,puts,accumulate,get_accumulate,fetch_and_op,compare_and_swap,lock_put,fence_put,start_put"


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--builddir", type=pathlib.Path, required=True, help="meson's build directory, for the program and the library")
    parser.add_argument("--rounds", type=int, default=15, help="runs of each side")
    parser.add_argument("--ranks", default="2")
    parser.add_argument("--calls", default=CALLS, help="those that one_sided_calls.cpp of sluice_bench has")
    parser.add_argument("--sizes", default="8,64,1K,8K,64K,1M")
    parser.add_argument("--kinds", default="allocated,created")
    parser.add_argument("--seconds", type=float, default=0.01, help="for each point, in each job")
    parser.add_argument("--testbed", action="store_true", help="each rank on a host of its own")
    parser.add_argument("--page", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args()
    options.program = (options.builddir / PROGRAM_IN_BUILD).resolve()
    options.library = (options.builddir / LIBRARY_IN_BUILD).resolve()
    options.sides = ["host", "sluice"]
    return options


def run(options, ranks, side, bed):
    """Microseconds by name of one job."""
    settings = {"LD_PRELOAD": str(options.library), "SLUICE_ONESIDED": "all"} if side == "sluice" else {}
    program = [options.program, "one_sided_calls", options.calls, options.sizes, options.kinds, str(options.seconds)]
    job = bed.run(program, ranks, settings, JOB_SECONDS) if bed else run_here(program, ranks, settings)
    if job.returncode != 0:
        sys.exit(f"{' '.join(map(str, program))}, {side}: ended with code {job.returncode}\n{job.stdout}{job.stderr}")
    words = [line.split() for line in job.stdout.splitlines()]
    return {found[0]: float(found[1]) for found in words if len(found) == 3 and found[2] == "us"}


def run_here(program, ranks, settings):
    launch = ["mpirun", "--oversubscribe", "-np", str(ranks)]
    for name, value in settings.items():
        launch += ["-x", f"{name}={value}"]
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return subprocess.run([*launch, *program], env=environment, capture_output=True, text=True, timeout=JOB_SECONDS,
                          stdin=subprocess.DEVNULL)


def measure(options, ranks, bed):
    """name -> for each round, the times by side."""
    times = collections.defaultdict(list)
    for number in range(options.rounds):
        sides = options.sides if number % 2 == 0 else options.sides[::-1]
        found = {side: run(options, ranks, side, bed) for side in sides}
        for name in found["sluice"]:
            times[name].append({side: found[side][name] for side in sides})
    return times


def page(tables, options):
    where = " between nodes" if options.testbed else ""
    command = "apps/bench/onesided --testbed" if options.testbed else "apps/bench/onesided"
    write_page(options.page, [
        f"# One-sided calls{where}", "", written_by(command, options.rounds), "",
        "Microseconds of a call with the synchronisation that makes it complete, on the host alone and under Sluice with "
        "`SLUICE_ONESIDED=all`. The ratio has the interval in which it lies 95 times in 100. Sizes are bytes. The first word says how "
        "the window was made: by `MPI_Win_allocate` or by `MPI_Win_create`."], tables)


def main():
    options = parse()
    tables = {}
    for ranks in map(int, options.ranks.split(",")):
        with Bed(ranks) if options.testbed else contextlib.nullcontext() as bed:
            tables[ranks] = [point_of(name, rounds) for name, rounds in measure(options, ranks, bed).items()]
        show(ranks, tables[ranks])
    if options.page:
        page(tables, options)
