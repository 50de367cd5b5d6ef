"""What the `run` scripts of the test directories share: their options, their tally, and their last line."""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from sluice_dev.base.builds import LIBRARY_IN_BUILD
from sluice_dev.jobs.job import end_jobs_on_signals


def parse_options(description, timeout, add=None):
    """--library, --builddir and --timeout. The library is that of the build directory unless it is named.

    From here on the runner's end is that of its jobs.
    """
    end_jobs_on_signals()
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--library", type=pathlib.Path, help="libsluice.so; without it, only the host is tested")
    parser.add_argument("--builddir", type=pathlib.Path, help="meson's build directory, for programs built there")
    parser.add_argument("--timeout", type=float, default=timeout, help="seconds for one job (default %(default)s)")
    if add is not None:
        add(parser)
    options = parser.parse_args()
    if options.library is None and options.builddir is not None and (options.builddir / LIBRARY_IN_BUILD).exists():
        options.library = options.builddir / LIBRARY_IN_BUILD
    if options.library is not None:
        options.library = options.library.resolve()
        if not options.library.exists():
            parser.error(f"{options.library} does not exist")
    return options


class Tally:
    """Counts outcomes, prints each as it comes, and ends the program with the line that callers read."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def passes(self, name, remark=""):
        self.passed += 1
        self._say("ok  ", name, remark)

    def fails(self, name, why):
        self.failed += 1
        self._say("FAIL", name, why)

    def skips(self, name, why):
        self.skipped += 1
        self._say("skip", name, why)

    def check(self, name, complaint):
        """Passes when there is no complaint."""
        if complaint:
            self.fails(name, complaint)
        else:
            self.passes(name)

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped", flush=True)
        sys.exit(1 if self.failed else 0)

    @staticmethod
    def _say(outcome, name, text):
        lines = text.rstrip().splitlines()
        if len(lines) <= 1:
            print(f"{outcome} {name}" + (f": {lines[0]}" if lines else ""), flush=True)
        else:
            print(f"{outcome} {name}:\n" + "\n".join("    " + line for line in lines), flush=True)


class Programs:
    """Finds programs in the build directory, or compiles them into a temporary one."""

    def __init__(self, source_directory, builddir, relative):
        self._sources = pathlib.Path(source_directory)
        self._built = builddir / relative if builddir else None
        self._temporary = tempfile.TemporaryDirectory(prefix="sluice-tests-")

    @property
    def scratch(self):
        return pathlib.Path(self._temporary.name)

    def find(self, name, sources=None, flags=(), compiler=None):
        """Path of the program `name`, made from `sources` (default: the one source file of that name)."""
        if self._built and (self._built / name).exists():
            return (self._built / name).resolve()
        made = self.scratch / name
        if made.exists():
            return made
        paths = [self._sources / source for source in sources] if sources else [next(self._sources.glob(f"{name}.c*"))]
        is_c = all(path.suffix == ".c" for path in paths)
        compiler = compiler or ("mpicc" if is_c else "mpicxx")
        if not shutil.which(compiler):
            raise FileNotFoundError(f"{name} is not built and there is no {compiler}")
        standard = "-std=gnu11" if is_c else "-std=c++20"
        command = [compiler, standard, "-O2", "-g", "-DOMPI_SKIP_MPICXX", *map(str, paths), "-o", str(made), "-pthread", *flags]
        subprocess.run(command, check=True, env={**os.environ, "LC_ALL": "C"})
        return made
