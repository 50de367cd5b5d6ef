"""MPICH's own test suite: every test that passes on the host alone passes under Sluice as well.

So the host runs those that fail under Sluice. Its verdicts are kept below the build directory, for this version of the suite and of
the host.
"""

import concurrent.futures
import os
import pathlib
import re
import sys
import tempfile
import threading

from sluice_dev.jobs.debian_source import NoSource
from sluice_dev.jobs.job import run_job
from sluice_dev.jobs.modes import MODES, environment
from sluice_dev.jobs.runner import Tally, parse_options

from .ordinary import COLLECTIVE, ordinary
from .suite import Suite, Verdicts

MODE = "release"
MODE_OF_COLLECTIVES = "all-collectives"  # of the directories with collective calls
OTHER_MODES = tuple(mode for mode in MODES if mode not in ("host", MODE))
HOST_SECONDS = 30  # a test that takes longer on the host alone does not count as one that passes
MORE_TIME = 6  # than the host has taken, and MIN_SECONDS at least, before a job counts as one that hangs
MIN_SECONDS = 60
HOST_RUNS = 3  # of the host alone that must pass before a failure counts
SHOWN_LINES = 40
# In a network namespace of its own, what is spawned is reached over the loopback interface alone.
MPIRUN_ARGUMENTS = ("--mca", "btl_tcp_if_include", "lo")
NO_ERRORS = re.compile(r"^\s*No [Ee]rrors\s*$")
ALLOWED = re.compile(r"^\s*(No [Ee]rrors|Test Passed|requesting checkpoint|checkpoint completed)?\s*$|FORTRAN STOP")


def add_options(parser):
    parser.add_argument("--all", action="store_true", help="every test, and each in one more mode, by turns")
    parser.add_argument("--every-mode", action="store_true", help="with each test, every mode")
    parser.add_argument("--mode", action="append", help="these modes instead (default: release)")
    parser.add_argument("--only", action="append", help="tests whose name contains this")
    parser.add_argument("--jobs", type=int, default=max(2, os.cpu_count()), help="at once; most of them wait (default %(default)s)")
    parser.add_argument("--list", action="store_true", help="names of the tests, and what is known of the host")


def judge(test, result):
    """What is wrong with how a job ended, by the rules of the suite; nothing when it passed."""
    if result.timed_out or result.left_behind:
        return result.describe()
    lines = (result.stdout + result.stderr).splitlines()
    said_so = any(NO_ERRORS.match(line) for line in lines)
    if test.result in ("TestStatus", "TestErrFatal"):
        return "" if result.returncode != 0 else "ended with code 0, and must not\n" + result.describe()
    if test.result == "TestStatusNoErrors":
        return "" if result.returncode != 0 and said_so else f"must say No Errors and end with another code than 0\n{result.describe()}"
    unexpected = [line for line in lines if not ALLOWED.search(line)]
    if result.returncode == 0 and said_so and not unexpected:
        return ""
    return result.describe()


def run_once(suite, test, mode, seconds, options):
    """In a directory of its own, as tests of files use the same names."""
    with tempfile.TemporaryDirectory(prefix="sluice-mpich-") as name:
        scratch = pathlib.Path(name)
        for path in (suite.built / test.directory).iterdir():
            if path.is_file() and path.suffix not in (".o", ".lo", ".la"):
                (scratch / path.name).symlink_to(path)
        variables = {**dict(test.environment), **environment(mode, options.library)}
        result = run_job([f"./{test.program}", *test.arguments], test.ranks, variables, seconds, cwd=scratch, mpirun_args=MPIRUN_ARGUMENTS)
    return judge(test, result), result.seconds


def host_verdict(suite, verdicts, test, options):
    return verdicts.record(test, *run_once(suite, test, "host", min(test.seconds, HOST_SECONDS), options))


def modes_of(index, test, options):
    if options.mode:
        return options.mode
    if options.every_mode:
        return (MODE, *OTHER_MODES)
    usual = MODE_OF_COLLECTIVES if test.directory in COLLECTIVE else MODE
    return tuple(dict.fromkeys((usual, OTHER_MODES[index % len(OTHER_MODES)]))) if options.all else (usual,)


