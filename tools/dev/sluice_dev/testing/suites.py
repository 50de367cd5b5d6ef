"""The test scripts under tests/mpi. Each runs its jobs in network namespaces of its own, or over the test bed, and ends with a tally."""

import os
import time

from sluice_dev.base.builds import BUILD, ROOT
from sluice_dev.base.processes import run
from sluice_dev.testing.report import Tally, tally_in

LIBRARY = BUILD / "interpose" / "libsluice.so"

QUICK, ORDINARY, ALL = "quick", "ordinary", "all"

# Script of each step and, where a level of scripts/test wants other runs than the ordinary ones, its arguments there.
SUITES = {
    "mpi-faults": ("faults/run", {ALL: ["--inject-all"]}),
    "hosts-faults": ("faults/hosts", {}),
    "mpi": ("run", {QUICK: ["--ranks", "2", "--mode", "release"], ALL: ["--every-mode"]}),
    "mpi-hostile": ("hostile/run", {ALL: ["--all"]}),
    "mpi-real": ("real/run", {ALL: ["--all"]}),
    "mpi-mpich": ("mpich/run", {ALL: ["--all"]}),
    "mpi-mpi4py": ("mpi4py/run", {ALL: ["--all"]}),
    "mpi-coarrays": ("coarrays/run", {ALL: ["--all"]}),
    "mpi-small": ("small/run", {ALL: ["--all"]}),
    "mpi-apps": ("apps/run", {ALL: ["--all"]}),
    "mpi-trace": ("trace/run", {ALL: ["--long"]}),
    "mpi-random": ("random/run", {ALL: ["--every-mode"]}),
}

# Ranks on hosts of their own, and two to a host, so that both transports carry messages; jobs of three hosts. Left out: what takes
# gigabytes, and spawning, where the host's children do not find their parents. Before each: how many of its runs are a sample.
OVER_HOSTS = [
    (40, "run", "--testbed", "2", "--ranks", "2", "--ranks", "4", "--mode", "release", "--skip", "large", "--skip", "spawn"),
    (None, "run", "--testbed", "2", "--ranks", "4", "--mode", "all-onesided", "--filter", "rma_"),
    (16, "run", "--testbed", "3", "--ranks", "3", "--mode", "release"),
    (None, "random/run", "--testbed", "2", "--mode", "release", "--count", "30"),
    (None, "random/run", "--testbed", "3", "--mode", "release", "--first", "241", "--count", "15"),
]

# Other MPI libraries than the machine's own, and the conformance programs as they are, with the Open MPI of the next Debian.
ON_HOSTS = [
    (None, "hosts/run"),
    # Left out: persistent collectives by the names of Open MPI 4.1 (MPIX).
    (12, "run", "--root", "trixie", "--ranks", "2", "--mode", "release", "--skip", "large", "--skip", "spawn", "--skip", "coll_persistent",
     "--skip", "coll_persistent_kinds"),
]

# Instructions are emulated there: a few of many runs.
IN_GUESTS = [
    (None, "../testbed/softroce/check"),
    (1, "run", "--softroce", "1", "--ranks", "2", "--skip", "large", "--timeout", "100"),
    (None, "run", "--softroce", "1", "--ranks", "2", "--mode", "verbs-frequent", "--only", "reused_addresses", "--timeout", "100"),
    (1, "run", "--softroce", "2", "--ranks", "2", "--ranks", "4", "--mode", "verbs", "--mode", "verbs-shmem", "--skip", "large", "--skip", "spawn",
     "--timeout", "100"),
    (1, "rdma/run"),
]


def step(name):
    """A function that runs the suite of this step, of the seconds it may take and the level."""
    script, arguments = SUITES[name]
    return lambda seconds, level: suite(script, seconds, arguments.get(level, ()))


def over_hosts(seconds, level):
    """Conformance suite and random programs over the test bed."""
    return sampled(OVER_HOSTS, seconds, level)


def in_guests(seconds, level):
    """What needs a verbs device."""
    return sampled(IN_GUESTS, seconds, level)


def on_hosts(seconds, level):
    """What needs other MPI libraries."""
    return sampled(ON_HOSTS, seconds, level)


def sampled(runs, seconds, level):
    end = time.monotonic() + seconds
    tally = Tally()
    for count, script, *arguments in runs:
        part = ["--sample", str(count)] if count and level != ALL else []
        tally.add(suite(script, end - time.monotonic(), [*arguments, *part]))
    return tally


def suite(script, seconds, arguments=()):
    """Shows what failed or was skipped, with the lines that explain it; everything is kept in a log."""
    name = os.path.normpath(f"tests/mpi/{script}")
    path = ROOT / name
    if not path.exists():
        print(f"FAIL {name}: it does not exist")
        return Tally(failed=1)
    shown = _Filter()
    outcome = run([path, "--library", LIBRARY, "--builddir", BUILD, *arguments], seconds, on_line=shown)
    log = BUILD / "logs" / f"{'-'.join([script, *arguments]).replace('/', '-').replace('---', '-').removeprefix('..-')}.log"
    log.parent.mkdir(exist_ok=True)
    log.write_text(outcome.output)
    tally = tally_in(outcome.output)
    if tally is None or outcome.timed_out:
        lines = outcome.output.splitlines()
        ended = f"stopped after {seconds:.0f} s" if outcome.timed_out else f"ended with status {outcome.returncode} and no tally"
        print(f"FAIL {name}: {ended}; its last lines:\n" + "\n".join(f"    {line}" for line in lines[-20:]))
        return Tally(_beginning(lines, "ok "), _beginning(lines, "FAIL ") + 1, _beginning(lines, "skip "))
    if outcome.returncode != 0 and tally.failed == 0:
        print(f"FAIL {name}: ended with status {outcome.returncode}")
        tally.failed = 1
    return tally


def _beginning(lines, word):
    return sum(line.startswith(word) for line in lines)


class _Filter:
    """Prints FAIL and skip lines, and tables, with the indented lines that follow them."""

    def __init__(self):
        self._showing = False

    def __call__(self, line):
        if not line.startswith(" "):
            self._showing = line.startswith(("FAIL", "skip", "table"))
        if self._showing:
            print(line, flush=True)
