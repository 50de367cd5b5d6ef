"""Other hosts than the machine's Open MPI: libraries of other Debian suites, downloaded and unpacked below the build directory.

    run --builddir DIR                 everything
    run --builddir DIR --only MPICH    hosts whose name contains this

Beside a host that Sluice knows, calls of MPI-4 at one end meet those of MPI-3 at the other. Beside one that it does not know, programs run as
if it were not there, and one rank says so. What cannot be had is skipped.
"""

import dataclasses
import pathlib
import shutil
import subprocess

from sluice_dev.jobs.job import run_job
from sluice_dev.jobs.roots import LIBRARIES, NoRoot, Root
from sluice_dev.jobs.runner import Tally, parse_options

from .headers import forgotten

here = pathlib.Path(__file__).resolve().parent

ASIDE = "Sluice steps aside"


@dataclasses.dataclass(frozen=True)
class Strange:
    """A host that Sluice does not know. `told`: what its line must name."""
    name: str
    root: str
    include: str
    library: str
    soname: str
    told: str
    launcher: str = "mpiexec.mpich"
    more_libraries: tuple = ()  # that a program must name besides
    fortran: str = ""  # the library of its Fortran layer, with mpif.h in `include`


STRANGE = (
    Strange("MPICH 4.0", "bookworm", "usr/include/x86_64-linux-gnu/mpich", f"{LIBRARIES}/libmpich.so.12", "libmpich.so.12", "MPICH Version: 4.0",
            fortran=f"{LIBRARIES}/libmpichfort.so.12"),
    Strange("MPICH 5.0", "sid", f"{LIBRARIES}/mpich/include", f"{LIBRARIES}/libmpich.so.12", "libmpich.so.12", "MPICH Version: 5.0",
            fortran=f"{LIBRARIES}/libmpichfort.so.12"),
    Strange("standard interface of MPICH", "sid", f"{LIBRARIES}/mpi_abi_mpich/include", f"{LIBRARIES}/libmpi_abi_mpich.so.1.0.0", "libmpi_abi.so.1",
            "MPICH Version: 5.0"),
    Strange("standard interface of Open MPI", "sid", f"{LIBRARIES}/openmpi/include/standard_abi", f"{LIBRARIES}/libmpi_abi_openmpi.so.1.0.0",
            "libmpi_abi.so.1", "Open MPI v6.0", launcher="mpirun.openmpi"),
)


@dataclasses.dataclass(frozen=True)
class Known:
    """An Open MPI that Sluice carries. `flags`: which calls it has."""
    name: str
    root: str
    flags: tuple = ()
    more_libraries: tuple = ()
    include: str = f"{LIBRARIES}/openmpi/include"
    library: str = f"{LIBRARIES}/libmpi.so.40"
    soname: str = "libmpi.so.40"
    launcher: str = "mpirun.openmpi"


KNOWN = (Known("Open MPI 5.0", "trixie"), Known("Open MPI 6.0", "sid", ("-DLARGE_COUNTS",), (f"{LIBRARIES}/libopen_mpi.so.40",)))
MODES = {"": {}, ", userfaultfd": {"SLUICE_GUARD": "userfaultfd"}, ", no release": {"SLUICE_RELEASE": "off"}, ", disabled": {"SLUICE_ENABLE": "0"}}
CALLS = here.parents[2] / "interpose" / "calls.def"


