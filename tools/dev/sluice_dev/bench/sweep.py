"""Looks for messages that take longer under Sluice than on the host alone: every size from 1 B to 8 MB, one way and both ways,
and every shape of memory that a datatype describes. Two ranks on a node.

    apps/bench/sweep --builddir DIR [--rounds N] [--patterns ping_pong,one_way,both_ways,shapes] [--sizes all] [--seconds S]
    apps/bench/sweep --builddir DIR --against OTHER.so    another build of the library in place of the host
    apps/bench/sweep --builddir DIR --page FILE.md        writes the table there too

Jobs of either side take turns. Of each pair of jobs one after the other, the ratio of their times counts (Sluice divided by the other); printed
are the median of these, and in which interval it lies 95 times in 100. `slower` marks points whose whole interval is above 1.
"""

import argparse
import collections
import datetime
import os
import pathlib
import platform
import statistics
import subprocess
import sys

from sluice_dev.base.builds import LIBRARY_IN_BUILD, ROOT
from sluice_dev.base.confidence import interval_of_median
from sluice_dev.base.prose import wrapped

PROGRAM_IN_BUILD = "apps/bench/mpi/sluice_bench"
JOB_SECONDS = 300
Point = collections.namedtuple("Point", "name base other ratio low high")


def run(options, library):
    """Figures by name of one job."""
    launch = ["mpirun", "--oversubscribe", "-np", "2"]
    if library:
        launch += ["-x", f"LD_PRELOAD={library}"]
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    command = [*launch, options.program, "sweep", options.patterns, options.sizes, str(options.seconds)]
    job = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=JOB_SECONDS, stdin=subprocess.DEVNULL)
    if job.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: ended with code {job.returncode}\n{job.stdout}{job.stderr}")
    words = [line.split() for line in job.stdout.splitlines()]
    return {found[0]: float(found[1]) for found in words if len(found) == 3 and found[2] == "us"}


def measure(options):
    """name -> a pair of times for each round."""
    pairs = collections.defaultdict(list)
    for number in range(options.rounds):
        sides = [options.against, options.library]
        found = {}
        for side in sides if number % 2 == 0 else reversed(sides):
            found[side] = run(options, side)
        for name, time in found[options.library].items():
            pairs[name].append((found[options.against][name], time))
    return pairs


def point_of(name, pairs):
    ratios = [other / base for base, other in pairs]
    low, high = interval_of_median(ratios)
    base, other = (statistics.median(side) for side in zip(*pairs))
    return Point(name, base, other, statistics.median(ratios), low, high)


def show(points, base):
    print(f"{'':<28}{base:>10} {'sluice':>10}   {'ratio':>6}   interval")
    for point in points:
        verdict = "slower" if point.low > 1 else ""
        print(f"{point.name:<28}{point.base:>10.3f} {point.other:>10.3f}   {point.ratio:>6.3f}   {point.low:.3f} to {point.high:.3f}  {verdict}")
    slower = [point for point in points if point.low > 1]
    print(f"{len(points)} points, {len(slower)} slower with their whole interval")


def commit():
    found = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return found.stdout.strip() or "no commit"


def processor():
    names = [line.partition(":")[2].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return f"{len(names)} processors, {names[0] if names else platform.machine()}"


def page(points, options):
    slower = sum(point.low > 1 for point in points)
    lines = ["# The sweep", "",
             f"Written by `apps/bench/sweep` on {datetime.date.today()}, at {commit()}: {processor()}, {options.rounds} rounds.", "",
             "Two ranks on a node: microseconds for a message on the host alone and under Sluice. Their ratio is with the interval",
             "in which it lies 95 times in 100. The program says what each pattern is.", "",
             f"{len(points)} points, {slower} slower with their whole interval.", "",
             "| point | host | Sluice | ratio | interval |", "|---|---|---|---|---|"]
    lines += [f"| {p.name} | {p.base:.3f} | {p.other:.3f} | {p.ratio:.2f} | {p.low:.2f} to {p.high:.2f} |" for p in points]
    options.page.parent.mkdir(exist_ok=True)
    options.page.write_text(wrapped("\n".join(lines) + "\n"))


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--builddir", type=pathlib.Path, required=True, help="meson's build directory, for the program and the library")
    parser.add_argument("--rounds", type=int, default=21, help="runs of each side")
    parser.add_argument("--patterns", default="ping_pong,one_way,both_ways,shapes")
    parser.add_argument("--sizes", default="all", help="such as 8K,12K,16K")
    parser.add_argument("--seconds", type=float, default=0.003, help="for each point, in each job")
    parser.add_argument("--against", type=pathlib.Path, metavar="LIBRARY", help="another libsluice.so instead of the host alone")
    parser.add_argument("--page", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args()
    options.program = (options.builddir / PROGRAM_IN_BUILD).resolve()
    options.library = (options.builddir / LIBRARY_IN_BUILD).resolve()
    options.against = options.against and options.against.resolve()
    return options


def main():
    options = parse()
    points = [point_of(name, pairs) for name, pairs in measure(options).items()]
    show(points, options.against.parts[-3] if options.against else "host")
    if options.page:
        page(points, options)
