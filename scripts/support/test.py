"""Builds and checks everything, in steps; every step runs, whatever became of the ones before.

    scripts/test            all steps
    scripts/test lint unit  these steps only (and the build, if there is none)

The last line is the sum over all steps, `N passed, N failed, N skipped`; the exit status is 1 when anything failed.
"""

import dataclasses
import signal
import sys
from collections.abc import Callable

import builds
import documentation
import fuzz
import installation
import lint
import suites
import unit
from processes import abandon_companions, become_reaper, kill_descendants
from report import Report, Tally

WHOLE_RUN_SECONDS = 29.5 * 60
SANITIZED_TARGET = "unit-tests"


def build_normal(seconds):
    builds.build(builds.BUILD, seconds)
    return Tally(passed=1)


def sanitized(directory):
    def step(seconds):
        tally = Tally(passed=1)
        try:
            sanitized_builds.wait(seconds)
            builds.build(directory, seconds, [SANITIZED_TARGET])
        except builds.BuildFailed as error:
            print(f"FAIL {error}")
            tally = Tally(failed=1)
        tally.add(unit.unit_tests(directory, seconds, unit.SLOWER_UNDER_SANITIZERS))
        return tally
    return step


fuzzing = fuzz.Fuzzing()
sanitized_builds = builds.Beside()


def faults(seconds):
    """Waits for jobs to end, most of the time."""
    wanted = [step.name for step in wanted_steps(sys.argv[1:])]
    if "fuzz" in wanted:
        fuzzing.start(seconds)
    directories = [directory for step, directory in (("unit-asan", builds.ASAN), ("unit-tsan", builds.TSAN)) if step in wanted]
    if directories:
        sanitized_builds.start(directories, SANITIZED_TARGET, seconds)
    return suites.suite("faults/run", seconds)


def thinned(script):
    """Begins fewer runs, others every day, where there is less time for them than usual."""
    return lambda seconds, window: suites.suite(script, seconds, window=window)


@dataclasses.dataclass(frozen=True)
class Step:
    name: str
    usual: float  # seconds that it takes on a usual machine
    longest: float  # seconds after which it is stopped
    function: Callable  # of the seconds that it may take, and of those in which it begins runs where it `thins_out`
    thins_out: bool = False
    needed: bool = True  # otherwise left out when the time is over


STEPS = [
    Step("build", 430, 700, build_normal),
    Step("formatting", 4, 60, lint.formatting),
    Step("documentation", 2, 30, documentation.documentation),
    Step("unit", 95, 300, lambda seconds: unit.unit_tests(builds.BUILD, seconds)),
    Step("installation", 3, 120, installation.installation),
    Step("mpi-faults", 200, 400, faults),
    Step("fuzz", 10, 150, fuzzing.results),
    Step("hosts-faults", 80, 150, lambda seconds: suites.suite("faults/hosts", seconds)),
    Step("unit-asan", 120, 700, sanitized(builds.ASAN)),
    Step("unit-tsan", 120, 500, sanitized(builds.TSAN)),
    Step("mpi", 250, 600, thinned("run"), thins_out=True),
    Step("mpi-hostile", 100, 600, thinned("hostile/run"), thins_out=True),
    Step("mpi-real", 90, 400, thinned("real/run"), thins_out=True),
    Step("mpi-apps", 15, 60, lambda seconds: suites.suite("apps/run", seconds)),
    Step("mpi-trace", 30, 60, lambda seconds: suites.suite("trace/run", seconds)),
    Step("mpi-random", 120, 600, thinned("random/run"), thins_out=True),
    Step("testbed", 160, 300, suites.over_hosts, thins_out=True),
    Step("softroce", 100, 240, suites.in_guests),
    Step("clang-tidy", 0, 300, lint.clang_tidy, needed=False),
]
INSTALLING_SECONDS = 100  # before this run; within the half hour, too
LAST_RUN_SECONDS = 20  # of a window, that the last run goes on beyond it


def wanted_steps(words):
    names = [step.name for step in STEPS]
    unknown = [word for word in words if word not in names]
    if unknown:
        sys.exit(f"scripts/test: {' '.join(unknown)}: the steps are {' '.join(names)}")
    return [step for step in STEPS if not words or step.name in words or step.name == "build"]


def window_of(step, following, remaining):
    """The step's share of the time that is left, by what is usual."""
    left = remaining - INSTALLING_SECONDS - LAST_RUN_SECONDS * sum(one.thins_out for one in following)
    return max(0, left) * step.usual / (step.usual + sum(one.usual for one in following)) - LAST_RUN_SECONDS


def run_step(report, step, following):
    def function():
        most = min(step.longest, report.remaining() - (0 if step.needed else INSTALLING_SECONDS))
        if step.thins_out:
            return step.function(most, max(0, window_of(step, following, report.remaining())))
        return step.function(most)
    report.step(step.name, function, step.needed)


def main():
    steps = wanted_steps(sys.argv[1:])
    become_reaper()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # through `finally`
    report = Report(WHOLE_RUN_SECONDS)
    try:
        for number, step in enumerate(steps):
            run_step(report, step, steps[number + 1:])
    finally:
        abandon_companions()
        kill_descendants()
    sys.exit(report.finish())


main()
