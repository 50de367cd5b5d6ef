"""Programs of Debian's that know nothing of Sluice: the same answers on the host alone, under Sluice, and with SLUICE_ENABLE=0.

    run --builddir DIR               those that are installed for the tests
    run --builddir DIR --all         more, which are installed now (codes.py); each several times, with a table of time and memory
    run --builddir DIR --all --rounds 9 --page FILE   ... which is written there too
    run --builddir DIR --only cp2k   those whose name contains this
"""

import collections
import datetime
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

from sluice_dev.base import provenance
from sluice_dev.base.confidence import interval_of_median
from sluice_dev.base.prose import wrapped
from sluice_dev.jobs.job import run_job
from sluice_dev.jobs.modes import environment
from sluice_dev.jobs.runner import Tally, parse_options
from sluice_dev.jobs.watch import Watch

from .codes import CODES, NotHere, install

here = pathlib.Path(__file__).resolve().parent

MODES = ("host", "release", "disabled")
RANKS = (1, 2, 4)
MOST_RATIO = 1.05  # of times, with its whole interval
SCALAPACK = pathlib.Path("/usr/lib/x86_64-linux-gnu/scalapack/openmpi-tests")
SHOWN_DIFFERENCES = 10
Cost = collections.namedtuple("Cost", "name ranks seconds ratio low high resident memory")
NUMBER = r"[-+]?\d+\.\d+(?:[eE][-+]?\d+)?"


def program(name):
    found = shutil.which(name)
    if not found:
        raise NotHere(f"{name} is not installed")
    return found


def without_numbers(line):
    """Sizes and verdicts of a line of a table; its times and rates differ from run to run, and so does their width."""
    return " ".join(re.sub(NUMBER + r"|\*+", "#", line).split())


# --- NetPIPE: every message of every size, checked by the program itself ---------------------------------------------------

def netpipe(*arguments):
    def prepare(_, ranks):
        if ranks != 2:
            return None
        return [program("NPopenmpi"), "-i", "-n", "25", "-u", "2500000", "-o", "np.out", *arguments]

    def answers(_, result):
        # It says what failed on standard error and goes on. The other rank's greeting may come between a size and its verdict.
        sizes = re.findall(r"^\s*\d+:\s+(\d+) bytes", result.stderr, re.MULTILINE)
        verdicts = re.findall(r"Integrity check.*", result.stderr)
        return [f"{size} bytes" for size in sizes] + verdicts

    return prepare, answers


# --- HPC Challenge: its own verdicts and residuals -------------------------------------------------------------------------

