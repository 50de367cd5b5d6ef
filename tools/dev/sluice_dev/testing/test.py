"""Builds and checks everything, in steps; every step runs, whatever became of the ones before.

    scripts/test                  every step, the same runs every day: within 50 minutes on two cores
    scripts/test --quick          build, unit tests and the conformance suite with two ranks: within 10
    scripts/test --all            every step with everything that it has: hours
    scripts/test formatting unit  these steps only (and the build)

The last line is the sum over all steps, `N passed, N failed, N skipped`; the exit status is 1 when anything failed.
"""

import argparse
import dataclasses
import signal
import sys
from collections.abc import Callable

from sluice_dev.base import builds
from sluice_dev.base.processes import abandon_companions, become_reaper, kill_descendants
from sluice_dev.testing import documentation, fuzz, installation, layers, lint, shape, suites, unit
from sluice_dev.testing.report import Report, Tally
from sluice_dev.testing.suites import ALL, ORDINARY, QUICK

# The whole run: a machine may be slow, but whoever waits for a run has a limit of his own.
WHOLE_RUN_SECONDS = {QUICK: 20 * 60, ORDINARY: 150 * 60, ALL: 24 * 3600}
LONGEST_OF_ALL = 6 * 3600  # a step with all that it has
SANITIZED_TARGET = "sanitized-tests"
SANITIZERS = {"unit-asan": builds.ASAN, "unit-tsan": builds.TSAN}


def unit_suite():
    """Where the sanitizers' builds run as well, what shows nothing more without one is left out: tests/unit/selected.py."""
    options = parse_options()
    names = [step.name for step in wanted_steps(options)]
    return "plain" if options.level == ORDINARY and all(step in names for step in SANITIZERS) else "unit"


def build_normal(seconds, _level):
    builds.build(builds.BUILD, seconds, [*builds.all_but_tests(builds.BUILD, seconds), f"{unit_suite()}-tests"])
    return Tally(passed=1)


def unit_tests(seconds, _level):
    return unit.unit_tests(builds.BUILD, seconds, unit_suite())


def sanitized(directory):
    def step(seconds, _level):
        tally = Tally(passed=1)
        try:
            sanitized_builds.wait(seconds)
            builds.build(directory, seconds, [SANITIZED_TARGET])
        except builds.BuildFailed as error:
            print(f"FAIL {error}")
            tally = Tally(failed=1)
        tally.add(unit.unit_tests(directory, seconds, "sanitized", unit.SLOWER_UNDER_SANITIZERS))
        return tally
    return step


fuzzing = fuzz.Fuzzing()
sanitized_builds = builds.Beside()


def faults(seconds, level):
    """Waits for jobs to end, most of the time."""
    wanted = [step.name for step in wanted_steps(parse_options())]
    if "fuzz" in wanted:
        fuzzing.start(seconds)
    directories = [directory for step, directory in SANITIZERS.items() if step in wanted]
    if directories:
        sanitized_builds.start(directories, SANITIZED_TARGET, seconds)
    return suites.step("mpi-faults")(seconds, level)


def of_any_level(function):
    return lambda seconds, _level: function(seconds)


@dataclasses.dataclass(frozen=True)
class Step:
    name: str
    longest: float  # seconds after which it is stopped: it hangs, as no machine is that slow
    function: Callable  # of the seconds that it may take, and the level
    quick: bool = False  # part of a quick run
    ordinary: bool = True


def suite_step(name, longest, **how):
    return Step(name, longest, suites.step(name), **how)


STEPS = [
    Step("build", 1800, build_normal, quick=True),
    Step("formatting", 120, of_any_level(lint.formatting), quick=True),
    Step("layers", 60, of_any_level(layers.layers), quick=True),
    Step("shape", 60, of_any_level(shape.shape), quick=True),
    Step("documentation", 60, of_any_level(documentation.documentation), quick=True),
    Step("unit", 600, unit_tests, quick=True),
    Step("installation", 240, of_any_level(installation.installation)),
    Step("mpi-faults", 1200, faults),
    Step("fuzz", 300, of_any_level(fuzzing.results)),
    suite_step("hosts-faults", 300),
    Step("unit-asan", 1200, sanitized(SANITIZERS["unit-asan"])),
    Step("unit-tsan", 1200, sanitized(SANITIZERS["unit-tsan"])),
    suite_step("mpi", 1200, quick=True),
    suite_step("mpi-hostile", 1200),
    suite_step("mpi-real", 800),
    suite_step("mpi-mpich", 1500),
    suite_step("mpi-mpi4py", 800),
    suite_step("mpi-coarrays", 300),
    suite_step("mpi-small", 900),
    suite_step("mpi-apps", 120),
    Step("mpi-hosts", 600, suites.on_hosts),
    suite_step("mpi-trace", 120),
    suite_step("mpi-random", 1200),
    Step("testbed", 900, suites.over_hosts),
    Step("softroce", 600, suites.in_guests),
    Step("clang-tidy", 600, of_any_level(lint.clang_tidy), ordinary=False),
]


def parse_options():
    parser = argparse.ArgumentParser(prog="scripts/test", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    levels = parser.add_mutually_exclusive_group()
    levels.add_argument("--quick", dest="level", action="store_const", const=QUICK, help="a few steps, within 10 minutes")
    levels.add_argument("--all", dest="level", action="store_const", const=ALL, help="every step with everything that it has")
    parser.add_argument("steps", nargs="*", metavar="STEP", help="only these: " + " ".join(step.name for step in STEPS))
    parser.set_defaults(level=ORDINARY)
    options = parser.parse_args()
    if unknown := [word for word in options.steps if word not in [step.name for step in STEPS]]:
        parser.error(f"no such step: {' '.join(unknown)}; the steps are {' '.join(step.name for step in STEPS)}")
    return options


def wanted_steps(options):
    if options.steps:
        return [step for step in STEPS if step.name in options.steps or step.name == "build"]
    return [step for step in STEPS if step.quick or options.level != QUICK]


def run_step(report, step, options):
    def function():
        if not step.ordinary and options.level == ORDINARY and step.name not in options.steps:
            print(f"skip {step.name}: with --all, or by its name")
            return Tally(skipped=1)
        longest = LONGEST_OF_ALL if options.level == ALL else step.longest
        return step.function(min(longest, report.remaining()), options.level)
    report.step(step.name, function)


def main():
    options = parse_options()
    become_reaper()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # through `finally`
    report = Report(WHOLE_RUN_SECONDS[options.level])
    try:
        for step in wanted_steps(options):
            run_step(report, step, options)
    finally:
        abandon_companions()
        kill_descendants()
    sys.exit(report.finish())