class Hosts:
    def __init__(self, options, tally):
        self.options = options
        self.tally = tally
        self.roots = {}
        self.made = options.builddir.resolve() / "hosts" / "programs"
        self.made.mkdir(parents=True, exist_ok=True)

    def root(self, name):
        """None where there can be none; the reason is told once for each host."""
        if name not in self.roots:
            try:
                self.roots[name] = Root(name, self.options.builddir)
            except NoRoot as why:
                self.roots[name] = why
        return self.roots[name]

    def every(self, hosts, test):
        for host in hosts:
            if self.options.only not in host.name:
                continue
            root = self.root(host.root)
            if isinstance(root, NoRoot):
                self.tally.skips(host.name, str(root))
            else:
                test(host, root)

    def known_host(self, host, root):
        missing = forgotten(root.file(host.include), CALLS)
        self.tally.check(f"{host.name}, list of calls", f"not in calls.def: {' '.join(missing)}" if missing else "")
        build = Builder(host, root, self.made)
        for source, ranks in (("mpi4.c", 2), ("everywhere.c", 2), ("everywhere.c", 3), ("sessions_only.c", 2)):
            self.carried(host, root, f"{source} with {ranks} ranks", [build.c(source, *host.flags)], ranks)
        if host.flags:
            for mode, settings in MODES.items():
                if "SLUICE_ENABLE" not in settings:
                    environment = {"LD_PRELOAD": str(self.options.library), **settings}
                    result = self.job(host, root, [build.c("mpi4.c", *host.flags), "more"], 2, environment)
                    self.tally.check(f"{host.name}, buffers and statuses{mode}",
                                     "" if result.ok and "0 wrong" in result.stdout else result.describe())

    def carried(self, host, root, name, command, ranks):
        """The same output with and without Sluice, which carries the ranks that call MPI_Init."""
        name = f"{host.name}, {name}"
        alone = self.job(host, root, command, ranks, {})
        if not alone.ok or "0 wrong" not in alone.stdout:
            return self.tally.skips(name, f"does not run on the host alone: {alone.describe()[-500:]}")
        for mode, settings in MODES.items():
            environment = {"LD_PRELOAD": str(self.options.library), "SLUICE_VERBOSE": "1", **settings}
            result = self.job(host, root, command, ranks, environment)
            expected = "SLUICE_ENABLE" not in settings and "sessions_only" not in name
            right = result.ok and result.stdout == alone.stdout and (f"carries {ranks} ranks" in result.stderr) == expected
            self.tally.check(name + mode, "" if right else f"expected the host's output, {'' if expected else 'not '}carried\n{result.describe()}")

    def strange_host(self, host, root):
        build = Builder(host, root, self.made)
        program, module = build.c("everywhere.c"), build.c("everywhere.c", "-DMODULE", "-shared", "-fPIC")
        for ranks in (1, 2, 3):
            self.compare(host, root, f"{ranks} ranks", [program], ranks)
        self.compare(host, root, "all threads", [program, "a", "b"], 2)
        self.compare(host, root, "loaded late", [build.c("late.c", mpi=False), module], 2)
        if host.fortran and shutil.which("gfortran"):
            self.compare(host, root, "Fortran", [build.fortran("mpif.f90")], 3)

    def compare(self, host, root, name, command, ranks):
        """The same output with and without Sluice; one line of its own, and none when it is disabled."""
        alone = self.job(host, root, command, ranks, {})
        name = f"{host.name}, {name}"
        if not alone.ok or "0 wrong" not in alone.stdout:
            return self.tally.skips(name, f"does not run on the host alone: {alone.describe()[-500:]}")
        for settings in ({}, {"SLUICE_ENABLE": "0"}):
            result = self.job(host, root, command, ranks, {"LD_PRELOAD": str(self.options.library), **settings})
            lines = [line for line in result.stderr.splitlines() if "sluice" in line]
            expected = 0 if settings else 1
            told = all(ASIDE in line and host.told in line and host.soname in line for line in lines)
            right = result.ok and result.stdout == alone.stdout and len(lines) == expected and told
            title = f"{name}{', disabled' if settings else ''}"
            self.tally.check(title, "" if right else f"expected the host's output and {expected} line(s) of Sluice\n{result.describe()}")

    def job(self, host, root, command, ranks, environment):
        libraries = root.libraries_named(host.soname, host.library)
        environment = {**environment, "LD_LIBRARY_PATH": str(libraries)}

        def launch(words):
            return root.launch(launcher_words(host.launcher, words, ranks, environment))

        return run_job(command, ranks, environment, self.options.timeout, launch=launch)


def launcher_words(launcher, words, ranks, environment):
    """Hydra has other options than Open MPI's launcher, for which `words` are."""
    if "mpich" not in launcher:
        return [launcher, *words[1:]]
    program = words[words.index("-x") + 2 * len(environment):]
    settings = [word for name, value in environment.items() for word in ("-genv", name, value)]
    return [launcher, *settings, "-n", str(ranks), *program]


class Builder:
    """Compiles with the header of a root and against its library, by the machine's compiler: older programs run with newer C libraries."""

    def __init__(self, host, root, made):
        self.host, self.root, self.made = host, root, made

    def c(self, source, *flags, mpi=True):
        program = self.made / "-".join([self.host.soname, self.host.root, self.host.launcher, source, *flags]).replace(" ", "-")
        with_mpi = [f"-I{self.root.file(self.host.include)}", *self._libraries()] if mpi else ["-ldl"]
        subprocess.run(["gcc", "-O2", "-w", *flags, here / source, "-o", program, *with_mpi], check=True)
        return program

    def fortran(self, source):
        program = self.made / f"{self.host.soname}-{self.host.root}-{source}"
        subprocess.run(["gfortran", "-O2", "-w", "-fallow-argument-mismatch", here / source, "-o", program,
                        f"-I{self.root.file(self.host.include)}", *self._libraries(self.host.fortran)], check=True)
        return program

    def _libraries(self, *first):
        names = (*first, self.host.library, *self.host.more_libraries)
        return [*(str(self.root.file(name)) for name in names), "-Wl,--allow-shlib-undefined"]


def add_options(parser):
    parser.add_argument("--only", default="", help="hosts whose name contains this")


def main():
    options = parse_options(__doc__, timeout=60, add=add_options)
    tally = Tally()
    if options.library is None or options.builddir is None:
        tally.skips("everything", "needs --builddir and a library")
        tally.finish()
    hosts = Hosts(options, tally)
    hosts.every(KNOWN, hosts.known_host)
    hosts.every(STRANGE, hosts.strange_host)
    tally.finish()
