"""The conformance suite: every program on the host alone, then under Sluice in every mode; same results, line by line.

    run --builddir DIR                               everything
    run --builddir DIR --filter wild --mode release  programs whose name contains "wild", in one mode (and the host)
    run --builddir DIR --testbed 2 --ranks 4         over two hosts made of namespaces
    run --builddir DIR --softroce 1 --ranks 2        in a guest with a verbs device
    run --builddir DIR --softroce 1 --sample 4       so many of these runs
    run --builddir DIR --every-mode                  modes other than `release` run with a part of the programs otherwise
    run --list                                       what there is

A program checks itself too, so a wrong result is found even where the host has the same one. See docs/testing.md.
"""

import collections
import concurrent.futures
import dataclasses
import pathlib
import re
import shutil
import subprocess
import time

from sluice_dev.jobs import place
from sluice_dev.jobs.job import Result
from sluice_dev.jobs.modes import ALL_MODES, COPY_PROTOCOLS, environment, modes_in_guests
from sluice_dev.jobs.rdma_counts import by_rdma, described
from sluice_dev.jobs.runner import Programs, Tally, parse_options
from sluice_dev.jobs.sample import sample

from .programs import PROGRAMS, Program

here = pathlib.Path(__file__).resolve().parent

PYTHON = "/usr/bin/python3"  # the one that Debian's mpi4py belongs to
CASE_LINE = re.compile(r"^CASE (\S+) (\d+):(.*)$", re.MULTILINE)
SHOWN_DIFFERENCES = 5
ALWAYS = ("release",)


@dataclasses.dataclass
class Outcome:
    program: Program
    ranks: int
    mode: str
    result: Result
    complaint: str = ""

    @property
    def name(self):
        return f"{self.program.title} np={self.ranks} {self.mode}"

    @property
    def cases(self):
        return len({case for case, _ in notes_of(self.result)})


def notes_of(result):
    """What each rank noted in each case."""
    return {(case, int(rank)): text for case, rank, text in CASE_LINE.findall(result.stdout)}


def differences(expected, found):
    lines = []
    for key in expected.keys() | found.keys():
        if expected.get(key) != found.get(key):
            lines.append(f"{key[0]} rank {key[1]}\n  host:   {expected.get(key, '(nothing)')}\n  Sluice: {found.get(key, '(nothing)')}")
    lines.sort()
    more = [f"... and {len(lines) - SHOWN_DIFFERENCES} more"] if len(lines) > SHOWN_DIFFERENCES else []
    return "\n".join(lines[:SHOWN_DIFFERENCES] + more)


def complaint_about(result, reference):
    parts = []
    if not result.ok:
        output = dataclasses.replace(result, stdout=last_cases(result.stdout))
        parts.append(output.describe())
    if reference is not None and not result.timed_out:
        parts.append(differences(notes_of(reference), notes_of(result)))
    return "\n".join(part for part in parts if part)


def last_cases(output):
    """Of a long output only where it stopped."""
    lines = output.splitlines()
    return "\n".join(line[:120] for line in lines[-4:])


