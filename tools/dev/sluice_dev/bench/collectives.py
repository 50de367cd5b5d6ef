"""Measures collective calls on the host alone, under Sluice, and under Sluice with SLUICE_COLLECTIVES=off, by turns.

    apps/bench/collectives --builddir DIR [--rounds N] [--ranks 2,4,8] [--calls Barrier,Allreduce] [--sizes 8,1K,4M] [--seconds S]
    apps/bench/collectives --builddir DIR --page FILE.md      writes the table there too

Rows of calls with nothing in between, and `skew`: each rank is busy for 2 microseconds on average before each call. Those are measured only
where each rank has a processor. Sizes are bytes of a block. Of the jobs of each round, the ratio of their times counts (Sluice divided by
the host); printed are the median of these, and in which interval it lies 95 times in 100.
"""

import argparse
import collections
import os
import pathlib
import subprocess
import sys

from sluice_dev.base.builds import LIBRARY_IN_BUILD
from sluice_dev.bench.points import point_of, show, write_page, written_by
from sluice_dev.bench.sweep import PROGRAM_IN_BUILD

JOB_SECONDS = 300
# What a side adds to the environment; None: Sluice is not there.
SIDES = {"host": None, "off": {"SLUICE_COLLECTIVES": "off"}, "sluice": {"SLUICE_COLLECTIVES": "auto"}}
CALLS = "Barrier,Allreduce,Reduce,Bcast,Allgather,Alltoall,Gather,Scatter"
SIZES = "8,128,1K,4K,16K,256K,4M"


def run(options, ranks, side):
    """Microseconds by name of one job."""
    launch = ["mpirun", "--oversubscribe", "-np", str(ranks)]
    if SIDES[side] is not None:
        for name, value in {"LD_PRELOAD": options.library, **SIDES[side]}.items():
            launch += ["-x", f"{name}={value}"]
    gaps = "0,2" if ranks <= len(os.sched_getaffinity(0)) else "0"
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    command = [*launch, options.program, "collective_calls", options.calls, options.sizes, gaps, str(options.seconds)]
    job = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=JOB_SECONDS, stdin=subprocess.DEVNULL)
    if job.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: ended with code {job.returncode}\n{job.stdout}{job.stderr}")
    words = [line.split() for line in job.stdout.splitlines()]
    return {found[0]: float(found[1]) for found in words if len(found) == 3 and found[2] == "us"}


def measure(options, ranks):
    """name -> for each round, the times by side."""
    times = collections.defaultdict(list)
    for number in range(options.rounds):
        sides = options.sides[number % len(options.sides):] + options.sides[:number % len(options.sides)]
        found = {side: run(options, ranks, side) for side in sides}
        for name in found["sluice"]:
            times[name].append({side: found[side][name] for side in sides})
    return times


def page(tables, options):
    head = ["# Collective calls", "", written_by("apps/bench/collectives", options.rounds), "",
            "Microseconds of a call on the slowest rank, on the host alone and under Sluice with `SLUICE_COLLECTIVES=auto`. The ratio "
            "has the interval in which it lies 95 times in 100. Sizes are bytes of a block. A word of each line is written before each "
            "call and read after it. With `skew` each rank is busy for 2 microseconds on average before each call, for a random time of "
            "its own. Calls with `_work` compute for 2 ns a byte before they wait, which is counted."]
    if "off" in options.sides:
        head += ["", "The last column has the ratio with `SLUICE_COLLECTIVES=off`."]
    write_page(options.page, head, tables)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--builddir", type=pathlib.Path, required=True, help="meson's build directory, for the program and the library")
    parser.add_argument("--rounds", type=int, default=15, help="runs of each side")
    parser.add_argument("--ranks", default="2,4,8")
    parser.add_argument("--calls", default=CALLS, help="those that collective_calls.cpp of sluice_bench has")
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--seconds", type=float, default=0.01, help="for each point, in each job")
    parser.add_argument("--sides", default="host,off,sluice", help="host and sluice are needed")
    parser.add_argument("--page", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args()
    options.program = (options.builddir / PROGRAM_IN_BUILD).resolve()
    options.library = (options.builddir / LIBRARY_IN_BUILD).resolve()
    options.sides = options.sides.split(",")
    return options


def main():
    options = parse()
    tables = {}
    for ranks in map(int, options.ranks.split(",")):
        tables[ranks] = [point_of(name, rounds) for name, rounds in measure(options, ranks).items()]
        show(ranks, tables[ranks])
    if options.page:
        page(tables, options)
