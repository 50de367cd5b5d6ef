"""Shows figure 10 of the paper on rendezvous protocols (Takagi and others) as far as that is possible without an adapter.

    scripts/reproduce-rv --builddir build            prints the page
    scripts/reproduce-rv --builddir build --write    and replaces docs/results/npb.md
    scripts/reproduce-rv --builddir build --keep     goes on with what an earlier run has counted or measured

The programs are apps/npb. Counts come from the soft-RoCE guest, where every protocol over verbs is forced in turn. Times come from two
hosts made of namespaces, over tcp, where there are no such protocols: the host alone and Sluice take turns. It takes a quarter of an hour.
"""

import argparse
import json
import os
import pathlib
import re

from sluice_dev.jobs.modes import environment
from sluice_dev.jobs.rdma_counts import counts_of
from sluice_dev.papers.reproduction import LIBRARY, Failed, build_directory, in_turn, run_script
from sluice_dev.papers.rv_page import PROTOCOLS, page, write_page
from sluice_dev.papers.rv_points import COUNTED, COUNTED_RANKS, EAGER_LIMIT, HOSTS, RATE, SIDES, TIMED
from sluice_dev.softroce.softroce import GuestFailed, NoGuest, SoftRoce
from sluice_dev.testbed.bed import Bed, NoBed

TARGETS = ["apps/npb/npb", LIBRARY.as_posix()]
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
    """Name of the point -> protocol -> counts of the summary. All protocols and the host alone must have the same results."""
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
                    found.setdefault(point.name, {})[protocol] = counts_of(result.stderr)
            of_one_kind(checks, point.name)
    return found


def timed(builddir, rounds):
    """Name of the point -> that of the side -> (seconds, seconds of waiting) of each round; and how busy the machine was before."""
    program, found, load = builddir / "apps" / "npb" / "npb", {}, os.getloadavg()[0]

    def measure(point, side):
        result = bed.run([program, *point.arguments, "--check"], HOSTS, side.environment(builddir), SECONDS)
        return printed(result, f"{point.name}, {side.title}", "time", "waiting", "check")

    with Bed(HOSTS, RATE) as bed:
        for point in TIMED:
            print(f"   timing {point.name}", flush=True)
            checks = set()
            for number in range(rounds):
                for side in in_turn(SIDES, number):
                    seconds, waiting, check = measure(point, side)
                    checks.add(check)
                    found.setdefault(point.name, {}).setdefault(side.name, []).append((float(seconds), float(waiting)))
            of_one_kind(checks, point.name)
    return {"load": load, "points": found}


def kept(path, keep, make):
    """What an earlier run has found, or this one."""
    if not (keep and path.exists()):
        found = make()
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(found))
    return json.loads(path.read_text())


def reproduce():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--builddir", type=pathlib.Path, help="what is measured (default: build, which is built first)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="runs of each side over tcp (default %(default)s)")
    parser.add_argument("--keep", action="store_true", help="do not count or measure again what an earlier run has")
    parser.add_argument("--write", action="store_true", help="replace docs/results/npb.md")
    options = parser.parse_args()
    builddir = build_directory(options, TARGETS)
    stored = builddir / "reproduce-rv"
    counts = kept(stored / "counts.json", options.keep, lambda: counted(builddir))
    times = kept(stored / "times.json", options.keep, lambda: timed(builddir, options.rounds))
    if options.write:
        write_page(counts, times)
    else:
        print(page(counts, times), end="")


def main():
    run_script("reproduce-rv", reproduce, NoBed, NoGuest, GuestFailed)
