"""MPICH's test suite as Debian's source package has it, configured and built against the host MPI, below the build directory.

What the host does not have (calls of MPI-4, types that MPI-3 removed) does not build; the rest does.
"""

import json
import os
import re
import shutil
import subprocess
import threading

from sluice_dev.jobs.debian_source import NoSource, source_of

from .lists import tests_of

PACKAGE = "mpich"
MEMBERS = ("test/mpi", "maint")
FLAGS = "-O1 -w"
SETTINGS = ["--disable-cxx", "--enable-fortran=all", "--disable-dependency-tracking", "--enable-threads=multiple", "--with-pm=no",
            "CC=mpicc", "FC=mpifort", "F77=mpifort", f"CFLAGS={FLAGS}",
            "CPPFLAGS=-DOMPI_OMIT_MPI1_COMPAT_DECLS=0",  # the host's library has what MPI-3 removed; its header hides it otherwise
            *(f"{name}={FLAGS} -fallow-argument-mismatch" for name in ("FFLAGS", "FCFLAGS"))]
# Where MPICH is not built beside it, configure would leave the tests in Fortran 2008 out.
ONLY_WITH_MPICH = '"$enable_f08" = "yes" -a "$FROM_MPICH" = "yes"'
CONFIGURE_SECONDS = 600
BUILD_SECONDS = 1200
FAILURES = 2


class Suite:
    def __init__(self, builddir):
        self._directory = builddir.resolve() / "mpich"
        for tool in ("mpicc", "mpifort", "make"):
            if shutil.which(tool) is None:
                raise NoSource(f"MPICH's tests are built here, and there is no {tool}")
        source, version = source_of(PACKAGE, self._directory, MEMBERS)
        self._source = source / "test" / "mpi"
        self.versions = f"MPICH {version}, {host_version()}"
        self.built = self._directory / "built"
        self._configure()
        self.tests = tests_of(self.built, self._source)

    @property
    def verdicts_path(self):
        return self._directory / f"host-{re.sub(r'[^0-9A-Za-z.]+', '-', self.versions)}.jsonl"

    def build(self, directories):
        """Whatever of it builds; the libraries first, where several makes at once would meet."""
        for directory in ("util", "dtpools/src", *directories):
            stamp = self.built / directory / "stamp-built"
            if not stamp.exists():
                self._run(["make", "-k", "-s", f"-j{os.cpu_count()}", "-C", directory, "SUBDIRS="], BUILD_SECONDS, check=False)
                stamp.touch()

    def program_of(self, test):
        """None where it does not build with this host."""
        path = self.built / test.directory / test.program
        return path if path.is_file() and os.access(path, os.X_OK) else None

    def _configure(self):
        if (self.built / "stamp-configured").exists():
            return
        shutil.rmtree(self.built, ignore_errors=True)
        self.built.mkdir()
        script = self._source / "configure"
        script.write_text(script.read_text().replace(ONLY_WITH_MPICH, '"$enable_f08" = "yes"'))
        self._run([script, *SETTINGS], CONFIGURE_SECONDS)
        (self.built / "stamp-configured").touch()

    def _run(self, command, seconds, check=True):
        log = self.built / f"{os.path.basename(command[0])}.log"
        with open(log, "a", encoding="utf-8") as file:
            try:
                run = subprocess.run(command, cwd=self.built, stdin=subprocess.DEVNULL, stdout=file, stderr=file, timeout=seconds, check=False)
            except subprocess.TimeoutExpired:
                raise NoSource(f"{command[0]} did not end within {seconds} s; see {log}") from None
        if check and run.returncode != 0:
            raise NoSource(f"{command[0]} ended with code {run.returncode}; see {log}")


class Verdicts:
    """What became of each test on the host alone: a line of the file for each run, the last one counts. [any thread]"""

    def __init__(self, path):
        self._path = path
        self._lock = threading.Lock()
        lines = path.read_text().splitlines() if path.exists() else []
        self._known = {one["name"]: one for one in map(json.loads, lines)}

    def get(self, test):
        """None where there is none to rely on: a failure counts when it has come twice, as the machine may have been busy."""
        known = self._known.get(test.name)
        return known if known and (not known["complaint"] or known.get("failures", 0) >= FAILURES) else None

    def record(self, test, complaint, seconds):
        with self._lock, open(self._path, "a", encoding="utf-8") as file:
            failures = self._known.get(test.name, {}).get("failures", 0) + bool(complaint)
            one = {"name": test.name, "complaint": complaint, "seconds": round(seconds, 2), "failures": failures}
            self._known[test.name] = one
            file.write(json.dumps(one) + "\n")
        return one


def host_version():
    run = subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"\(.*?\) \S+|Version\S* \S+", run.stdout)
    return found[0].strip("()").replace(") ", " ") if found else "unknown host"
