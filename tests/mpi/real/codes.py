"""More programs of Debian's, and small ones against its libraries: for `--all`, which installs what they need.

An entry is the packages, and what makes the command of a rank in a directory of its own. The answers are what the program prints,
but for times; `lines` says which lines.
"""

import dataclasses
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import typing

INPUTS = pathlib.Path(__file__).resolve().parent / "inputs"
PYTHON = "/usr/bin/python3"  # the one that Debian's modules belong to
INSTALL_SECONDS = 1800


class NotHere(Exception):
    """A program that is not installed, or not to be had."""


@dataclasses.dataclass(frozen=True)
class Code:
    packages: tuple
    command: typing.Callable  # of the directory
    lines: str = "."  # a regular expression

    def prepare(self, directory, ranks):
        return self.command(directory) if ranks == 2 else None

    def answers(self, _, result):
        return [line for line in result.stdout.splitlines() if re.search(self.lines, line)]


def install(packages):
    """Those that are missing. Nothing that is there is changed."""
    def is_there(package):
        shown = subprocess.run(["dpkg-query", "-W", "-f", "${Status}", package], capture_output=True, text=True, check=False)
        return shown.stdout == "install ok installed"
    missing = [package for package in packages if not is_there(package)]
    if not missing:
        return
    if os.geteuid() != 0:
        raise NotHere(f"{' '.join(missing)}: not installed, and only root can")
    command = ["apt-get", "install", "-qq", "-y", "--no-install-recommends", "--no-upgrade", "--no-remove", *missing]
    run = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False, stdin=subprocess.DEVNULL,
                         env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
    if run.returncode != 0:
        complaint = next((line for line in run.stderr.splitlines() if line.startswith("E:")), f"apt-get ended with {run.returncode}")
        raise NotHere(f"{' '.join(missing)}: {complaint}")


def compiled(source, flags, *arguments, pkg_config=()):
    """A program of inputs/, against a library."""
    def command(directory):
        program = directory / pathlib.Path(source).stem
        found = subprocess.run(["pkg-config", "--cflags", "--libs", *pkg_config], capture_output=True, text=True, check=False) if pkg_config else None
        words = shlex.split(found.stdout) if found else []
        built = subprocess.run(["mpicc", "-O2", "-w", INPUTS / source, "-o", program, *flags, *words], capture_output=True, text=True, check=False)
        if built.returncode != 0:
            raise NotHere(f"{source} does not build: {built.stderr[-300:]}")
        return [program, *arguments]
    return command


def petsc(*arguments):
    return compiled("petsc.c", [], *arguments, pkg_config=("petsc",))


def python(script):
    return lambda _: [PYTHON, INPUTS / script]


def with_input(program, name, *arguments):
    def command(directory):
        found = shutil.which(program)
        if not found:
            raise NotHere(f"{program} is not installed")
        shutil.copy(INPUTS / name, directory)
        return ["env", "OMP_NUM_THREADS=1", "CP2K_DATA_DIR=/usr/share/cp2k", found, *arguments]
    return command


PETSC = ("libpetsc-real3.18-dev", "pkg-config")
CODES = {
    "FFTW": Code(("libfftw3-mpi-dev",), compiled("fftw.c", ["-lfftw3_mpi", "-lfftw3", "-lm"])),
    "hypre": Code(("libhypre-dev",), compiled("hypre.c", ["-I/usr/include/hypre", "-lHYPRE", "-lm"])),
    "PETSc, conjugate gradients": Code(PETSC, petsc()),
    "PETSc with hypre": Code(PETSC, petsc("-pc_type", "hypre")),
    "PETSc with MUMPS": Code(PETSC, petsc("-pc_type", "lu", "-pc_factor_mat_solver_type", "mumps")),
    "PETSc with MUMPS and PT-Scotch": Code(PETSC, petsc("-pc_type", "lu", "-pc_factor_mat_solver_type", "mumps", "-mat_mumps_icntl_28", "2",
                                                        "-mat_mumps_icntl_29", "1")),
    "PETSc with SuperLU_DIST": Code(PETSC, petsc("-pc_type", "lu", "-pc_factor_mat_solver_type", "superlu_dist")),
    "SLEPc": Code((*PETSC, "libslepc-real3.18-dev"), compiled("petsc.c", ["-DSLEPC"], pkg_config=("slepc", "petsc"))),
    "h5py": Code(("python3-h5py-mpi",), python("h5py_file.py")),
    "mpi4py-fft": Code(("python3-mpi4py-fft",), python("mpi4py_fft_cube.py")),
    "Meep": Code(("python3-meep-openmpi", "python3-matplotlib"), python("meep_waveguide.py"), "^energy"),
    "CP2K": Code(("cp2k",), with_input("cp2k.psmp", "water.cp2k", "-i", "water.cp2k"), r"ENERGY\|"),
}
