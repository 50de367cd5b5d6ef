"""OpenCoarrays' own tests, as Debian has them: what passes on the host alone passes under Sluice.

    run --builddir DIR                  as users get them, and with all windows of a node carried, by turns
    run --builddir DIR --all            every program with every number of ranks in both modes
    run --builddir DIR --only atomics   those whose name contains this

Every image keeps its coarrays in windows, and locks all of them until the end. The host runs what fails under Sluice.
"""

import concurrent.futures
import os
import pathlib
import re

from sluice_dev.jobs.job import run_job
from sluice_dev.jobs.modes import environment
from sluice_dev.jobs.runner import Tally, parse_options

PLACE = pathlib.Path("/usr/lib/x86_64-linux-gnu/open-coarrays/openmpi/bin")
MODES = ("release", "all-onesided")
RANKS = (2, 3, 5)
SIDE_BY_SIDE = 2
HOST_RUNS = 6  # of the host alone that must pass before a failure counts: some have races of their own
LEFT_OUT = ("increment_my_neighbor",)  # fails every second time on the host alone
FAILED = re.compile(r"\bfail(ed|ure|s)?\b|\berror\b", re.IGNORECASE)


def programs(options):
    found = [path for path in sorted(PLACE.glob("OpenCoarrays-*-tests/*")) if path.is_file() and os.access(path, os.X_OK)]
    return [path for path in found if path.name not in LEFT_OUT and any(word in path.name for word in options.only or ("",))]


def runs(options):
    """Program, ranks, mode."""
    every = [(path, ranks, mode) for path in programs(options) for ranks in RANKS for mode in MODES]
    # Of the six of each program two, by turns.
    return every if options.all else [run for number, run in enumerate(every) if number % 3 == (number // 6) % 3]


def complaint_about(path, ranks, mode, options):
    result = run_job([path], ranks, environment(mode, options.library), options.timeout)
    if not result.ok:
        return result.describe()
    return result.describe() if FAILED.search(result.stdout) else ""


def compare(run, options):
    """What is wrong; None where the host alone fails, too."""
    path, ranks, mode = run
    complaint = complaint_about(path, ranks, mode, options)
    if complaint and any(complaint_about(path, ranks, "host", options) for _ in range(HOST_RUNS)):
        return None
    return complaint


def main():
    def add(parser):
        parser.add_argument("--only", action="append", help="programs whose name contains this")
        parser.add_argument("--all", action="store_true", help="every run")
    options = parse_options(__doc__.partition("\n")[0], 60, add)
    tally = Tally()
    wanted = runs(options)
    if not wanted:
        tally.skips("coarrays", f"no tests of OpenCoarrays in {PLACE}")
    with concurrent.futures.ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        for (path, ranks, mode), complaint in zip(wanted, pool.map(lambda run: compare(run, options), wanted)):
            name = f"{path.name}, {ranks} ranks, {mode}"
            if complaint is None:
                tally.skips(name, "fails on the host alone, too")
            else:
                tally.check(name, complaint)
    tally.finish()