class Comparison:
    """The host alone is asked where a test fails under Sluice: what passes there would say nothing of what passes here. [any thread]"""

    def __init__(self, suite, verdicts, tally, options):
        self._suite, self._verdicts, self._tally, self._options = suite, verdicts, tally, options
        self._lock = threading.Lock()
        self.failing_on_host = []

    def run(self, index, test):
        known = self._verdicts.get(test)
        if not known and not self._options.library:
            known = host_verdict(self._suite, self._verdicts, test, self._options)
        if known and known["complaint"]:
            self.failing_on_host.append(test.name)
            return
        for mode in modes_of(index, test, self._options) if self._options.library else ():
            complaint = self._complaint_about(test, mode, known["seconds"] if known else 0)
            if complaint is None:
                self.failing_on_host.append(test.name)
                return
            with self._lock:
                self._tally.check(f"{test.name}, {mode}", shortened(complaint))

    def _complaint_about(self, test, mode, host_seconds):
        """None where the host alone fails as well, always or now and then."""
        limit = limit_for(host_seconds)
        complaint, _ = run_once(self._suite, test, mode, limit, self._options)
        if not complaint:
            return complaint
        for _ in range(HOST_RUNS):
            verdict = host_verdict(self._suite, self._verdicts, test, self._options)
            if verdict["complaint"]:
                return None
            host_seconds = max(host_seconds, verdict["seconds"])
        if limit_for(host_seconds) > limit:  # it may only have had too little time
            complaint, _ = run_once(self._suite, test, mode, limit_for(host_seconds), self._options)
        return complaint


def limit_for(host_seconds):
    return max(MIN_SECONDS, MORE_TIME * host_seconds)


def shortened(complaint):
    lines = complaint.splitlines()
    return complaint if len(lines) <= SHOWN_LINES else "\n".join([*lines[:SHOWN_LINES], f"({len(lines) - SHOWN_LINES} more lines)"])


def skip_group(tally, names, why):
    """One line for many tests, and their names."""
    if names:
        tally.skipped += len(names)
        print(f"skip {len(names)} tests: {why}\n" + "\n".join(f"    {name}" for name in sorted(names)), flush=True)


def available_gigabytes():
    text = pathlib.Path("/proc/meminfo").read_text()
    return int(re.search(r"MemAvailable:\s+(\d+)", text)[1]) / 2**20


def chosen(suite, options):
    tests = suite.tests
    if options.only:
        return [test for test in tests if any(word in test.name for word in options.only)]
    return list(tests) if options.all or options.every_mode else ordinary(tests)


def compare_all(suite, verdicts, tests, tally, options):
    suite.build(dict.fromkeys(test.directory for test in tests))
    missing = [test.name for test in tests if not suite.program_of(test)]
    large = [test for test in tests if test.gigabytes and suite.program_of(test)]
    usual = [test for test in tests if not test.gigabytes and suite.program_of(test)]
    comparison = Comparison(suite, verdicts, tally, options)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for future in [pool.submit(comparison.run, index, test) for index, test in enumerate(usual)]:
            future.result()
    too_large = []
    for index, test in enumerate(large):  # one at a time
        if available_gigabytes() < 2 * test.gigabytes:
            too_large.append(f"{test.name}: {test.gigabytes} GB")
        else:
            comparison.run(index, test)
    skip_group(tally, missing, "do not build with this host")
    skip_group(tally, comparison.failing_on_host, "do not pass on the host alone")
    skip_group(tally, too_large, "twice their memory is not free")


def main():
    options = parse_options(__doc__, 60, add_options)
    tally = Tally()
    if not options.builddir:
        sys.exit("mpich/run: --builddir is needed, where the suite is kept")
    try:
        suite = Suite(options.builddir)
    except NoSource as why:
        tally.skips("MPICH's tests", str(why))
        tally.finish()
    verdicts = Verdicts(suite.verdicts_path)
    tests = chosen(suite, options)
    if options.list:
        for test in tests:
            known = verdicts.get(test)
            print(test.name + (f"  # {known['seconds']} s, {'fails' if known['complaint'] else 'passes'} on the host" if known else ""))
        return
    print(f"{suite.versions}: {len(tests)} of {len(suite.tests)} tests", flush=True)
    compare_all(suite, verdicts, tests, tally, options)
    tally.finish()