def hpcc():
    def prepare(directory, ranks):
        if ranks < 2:
            return None
        text = (here / "inputs" / "hpccinf.txt").read_text()
        (directory / "hpccinf.txt").write_text(text.replace("@P@", str(ranks // 2)))
        return [program("hpcc")]

    def answers(directory, _):
        output = (directory / "hpccoutf.txt").read_text() if (directory / "hpccoutf.txt").exists() else ""
        verdict = re.compile(r"PASSED|FAILED|passed|failed|error|Success=|Errors|maxErr|Validates")
        # PTRANS has a line of processor time beside that of wall time only where the clock of the former has ticked.
        wanted = [line for line in output.splitlines() if verdict.search(line) and not line.startswith("CPU ")]
        return [without_numbers(line) for line in wanted if "Written by" not in line]

    return prepare, answers


# --- LAMMPS: thermodynamic output with all its digits ----------------------------------------------------------------------

def lammps():
    def prepare(directory, _):
        shutil.copy(here / "inputs" / "melt.lammps", directory)
        return [program("lmp"), "-in", "melt.lammps", "-log", "none"]

    def answers(_, result):
        thermo = re.search(r"^Step.*?^Loop", result.stdout, re.MULTILINE | re.DOTALL)
        ghosts = re.findall(r"^(?:Nlocal|Nghost|Neighs|Total # of neighbors).*$", result.stdout, re.MULTILINE)
        return (thermo.group(0).splitlines()[:-1] if thermo else []) + ghosts

    return prepare, answers


# --- ScaLAPACK's testers: what was tested and whether it passed ------------------------------------------------------------

def scalapack(name, large_input=None):
    def prepare(directory, ranks):
        if ranks < 2:
            return None
        if not (SCALAPACK / name).exists():
            raise NotHere("scalapack-mpi-test is not installed")
        for data in SCALAPACK.glob("*.dat"):
            shutil.copy(data, directory)
        if large_input:
            shutil.copy(here / "inputs" / large_input, directory)
        return [SCALAPACK / name]

    def answers(_, result):
        return [without_numbers(line) for line in result.stdout.splitlines() if "Time" not in line and "MFLOP" not in line]

    return prepare, answers


# --- mpi4py ----------------------------------------------------------------------------------------------------------------

def python():
    def prepare(_, __):
        # Debian's own interpreter finds Debian's mpi4py; another one in front of it in PATH may not.
        for interpreter in ("/usr/bin/python3", sys.executable):
            if subprocess.run([interpreter, "-c", "import mpi4py"], capture_output=True).returncode == 0:
                return [interpreter, here / "inputs" / "python.py"]
        raise NotHere("python3-mpi4py is not installed")

    return prepare, lambda _, result: result.stdout.splitlines()


PROGRAMS = {
    "NetPIPE": netpipe(),
    "NetPIPE, preposted receives": netpipe("-a"),
    "NetPIPE, any source": netpipe("-z"),
    "NetPIPE, synchronous sends": netpipe("-S"),
    "HPC Challenge": hpcc(),
    "LAMMPS": lammps(),
    "ScaLAPACK xdlu": scalapack("xdlu", "LU.dat"),
    "ScaLAPACK xdllt": scalapack("xdllt", "LLT.dat"),
    "ScaLAPACK xdqr": scalapack("xdqr"),
    "ScaLAPACK xzinv": scalapack("xzinv"),
    "ScaLAPACK xdtrd": scalapack("xdtrd"),
    "ScaLAPACK xsgblu": scalapack("xsgblu"),
    "mpi4py": python(),
}


def run_once(steps, ranks, mode, options):
    """Answers of one run, or None and what went wrong. None for both: nothing to run with so many ranks. Last, seconds and bytes."""
    prepare, answers = steps
    with tempfile.TemporaryDirectory(prefix="sluice-real-") as name:
        directory = pathlib.Path(name)
        command = prepare(directory, ranks)
        if command is None:
            return None, "", None
        watch = Watch()
        result = run_job(command, ranks, environment(mode, options.library), options.timeout, cwd=directory, meanwhile=watch if options.all else None)
        watch.end()
        found = answers(directory, result)
    cost = (result.seconds, watch.resident)
    if not result.ok:
        return None, result.describe(), cost
    if not found:
        return None, "no answers found in the output\n" + result.describe(), cost
    return found, "", cost


def difference(expected, found):
    lines = [f"host: {a}\n      {b}" for a, b in zip(expected, found) if a != b]
    if len(expected) != len(found):
        lines.append(f"{len(expected)} lines of answers under the host, {len(found)} here")
    return "\n".join(lines[:SHOWN_DIFFERENCES])


def compare(tally, name, steps, ranks, options):
    """What each mode cost, by run."""
    expected, costs = None, {mode: [] for mode in MODES}
    for mode in [mode for _ in range(options.rounds if options.all else 1) for mode in MODES]:
        title = f"{name}, {ranks} ranks, {mode}"
        if mode != "host" and options.library is None:
            tally.skips(title, "no --library")
            continue
        try:
            found, complaint, cost = run_once(steps, ranks, mode, options)
        except NotHere as reason:
            tally.skips(f"{name}, {ranks} ranks", str(reason))
            return costs
        if found is None and not complaint:
            return costs
        if mode == "host" and expected is None:
            expected = found
        if found is not None and expected is not None:
            complaint = difference(expected, found)
        tally.check(title, complaint)
        if not complaint:
            costs[mode].append(cost)
    return costs


def cost_of(name, ranks, costs):
    """Seconds and bytes of the host alone, and what they are multiplied by under Sluice: medians. None where a run is missing."""
    host, ours = costs["host"], costs["release"]
    if not host or len(host) != len(ours):
        return None
    ratios = [b / a for (a, _), (b, _) in zip(host, ours)]
    seconds, resident = (statistics.median(column) for column in zip(*host))
    memory = statistics.median(one for _, one in ours) / max(resident, 1)
    return Cost(name, ranks, seconds, statistics.median(ratios), *interval_of_median(ratios), resident / 2**20, memory)


def show(costs):
    print("table: program and ranks, seconds of the host and their multiple under Sluice, megabytes likewise")
    for cost in costs:
        print(f"    {cost.name + ', ' + str(cost.ranks):40} {cost.seconds:7.2f} s {cost.ratio:6.2f} ({cost.low:.2f} to {cost.high:.2f})"
              f" {cost.resident:8.0f} MB {cost.memory:6.2f}")


def write_page(path, costs, rounds):
    slower = sum(cost.low > MOST_RATIO for cost in costs)
    lines = [
        "# Real programs", "",
        f"Written by `tests/mpi/real/run --all --page` on {datetime.date.today()}, {provenance.commit()}: {provenance.machine()}, "
        f"{rounds} rounds.", "",
        "Programs of Debian's, and small ones against its libraries, with inputs of the tree. Each ran on the host alone and under Sluice, by turns. "
        "Their answers were compared in every run. Seconds are those of the whole job, with start and end. "
        "The ratio is Sluice's time over the host's, with the interval in which its median lies 95 times in 100. "
        "Megabytes are the largest sum over the processes of a job, and what it is multiplied by.", "",
        f"{len(costs)} jobs, geometric mean of the ratios {statistics.geometric_mean(cost.ratio for cost in costs):.2f}, "
        f"{slower} slower than {MOST_RATIO} with their whole interval.", "",
        "| program | ranks | host, s | ratio | interval | host, MB | memory |", "|---|---|---|---|---|---|---|"]
    lines += [f"| {c.name} | {c.ranks} | {c.seconds:.2f} | {c.ratio:.2f} | {c.low:.2f} to {c.high:.2f} | {c.resident:.0f} | {c.memory:.2f} |"
              for c in costs]
    path.write_text(wrapped("\n".join(lines) + "\n"))


def wanted_codes(tally, options):
    """Name and steps of those of codes.py, with what they need."""
    for name, code in CODES.items():
        if (options.only or "").lower() in name.lower():
            try:
                install(code.packages)
            except NotHere as reason:
                tally.skips(name, str(reason))
                continue
            yield name, (code.prepare, code.answers)


def main():
    def add(parser):
        parser.add_argument("--only", help="programs whose name contains this")
        parser.add_argument("--all", action="store_true", help="more programs, installed now; time and memory")
        parser.add_argument("--rounds", type=int, default=3, help="of each program, with --all")
        parser.add_argument("--page", type=pathlib.Path, metavar="FILE", help="where the table is written, too")
    options = parse_options(__doc__.partition("\n")[0], 120, add)
    tally = Tally()
    programs = {name: steps for name, steps in PROGRAMS.items() if (options.only or "").lower() in name.lower()}
    if options.all:
        programs |= dict(wanted_codes(tally, options))
    costs = [cost_of(name, ranks, compare(tally, name, steps, ranks, options)) for name, steps in programs.items() for ranks in RANKS]
    costs = [cost for cost in costs if cost]
    if options.all:
        show(costs)
    if options.page and costs:
        write_page(options.page, costs, options.rounds)
    tally.finish()