class Suite:
    def __init__(self, options, run_job):
        self.options = options
        self.run_job = run_job
        self.built = Programs(here, options.builddir, "tests/mpi")
        self.commands = {}
        self.due = set(sample(self.all_runs(), options.sample))

    def command(self, program):
        """Made once, before jobs run side by side."""
        if program.title not in self.commands:
            self.commands[program.title] = self.make_command(program)
        return self.commands[program.title]

    def make_command(self, program):
        if self.options.root and program.language == "python":
            return "the other host's root has no Python"
        if program.language == "python":
            return [PYTHON, str(here / program.source()), *program.arguments]
        return [self.built.find(program.name, [program.source()], ["-D_GNU_SOURCE", f"-I{here / 'support'}"]), *program.arguments]

    def run_group(self, program, ranks):
        """One program with one number of ranks: the host, then every mode, compared."""
        command = self.command(program)
        outcomes, reference = [], None
        for mode in self.modes_of(program, ranks):
            outcome = Outcome(program, ranks, mode, self.job(program, command, ranks, mode))
            outcome.complaint = complaint_about(outcome.result, reference)
            outcomes.append(outcome)
            if mode == "host":
                if outcome.complaint:
                    break  # nothing to compare with
                reference = outcome.result
        return outcomes

    def job(self, program, command, ranks, mode):
        seconds = max(self.options.timeout, program.seconds)
        arguments = program.mpirun_arguments if place.is_one_machine(self.options) else ()  # they are about the machine's own network
        run = place.host_runner(self.options, self.run_job) if mode == "host" else self.run_job
        return run(command, ranks, environment(mode, self.options.library), seconds, mpirun_args=arguments)

    def modes_of(self, program, ranks):
        modes = ["host"] if program.host_is_right else []
        if self.options.library is not None:
            modes += [mode for mode in self.wanted_modes(program) if (program.title, ranks, mode) in self.due]
        return modes

    def all_runs(self):
        return [(program.title, ranks, mode) for program in self.wanted_programs() for ranks in self.wanted_ranks(program)
                for mode in self.wanted_modes(program) if ranks in program.ranks_in(mode) and self.is_due(mode, program, ranks)]

    def is_due(self, mode, program, ranks):
        """What users get runs always; of the other modes a third of the programs is enough, of the forced protocols a sixth."""
        if self.options.mode or self.options.every_mode or mode in ALWAYS:
            return True
        period = 6 if mode in COPY_PROTOCOLS else 3
        return (sum(map(ord, program.title + mode)) + ranks) % period == 0

    def wanted_modes(self, program):
        usual = modes_in_guests(self.options.softroce) if self.options.softroce else program.ranks
        return [mode for mode in ALL_MODES if mode in (self.options.mode or usual)]

    def wanted_programs(self):
        for program in PROGRAMS:
            if any(word not in program.title for word in self.options.filter) or program.title in self.options.skip:
                continue
            if program.on_one_node and (self.options.testbed or self.options.softroce):
                continue
            if not self.options.only or program.title in self.options.only:
                yield program

    def wanted_ranks(self, program):
        counts = sorted({count for counts in program.ranks.values() for count in counts})
        return [count for count in counts if not self.options.ranks or count in self.options.ranks]

    def groups(self):
        for program in self.wanted_programs():
            for ranks in self.wanted_ranks(program):
                modes = self.modes_of(program, ranks)
                if modes and (modes != ["host"] or self.options.library is None):
                    yield program, ranks

    def obstacle(self, program):
        """Why this program cannot run here; empty when it can."""
        if program.not_yet and not self.options.not_yet and self.options.library is not None:
            return f"not done yet: {program.not_yet}"
        if program.language == "python":
            if self.options.root:
                return "mpi4py belongs to the machine's own host"
            if subprocess.run([PYTHON, "-c", "import mpi4py"], capture_output=True, check=False).returncode != 0:
                return "python3-mpi4py is not installed"
        elif program.language == "fortran":
            if not (self.options.builddir and (self.options.builddir / "tests/mpi" / program.name).exists()):
                return "not built (no Fortran compiler, or no --builddir)"
        if program.gigabytes > (0 if self.options.softroce else available_gigabytes()):
            return f"needs {program.gigabytes} GB of memory"
        if program.shares_files and self.options.softroce == 2:
            return "its ranks open a file together, and the two guests share no file system"
        return ""


def available_gigabytes():
    for line in open("/proc/meminfo", encoding="ascii"):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) // 1048576
    return 0


def add_options(parser):
    parser.add_argument("--filter", action="append", default=[], help="only programs whose name contains this")
    parser.add_argument("--only", action="append", default=[], help="the program of this name, and others named so")
    parser.add_argument("--skip", action="append", default=[], help="not the program of this name")
    parser.add_argument("--mode", action="append", default=[], choices=[mode for mode in ALL_MODES if mode != "host"],
                        help="only this mode (the host runs too)")
    parser.add_argument("--every-mode", action="store_true", help="every mode with every number of ranks")
    parser.add_argument("--sample", type=int, metavar="N", help="only so many of all these runs, always the same")
    parser.add_argument("--ranks", action="append", type=int, default=[], help="only this number of ranks")
    parser.add_argument("--repeat", type=int, default=1, help="run everything so many times")
    parser.add_argument("--jobs", type=int, default=2, help="jobs at a time (default %(default)s)")
    parser.add_argument("--not-yet", action="store_true", help="also programs that Sluice is known to fail")
    place.add_options(parser)
    parser.add_argument("--list", action="store_true", help="print programs, ranks and modes, and end")


def report(tally, outcome):
    if outcome.complaint:
        tally.fails(outcome.name, outcome.complaint)
        tally.passed += max(outcome.cases - 1, 0)
    else:
        tally.passes(outcome.name, f"{outcome.cases} cases in {outcome.result.seconds:.1f} s")
        tally.passed += outcome.cases - 1


def runnable(suite, tally):
    for program, ranks in suite.groups():
        if why := suite.obstacle(program):
            tally.skips(f"{program.title} np={ranks}", why)
        else:
            suite.command(program)
            yield program, ranks


def main():
    options = parse_options(__doc__, timeout=60, add=add_options)
    if options.list:
        suite = Suite(options, None)
        for program, ranks in suite.groups():
            print(f"{program.title} np={ranks}: {' '.join(suite.modes_of(program, ranks))}")
        return
    tally = Tally()
    if shutil.which("mpirun") is None:
        tally.skips("everything", "there is no mpirun")
        tally.finish()
    with place.job_runner(options, tally) as run_job:
        run_all(Suite(options, run_job), tally)
    tally.finish()


def run_all(suite, tally):
    options = suite.options
    over_rdma = collections.defaultdict(collections.Counter)
    started = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        groups = [group for _ in range(options.repeat) for group in runnable(suite, tally)]
        for future in concurrent.futures.as_completed([pool.submit(suite.run_group, *group) for group in groups]):
            for outcome in future.result():
                report(tally, outcome)
                over_rdma[outcome.mode] += by_rdma(outcome.result.stderr)
    for mode, counts in over_rdma.items():
        if counts:
            print(f"mode {mode}: messages over RDMA: {described(counts)}")
    print(f"{time.monotonic() - started:.0f} s")
