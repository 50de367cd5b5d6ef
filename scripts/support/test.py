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

AIM_SECONDS = 29.5 * 60  # suites of many runs thin out to keep it, but to LEAST_SHARE at least
WHOLE_RUN_SECONDS = 80 * 60  # better late than not tested: virtual machines take twice as long for the same on some days
LEAST_SHARE = 0.4  # of what is usual
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
    longest: float  # seconds after which it is stopped: it hangs, as no machine is that slow
    function: Callable  # of the seconds that it may take, and of those in which it begins runs where it `thins_out`
    thins_out: bool = False
    needed: bool = True  # otherwise left out when the time is over


STEPS = [
    Step("build", 430, 1200, build_normal),
    Step("formatting", 4, 120, lint.formatting),
    Step("documentation", 2, 60, documentation.documentation),
    Step("unit", 75, 600, lambda seconds: unit.unit_tests(builds.BUILD, seconds)),
    Step("installation", 3, 240, installation.installation),
    Step("mpi-faults", 200, 800, faults),
    Step("fuzz", 10, 300, fuzzing.results),
    Step("hosts-faults", 45, 300, lambda seconds: suites.suite("faults/hosts", seconds)),
    Step("unit-asan", 200, 800, sanitized(builds.ASAN)),
    Step("unit-tsan", 100, 800, sanitized(builds.TSAN)),
    Step("mpi", 250, 1200, thinned("run"), thins_out=True),
    Step("mpi-hostile", 100, 1200, thinned("hostile/run"), thins_out=True),
    Step("mpi-real", 90, 800, thinned("real/run"), thins_out=True),
    Step("mpi-apps", 15, 120, lambda seconds: suites.suite("apps/run", seconds)),
    Step("mpi-hosts", 60, 400, lambda seconds: suites.suite("hosts/run", seconds)),
    Step("mpi-trace", 30, 120, lambda seconds: suites.suite("trace/run", seconds)),
    Step("mpi-random", 120, 1200, thinned("random/run"), thins_out=True),
    Step("testbed", 160, 600, suites.over_hosts, thins_out=True),
    Step("softroce", 100, 480, suites.in_guests),
    Step("clang-tidy", 0, 360, lint.clang_tidy, needed=False),
]
INSTALLING_SECONDS = 100  # before this run; within the half hour, too
LAST_RUN_SECONDS = 20  # of a window, that the last run goes on beyond it


def wanted_steps(words):
    names = [step.name for step in STEPS]
    unknown = [word for word in words if word not in names]
    if unknown:
        sys.exit(f"scripts/test: {' '.join(unknown)}: the steps are {' '.join(names)}")
    return [step for step in STEPS if not words or step.name in words or step.name == "build"]


def window_of(step, following, left):
    """The step's share of the seconds that are left, by what is usual."""
    left -= INSTALLING_SECONDS + LAST_RUN_SECONDS * sum(one.thins_out for one in following)
    share = step.usual / (step.usual + sum(one.usual for one in following))
    return max(left * share - LAST_RUN_SECONDS, LEAST_SHARE * step.usual)


def run_step(report, step, following):
    def function():
        left = report.remaining(step.needed)
        if step.thins_out:
            return step.function(min(step.longest, left), window_of(step, following, report.remaining(needed=False)))
        return step.function(min(step.longest, left - (0 if step.needed else INSTALLING_SECONDS)))
    report.step(step.name, function, step.needed)


def main():
    steps = wanted_steps(sys.argv[1:])
    become_reaper()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # through `finally`
    report = Report(AIM_SECONDS, WHOLE_RUN_SECONDS)
    try:
        for number, step in enumerate(steps):
            run_step(report, step, steps[number + 1:])
    finally:
        abandon_companions()
        kill_descendants()
    sys.exit(report.finish())


main()
