"""Shows figure 10 of the paper on rendezvous protocols (Takagi and others) as far as that is possible without an adapter.

    scripts/reproduce-rv --builddir build            prints the page
    scripts/reproduce-rv --builddir build --write    and replaces docs/results/npb.md

The programs are apps/npb. Counts come from the soft-RoCE guest, where every protocol over verbs is forced in turn. Times come from two
hosts made of namespaces, over tcp, where there are no such protocols: the host alone and Sluice take turns. It takes a quarter of an hour.
"""

import argparse
import os
import pathlib
import re

from sluice_dev.base.distance import PROGRAM, Distance
from sluice_dev.jobs.modes import environment
from sluice_dev.jobs.rdma_counts import counts_of
from sluice_dev.papers.reproduction import LIBRARY, Failed, build_directory, in_turn, run_script
from sluice_dev.papers.rv_page import PROTOCOLS, page, write_page
from sluice_dev.papers.rv_points import COUNTED, COUNTED_RANKS, EAGER_LIMIT, HOSTS, RATE, SIDES, TIMED
from sluice_dev.softroce.softroce import GuestFailed, NoGuest, SoftRoce
from sluice_dev.testbed.bed import Bed, NoBed

TARGETS = ["apps/npb/npb", LIBRARY.as_posix(), PROGRAM]
ROUNDS = 9
SECONDS = 300


def printed(result, what, *words):
    """Of each word, what follows it in the job's output."""
    if not result.ok:
        raise Failed(f"{what}: {result.describe()}")
    return [re.search(rf"^{word} (\S+)", result.stdout, re.MULTILINE)[1] for word in words]


def of_one_kind(checks, what):
    if len(checks) != 1:
        raise Failed(f"{what}: results differ: {' '.join(sorted(checks))}")


def counted(builddir):
    """Point -> protocol -> counts of the summary. All protocols and the host alone must have the same results."""
    program, found = builddir / "apps" / "npb" / "npb", {}
    with SoftRoce(builddir) as guests:
        for point in COUNTED:
            print(f"   counting {point.name}", flush=True)
            checks = set()
            for protocol in (None, *PROTOCOLS):
                mode = f"verbs-{protocol}-off" if protocol else "host"
                settings = {**environment(mode, builddir / LIBRARY), **({"SLUICE_EAGER_LIMIT": EAGER_LIMIT} if protocol else {})}
                result = guests.run([program, *point.arguments, "--check"], COUNTED_RANKS, settings, SECONDS)
                checks.update(printed(result, f"{point.name}, {mode}", "check"))
                if protocol:
                    found.setdefault(point, {})[protocol] = counts_of(result.stderr)
            of_one_kind(checks, point.name)
    return found


def timed(builddir, rounds, distance):
    """Point -> side -> (seconds, seconds of waiting) of each round."""
    program, found = builddir / "apps" / "npb" / "npb", {}

    def measure(point, side):
        result = bed.run([program, *point.arguments, "--check"], HOSTS, side.environment(builddir), SECONDS)
        return printed(result, f"{point.name}, {side.title}", "time", "waiting", "check")

    with Bed(HOSTS, RATE) as bed:
        for point in TIMED:
            print(f"   timing {point.name}", flush=True)
            checks = set()
            for number in range(rounds):
                for side in in_turn(SIDES, number):
                    seconds, waiting, check = distance.measured(lambda side=side: measure(point, side))
                    checks.add(check)
                    found.setdefault(point, {}).setdefault(side, []).append((float(seconds), float(waiting)))
            of_one_kind(checks, point.name)
    return found


def reproduce():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--builddir", type=pathlib.Path, help="what is measured (default: build, which is built first)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="runs of each side over tcp (default %(default)s)")
    parser.add_argument("--write", action="store_true", help="replace docs/results/npb.md")
    options = parser.parse_args()
    builddir = build_directory(options, TARGETS)
    counts = counted(builddir)
    load = os.getloadavg()[0]
    distance = Distance(builddir)
    times = timed(builddir, options.rounds, distance)
    remark = f"{distance.described()} Before the first run the load average was {load:.1f}."
    if options.write:
        write_page(counts, times, remark)
    else:
        print(page(counts, times, remark), end="")


def main():
    run_script("reproduce-rv", reproduce, NoBed, NoGuest, GuestFailed)
