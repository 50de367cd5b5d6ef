"""The test scripts under tests/mpi. Each runs its jobs in network namespaces of its own, or over the test bed, and ends with a tally."""

import os
import time

from builds import BUILD, ROOT
from processes import run
from report import Tally, tally_in

LIBRARY = BUILD / "interpose" / "libsluice.so"


# Ranks on hosts of their own, and two to a host, so that both transports carry messages; jobs of three hosts. Left out: what takes
# gigabytes, and spawning, where the host's children do not find their parents. Half of the conformance programs each day. Before
# each: its share of the time.
OVER_HOSTS = [
    (4, "run", "--testbed", "2", "--ranks", "2", "--ranks", "4", "--mode", "release", "--skip", "large", "--skip", "spawn",
     "--of-the-day", "40"),
    (2, "run", "--testbed", "3", "--ranks", "3", "--mode", "release", "--of-the-day", "16"),
    (3, "random/run", "--testbed", "2", "--mode", "release", "--count", "30"),
    (2, "random/run", "--testbed", "3", "--mode", "release", "--first", "241", "--count", "15"),
]


# Instructions are emulated there: a few of many runs, others every day.
IN_GUESTS = [
    ("../testbed/softroce/check",),
    ("run", "--softroce", "1", "--ranks", "2", "--skip", "large", "--of-the-day", "1", "--timeout", "100"),
    ("run", "--softroce", "2", "--ranks", "2", "--ranks", "4", "--mode", "verbs", "--mode", "verbs-shmem", "--skip", "large", "--skip", "spawn",
     "--of-the-day", "1", "--timeout", "100"),
    ("rdma/run", "--of-the-day", "1"),
]


def over_hosts(seconds, window):
    """Conformance suite and random programs over the test bed."""
    started = time.monotonic()
    tally = Tally()
    shares = sum(share for share, *_ in OVER_HOSTS)
    for share, script, *arguments in OVER_HOSTS:
        gone = time.monotonic() - started
        tally.add(suite(script, seconds - gone, arguments, max(0, window - gone) * share / shares))
        shares -= share
    return tally


def in_guests(seconds):
    """What needs a verbs device."""
    end = time.monotonic() + seconds
    tally = Tally()
    for script, *arguments in IN_GUESTS:
        tally.add(suite(script, end - time.monotonic(), arguments))
    return tally


def suite(script, seconds, arguments=(), window=None):
    """Shows what failed or was skipped, with the lines that explain it; everything is kept in a log. `window`: in which it begins runs."""
    name = os.path.normpath(f"tests/mpi/{script}")
    path = ROOT / name
    if not path.exists():
        print(f"FAIL {name}: it does not exist")
        return Tally(failed=1)
    shown = _Filter()
    begin = [] if window is None else ["--begin-within", f"{window:.0f}"]
    outcome = run([path, "--library", LIBRARY, "--builddir", BUILD, *arguments, *begin], seconds, on_line=shown)
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
