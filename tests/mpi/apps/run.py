"""The programs in apps/, which check their results by themselves: on the host alone and under Sluice, with every way to move large messages forced.

    run --builddir DIR                    a sample, in which every problem has every number of ranks
    run --builddir DIR --all              every program with every number of ranks in every mode
    run --builddir DIR --only reduce      some of them
"""

import concurrent.futures
import dataclasses
import re
import sys

from sluice_dev.jobs.job import run_job
from sluice_dev.jobs.modes import COPY_PROTOCOLS, environment
from sluice_dev.jobs.runner import Tally, parse_options
from sluice_dev.jobs.sample import sample

MODES = ("host", "release", *COPY_PROTOCOLS)
SIDE_BY_SIDE = 2
SAMPLED = 18
CHECK = re.compile(r"^check \w+$", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Application:
    """`answer`: what a good run prints. `ranks`: the numbers to run with. `compared`: whether the hash of its results must be the host's."""
    program: str
    arguments: tuple
    answer: str = r"^\d+ bytes \d+\.\d+ us$"
    ranks: tuple = (2, 3, 4, 8)
    compared: bool = False

    @property
    def title(self):
        return " ".join((self.program, *self.arguments))


def pattern(name, size, *more, **how):
    return Application("patterns", ("--pattern", name, "--bytes", str(size), "--trials", "12", "--warm-up", "6", *more), **how)


def early_release(program, *arguments, ranks=(2, 4)):
    return Application(program, (*arguments, "--serial-check"), r"^serial check equal$", ranks)


def problem(name, *arguments):
    """The exchanges of a program, which any number of ranks has."""
    return Application("patterns", ("--pattern", name, *arguments, "--trials", "8", "--warm-up", "2"), ranks=(1, 2, 3, 4))


def npb(kernel, *more, ranks):
    return Application("npb", ("--kernel", kernel, "--class", "S", *more, "--check", "--serial-check"), r"^serial check equal$", ranks,
                       compared=True)


PAIRS = (2, 4, 8)
# Sizes that are no multiples of chunks, pages or words where the program allows it.
APPLICATIONS = (
    pattern("scatter", 300001), pattern("gather", 300001), pattern("reduce", 1000008), pattern("broadcast", 700001, "--segment", "100003"),
    pattern("exchange", 500009, ranks=PAIRS), pattern("exchange", 500009, "--look", "pages", ranks=PAIRS), pattern("echo", 400003, ranks=PAIRS),
    Application("stencil", ("--cells", "8", "--variables", "125", "--trials", "12", "--warm-up", "6")),
    Application("stencil", ("--cells", "5", "--variables", "1", "--trials", "12", "--warm-up", "0")),
    Application("stencil", ("--cells", "9", "--variables", "77", "--trials", "12", "--alternate", ",".join((*COPY_PROTOCOLS, "auto"))),
                r"^\d+ bytes coop-load \d+\.\d+ us$"),
    Application("beside", ("--bytes", "1000001", "--messages", "3", "--rounds", "6"), r"^round trips \d+$"),
    Application("beside", ("--bytes", "1000001", "--messages", "3", "--rounds", "6", "--outward"), r"^round trips \d+$"),
    Application("alltoall", ("--bytes", "100001", "--trials", "12", "--warm-up", "6")),
    Application("bowtie", ("--bytes", "300001", "--trials", "12", "--warm-up", "6"), ranks=PAIRS),
    early_release("pes", "--size", "34", "--columns", "6000", "--iterations", "24"),
    early_release("nbody", "--particles", "256", "--properties", "57", "--iterations", "6"),
    early_release("m3", "--size", "96", "--rows", "96", "--iterations", "6", ranks=(2,)),
    npb("cg", "--iterations", "3", ranks=(1, 2, 4, 8)), npb("lu", "--iterations", "20", ranks=(1, 2, 3, 4, 6)),
    npb("ft", "--iterations", "2", ranks=(1, 2, 4, 8)), npb("ft", "--iterations", "2", "--transpose", "pairs", ranks=(2, 4, 8)),
)
# Sizes that do not divide by the ranks; messages below and above the limit of eager ones.
PROBLEMS = (
    problem("graph", "--size", "9", "--scaling", "weak", "--pairs", "77"), problem("graph", "--size", "13", "--pairs", "3000"),
    problem("comd", "--size", "3", "--scaling", "weak", "--steps", "5", "--interval", "2"), problem("comd", "--size", "10", "--steps", "3"),
    problem("ghost", "--size", "11", "--stencil", "27", "--variables", "30", "--steps", "3"),
    problem("ghost", "--size", "7", "--scaling", "weak", "--exchange", "svaf", "--variables", "3", "--sums", "2", "--steps", "5"),
)


def runs_of(applications, modes):
    return [(application, ranks, mode) for application in applications for ranks in application.ranks for mode in modes]


def in_one_mode_each(applications, modes):
    """With every number of ranks, each in another mode than the one before."""
    once = [(application, ranks) for application in applications for ranks in application.ranks]
    return [(application, ranks, modes[number % len(modes)]) for number, (application, ranks) in enumerate(once)]


def complaint_about(application, result, of_host):
    if not result.ok:
        return result.describe()
    if not re.search(application.answer, result.stdout, re.MULTILINE):
        return f"it did not print {application.answer}\n{result.stdout}"
    if of_host is not None and CHECK.findall(result.stdout) != CHECK.findall(of_host.stdout):
        return f"its results are not the host's\n{result.stdout}\n{of_host.describe()}"
    return ""


def main():
    def add(parser):
        parser.add_argument("--only", help="programs whose command line contains this")
        parser.add_argument("--all", action="store_true", help=f"every run; otherwise {SAMPLED}, always the same")
    options = parse_options(__doc__.partition("\n")[0], 60, add)
    if options.builddir is None:
        sys.exit("run: --builddir is needed")
    tally = Tally()
    modes = [mode for mode in MODES if mode == "host" or options.library is not None]
    if options.all or options.only:
        runs = [run for run in runs_of((*APPLICATIONS, *PROBLEMS), modes) if not options.only or options.only in run[0].title]
    else:
        runs = sample(runs_of(APPLICATIONS, modes), SAMPLED) + in_one_mode_each(PROBLEMS, modes)

    def run_one(application, ranks, mode):
        """The result, and the host's where it is compared with that."""
        of_host = run_in("host", application, ranks) if application.compared and mode != "host" else None
        return run_in(mode, application, ranks), of_host

    def run_in(mode, application, ranks):
        program = options.builddir.resolve() / "apps" / application.program / application.program
        return run_job([program, *application.arguments], ranks, environment(mode, options.library), options.timeout)

    with concurrent.futures.ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        results = pool.map(lambda one: run_one(*one), runs)
        for (application, ranks, mode), found in zip(runs, results):
            tally.check(f"{application.title}, {ranks} ranks, {mode}", complaint_about(application, *found))
    tally.finish()
