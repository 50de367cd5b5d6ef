"""Builds and checks everything, in steps; every step runs, whatever became of the ones before.

    scripts/test            all steps
    scripts/test lint unit  these steps only (and the build, if there is none)

The last line is the sum over all steps, `N passed, N failed, N skipped`; the exit status is 1 when anything failed.
"""

import signal
import sys

import builds
import documentation
import fuzz
import installation
import lint
import suites
import unit
from processes import abandon_companions, become_reaper, kill_descendants
from report import Report, Tally

USUAL_RUN_SECONDS = 29.5 * 60  # what may be left out is left out when they are over
WHOLE_RUN_SECONDS = 80 * 60  # a virtual machine may be half as fast on one day as on another: better late than not tested
SLOW_MACHINE = 2  # so many times the longest time may a step take there
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
    wanted = [name for name, _, _ in wanted_steps(sys.argv[1:])]
    if "fuzz" in wanted:
        fuzzing.start(seconds)
    directories = [directory for step, directory in (("unit-asan", builds.ASAN), ("unit-tsan", builds.TSAN)) if step in wanted]
    if directories:
        sanitized_builds.start(directories, SANITIZED_TARGET, seconds)
    return suites.suite("faults/run", seconds)


# name, longest time in seconds on a usual machine, what it does
STEPS = [
    ("build", 600, build_normal),
    ("formatting", 60, lint.formatting),
    ("documentation", 30, documentation.documentation),
    ("unit", 300, lambda seconds: unit.unit_tests(builds.BUILD, seconds)),
    ("installation", 120, installation.installation),
    ("mpi-faults", 400, faults),
    ("fuzz", 150, fuzzing.results),
    ("hosts-faults", 150, lambda seconds: suites.suite("faults/hosts", seconds)),
    ("unit-asan", 400, sanitized(builds.ASAN)),
    ("unit-tsan", 400, sanitized(builds.TSAN)),
    ("mpi", 600, lambda seconds: suites.suite("run", seconds)),
    ("mpi-hostile", 600, lambda seconds: suites.suite("hostile/run", seconds)),
    ("mpi-real", 400, lambda seconds: suites.suite("real/run", seconds)),
    ("mpi-apps", 60, lambda seconds: suites.suite("apps/run", seconds)),
    ("mpi-trace", 60, lambda seconds: suites.suite("trace/run", seconds)),
    ("mpi-random", 600, lambda seconds: suites.suite("random/run", seconds)),
    ("testbed", 300, suites.over_hosts),
    ("softroce", 240, suites.in_guests),
    ("clang-tidy", 300, lint.clang_tidy),
]
LEFT_OUT_WHEN_LATE = ("clang-tidy",)
INSTALLING_SECONDS = 100  # before this run; what may be left out leaves room for it in the half hour


def wanted_steps(words):
    names = [name for name, _, _ in STEPS]
    unknown = [word for word in words if word not in names]
    if unknown:
        sys.exit(f"scripts/test: {' '.join(unknown)}: the steps are {' '.join(names)}")
    return [step for step in STEPS if not words or step[0] in words or step[0] == "build"]


def main():
    steps = wanted_steps(sys.argv[1:])
    become_reaper()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # through `finally`
    report = Report(USUAL_RUN_SECONDS, WHOLE_RUN_SECONDS)
    try:
        for name, longest, function in steps:
            needed = name not in LEFT_OUT_WHEN_LATE
            most = longest * SLOW_MACHINE if needed else longest
            spared = 0 if needed else INSTALLING_SECONDS
            report.step(name, lambda function=function, most=most, spared=spared, needed=needed:
                        function(min(most, report.remaining(needed) - spared)), needed)
    finally:
        abandon_companions()
        kill_descendants()
    sys.exit(report.finish())


main()
