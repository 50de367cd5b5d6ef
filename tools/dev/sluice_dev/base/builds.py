"""Build directories: configuring them, building in them, and what meson knows about them."""

import json
import os
import pathlib

from sluice_dev.base.processes import Companion, run

ROOT = pathlib.Path(__file__).resolve().parents[4]
BUILD = ROOT / "build"
ASAN = ROOT / "build-asan"
TSAN = ROOT / "build-tsan"
LIBRARY_IN_BUILD = "interpose/libsluice.so"

# For stacks, and no more: the build takes three quarters of the time.
LINE_NUMBERS = ["-Ddebug=false", "-Dcpp_args=-g1", "-Dc_args=-g1"]
# Several files are compiled as one, which takes half of the time.
AT_ONCE = "-Dat_once=true"
CLANG = {"CC": "clang", "CXX": "clang++"}  # sooner done with sanitizers than gcc
ENVIRONMENT = {BUILD: {}, ASAN: CLANG, TSAN: CLANG}


def sanitized(which, macro):
    """`macro`: by which gcc tells the source of a sanitizer. Clang warns of conversions between signs as well, of which there is no end."""
    return [AT_ONCE, f"-Db_sanitize={which}", "-Db_lundef=false", "-Doptimization=g", "-Ddebug=false", "-Dc_args=-g1",
            f"-Dcpp_args=-g1 -D{macro}=1 -Wno-sign-conversion"]


OPTIONS = {
    BUILD: [AT_ONCE, *LINE_NUMBERS],
    ASAN: sanitized("address,undefined", "__SANITIZE_ADDRESS__"),
    TSAN: sanitized("thread", "__SANITIZE_THREAD__"),
}
SHOWN_LINES = 100


class BuildFailed(Exception):
    pass


def configure(directory, seconds):
    if (directory / "build.ninja").exists():
        return
    outcome = run(["meson", "setup", *OPTIONS[directory], directory, ROOT], seconds, env=ENVIRONMENT[directory])
    if outcome.returncode != 0:
        raise BuildFailed(f"meson setup of {directory.name} failed\n{outcome.output}")


def build(directory, seconds, targets=()):
    """Builds as much as can be built, so that what does build can be tested."""
    configure(directory, seconds)
    outcome = run(["ninja", "-C", directory, "-k", "0", "-j", os.cpu_count(), *targets], seconds)
    if outcome.timed_out:
        raise BuildFailed(f"{directory.name} was not built within {seconds:.0f} s")
    if outcome.returncode != 0:
        lines = [line for line in outcome.output.splitlines() if not line.startswith("[")]
        lines = lines[next((number for number, line in enumerate(lines) if line.startswith("FAILED")), 0):]
        raise BuildFailed(f"{directory.name} does not build; the first of {len(lines)} lines:\n" + "\n".join(lines[:SHOWN_LINES]))


class Beside:
    """Builds that go on beside steps that wait more than they compute. Whatever goes wrong shows when a step asks for the same."""

    def __init__(self):
        self._companion = None

    def start(self, directories, target, seconds):
        if self._companion:
            return
        for directory in directories:
            configure(directory, seconds)
        ninja = "; ".join(f"ninja -C '{directory}' -k 0 -j {os.cpu_count()} {target}" for directory in directories)
        self._companion = Companion(["sh", "-c", ninja], ROOT)

    def wait(self, seconds):
        """Two builds of one directory at once would disturb each other."""
        if self._companion:
            self._companion.finish(seconds)


def targets():
    """All that ninja can build in BUILD, as it lists it."""
    return run(["ninja", "-C", BUILD, "-t", "targets", "all"], 60).output


def all_but_tests(directory, seconds):
    """What ninja builds by default, but programs that are there for `meson test` alone: meson has ninja build those, too."""
    configure(directory, seconds)
    outcome = run(["meson", "introspect", "--targets", directory], 60)
    files = [file for target in json.loads(outcome.output) if target["build_by_default"] for file in target["filename"]]
    return [os.path.relpath(file, directory) for file in files]


def unit_programs(directory, suite):
    """Name and path of every unit test program of a configured directory in this suite of tests/unit/meson.build: unit, plain, sanitized."""
    outcome = run(["meson", "introspect", "--tests", directory], 60)
    tests = json.loads(outcome.output)
    return [(test["name"], pathlib.Path(test["cmd"][0])) for test in tests if f"sluice:{suite}" in test["suite"]]
