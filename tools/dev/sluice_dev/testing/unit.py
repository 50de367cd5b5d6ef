"""GoogleTest programs, run by meson; tests are counted one by one."""

import json
import re
import signal

from sluice_dev.base import builds
from sluice_dev.base.processes import run
from sluice_dev.testing.report import Tally

SANITIZER_OPTIONS = {
    # The page guard lives on faults that a sanitizer would report.
    "ASAN_OPTIONS": "allow_user_segv_handler=1:handle_segv=0:detect_stack_use_after_return=1",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    "TSAN_OPTIONS": "handle_segv=0:second_deadlock_stack=1",
}
SLOWER_UNDER_SANITIZERS = 5


def unit_tests(directory, seconds, suite, multiplier=1):
    """Runs every unit test program of this suite that was built in a build directory."""
    programs = dict(builds.unit_programs(directory, suite))
    names = [name for name, path in programs.items() if path.exists()]
    log = directory / "meson-logs" / "testlog.json"
    log.unlink(missing_ok=True)
    command = ["meson", "test", "-C", directory, "--no-rebuild", "--suite", "unit", "--timeout-multiplier", multiplier, *names]
    outcome = run(command, seconds, env=SANITIZER_OPTIONS)
    total = Tally()
    complaints = {name: "not built" for name in programs.keys() - set(names)}
    complaints |= {name: "not listed in tests/unit/meson.build" for name in _sources() - dict(builds.unit_programs(directory, "unit")).keys()}
    for name in sorted(complaints):
        print(f"FAIL {name}: {complaints[name]}")
        total.failed += 1
    if outcome.timed_out or not log.exists():
        print(f"FAIL unit tests in {directory.name}:\n{outcome.output}")
        return Tally(total.passed, total.failed + 1, total.skipped)
    for line in log.read_text().splitlines():
        total.add(_count(json.loads(line)))
    return total


def _sources():
    """Names of all unit tests that lie in the tree."""
    tests = builds.ROOT / "tests" / "unit"
    return {str(path.relative_to(tests)).removesuffix("_test.cpp") for path in tests.rglob("*_test.cpp")}


def _number(label, output):
    found = re.search(rf"^\[ +{label} +\] (\d+) tests?", output, re.MULTILINE)
    return int(found[1]) if found else 0


def _count(test):
    output = test.get("stdout", "") + test.get("stderr", "")
    tally = Tally(_number("PASSED", output), _number("FAILED", output), _number("SKIPPED", output))
    if test["result"] not in ("OK", "SKIP"):
        tally.failed = max(tally.failed, 1)  # a crash or a sanitizer's finding, after tests that passed
        print(f"FAIL {test['name']}: {_ended(test)}\n" + "\n".join(f"    {line}" for line in _interesting(output)))
    if tally.skipped:
        print(f"skip {test['name']}: {tally.skipped}\n" + "\n".join(f"    {line}" for line in _reasons(output)))
    return tally


def _ended(test):
    """How a program ended that did not pass: a crash says nothing itself, so its signal and the test that it was in do."""
    status = test["returncode"]
    how = f"{test['result']}, signal {-status} ({signal.strsignal(-status)})" if status < 0 else test["result"]
    begun = re.findall(r"^\[ RUN      \] (\S+)", test.get("stdout", ""), re.MULTILINE)
    finished = re.findall(r"^\[ +(?:OK|FAILED|SKIPPED) +\] (\S+?),? ", test.get("stdout", ""), re.MULTILINE)
    return f"{how} in {begun[-1]}" if begun and begun[-1] not in finished else how


def _interesting(output):
    passing = ("[ RUN      ]", "[       OK ]", "[----------]")
    return [line for line in output.splitlines() if line.strip() and not line.startswith(passing)]


def _reasons(output):
    """Which tests were skipped, each with what its GTEST_SKIP said."""
    found = re.findall(r": Skipped\n(.*?)\n*\[  SKIPPED \] ([^ ]+) \(", output, re.DOTALL)
    return [f"{name}: {reason.strip() or 'no reason given'}" for reason, name in found]
