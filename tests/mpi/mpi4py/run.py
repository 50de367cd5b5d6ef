"""mpi4py's own tests: every one that passes on the host alone passes under Sluice as well.

They come from Debian's source package of the version that is installed, and are kept below the build directory.
"""

import collections
import pathlib
import subprocess
import tempfile

from sluice_dev.jobs.debian_source import NoSource, source_of
from sluice_dev.jobs.job import run_job
from sluice_dev.jobs.modes import MODES, environment
from sluice_dev.jobs.runner import Tally, parse_options

here = pathlib.Path(__file__).resolve().parent

PYTHON = "/usr/bin/python3"  # the one that Debian's mpi4py belongs to
RANKS = (1, 2, 3)
ATTEMPTS = 4  # of the host: a test in which it hangs is left out, and the others run again
SECONDS = 240
SPAWNING = "test_spawn"  # takes the host minutes; with --all, and more time
SPAWNING_SECONDS = 900
MPIRUN_ARGUMENTS = ("--mca", "btl_tcp_if_include", "lo")


def tests_of(options):
    """The directory of the tests."""
    if options.source:
        return options.source.resolve()
    installed = subprocess.run([PYTHON, "-c", "import mpi4py; print(mpi4py.__version__)"], capture_output=True, text=True, check=False)
    if installed.returncode != 0:
        raise NoSource("python3-mpi4py is not installed")
    if not options.builddir:
        raise NoSource("no --builddir, where the tests are kept")
    source, version = source_of("mpi4py", options.builddir.resolve() / "mpi4py", ("test",))
    if not version.startswith(installed.stdout.strip()):
        raise NoSource(f"the source is of {version}, and {installed.stdout.strip()} is installed")
    return source / "test"


class Job:
    """One run of all tests: what became of each, over all ranks."""

    def __init__(self, directory, ranks, mode, left_out, options):
        modules = sorted(path.stem for path in directory.glob("test_*.py") if options.all or path.stem != SPAWNING)
        with tempfile.TemporaryDirectory(prefix="sluice-mpi4py-") as name:
            results = pathlib.Path(name) / "results"
            command = [PYTHON, here / "driver.py", directory, results, ",".join(modules), *([",".join(sorted(left_out))] if left_out else [])]
            self.result = run_job(command, ranks, environment(mode, options.library), max(options.timeout, SPAWNING_SECONDS if options.all else 0),
                                  mpirun_args=MPIRUN_ARGUMENTS)
            self.outcomes = collections.defaultdict(dict)  # test -> rank -> (outcome, detail)
            for rank in range(ranks):
                path = results.with_suffix(f".{rank}")
                for line in path.read_text(errors="replace").splitlines() if path.exists() else []:
                    test, outcome, detail = line.split("\t", 2)
                    self.outcomes[test][rank] = (outcome, detail)
        self.ranks = ranks

    def passed(self, test):
        found = self.outcomes.get(test, {})
        return len(found) == self.ranks and all(outcome == "passed" for outcome, _ in found.values())

    def unfinished(self):
        return {test for test, found in self.outcomes.items() if any(outcome == "begun" for outcome, _ in found.values())}

    def explanation(self, test):
        found = self.outcomes.get(test, {})
        return "; ".join(f"rank {rank}: {outcome} {detail}" for rank, (outcome, detail) in sorted(found.items()) if outcome != "passed") or "not run"


def host_job(directory, ranks, options):
    """The tests that pass on the host alone, and those in which it does not come to an end."""
    left_out = set()
    for _ in range(ATTEMPTS):
        job = Job(directory, ranks, "host", left_out, options)
        if job.result.ok or not job.unfinished():
            break
        left_out |= job.unfinished()
    return job, left_out


def fails_on_host(directory, ranks, tests, left_out, options):
    """Those of the tests that fail on the host alone, now and then."""
    again = Job(directory, ranks, "host", left_out, options)
    return {test for test in tests if not again.passed(test)}


def compare(tally, directory, ranks, modes, options):
    host, left_out = host_job(directory, ranks, options)
    passing = sorted(test for test in host.outcomes if host.passed(test))
    name = f"{ranks} ranks"
    if not passing:
        tally.fails(f"{name}, host", host.result.describe())
        return
    others = len(host.outcomes.keys() | left_out) - len(passing)
    tally.passes(f"{name}, host", f"{len(passing)} tests pass, {others} do not or are left out there")
    for mode in modes:
        job = Job(directory, ranks, mode, left_out, options)
        failed = [test for test in passing if not job.passed(test)]
        flaky = fails_on_host(directory, ranks, failed, left_out, options) if failed else set()
        tally.passed += len(passing) - len(failed)
        for test in failed:
            if test in flaky:
                tally.skips(f"{test}, {name}, {mode}", "fails on the host alone too, now and then")
            else:
                tally.fails(f"{test}, {name}, {mode}", job.explanation(test))
        if failed and not job.result.ok:
            print("    " + "\n    ".join(job.result.describe().splitlines()[-60:]))
        if not failed:
            tally.check(f"{name}, {mode}", "" if job.result.ok or not host.result.ok else job.result.describe())


def add_options(parser):
    parser.add_argument("--all", action="store_true", help="every mode")
    parser.add_argument("--mode", action="append", choices=[mode for mode in MODES if mode != "host"], help="these modes (default: release)")
    parser.add_argument("--ranks", type=int, action="append", help="these numbers of ranks")
    parser.add_argument("--source", type=pathlib.Path, help="the directory of mpi4py's tests, where the package is not to be had")


def main():
    options = parse_options(__doc__, SECONDS, add_options)
    tally = Tally()
    try:
        directory = tests_of(options)
    except NoSource as why:
        tally.skips("mpi4py's tests", str(why))
        tally.finish()
    modes = options.mode or ([mode for mode in MODES if mode != "host"] if options.all else ["release"])
    for ranks in options.ranks or RANKS:
        compare(tally, directory, ranks, modes if options.library else [], options)
    tally.finish()
