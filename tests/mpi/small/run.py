"""Small and odd machines: a few programs under limits of memory, descriptors, processors and system calls, with one rank and with
more, on the host alone and under Sluice: the same answers.

    run --builddir DIR                     everything
    run --builddir DIR --all               in more modes, and under a kernel that promises no more memory than it has
    run --builddir DIR --only "ulimit -v"  a condition or a program
"""

import concurrent.futures
import re
import signal

from sluice_dev.jobs.job import in_own_network, run_job
from sluice_dev.jobs.modes import environment
from sluice_dev.jobs.runner import Tally, parse_options
from sluice_dev.jobs.watch import Watch

from . import strict_memory
from .conditions import MemoryGroup, Need, conditions, why_no_cgroup

MODES = ("release", "userfaultfd")
ALL_MODES = (*MODES, "off", "stream", "cma", "tcp")
KILLED = 128 + signal.SIGKILL
CASE_LINE = re.compile(r"^CASE .*$", re.MULTILINE)
VERDICT = re.compile(r"^(?:\d+ bytes|serial check equal)", re.MULTILINE)
# Program below the build directory, its arguments, and numbers of ranks.
PROGRAMS = (
    ("tests/mpi/causality", (), (1, 2)),
    ("tests/mpi/release_touch", (), (2,)),
    ("tests/mpi/persistent", (), (1, 2)),
    ("tests/mpi/hostile/kernel_output", (), (2,)),
    ("tests/mpi/hostile/memory_free", (), (2,)),
    ("apps/patterns/patterns", ("--pattern", "exchange", "--bytes", "40000000", "--trials", "4", "--warm-up", "2"), (2,)),
    ("apps/stencil/stencil", ("--cells", "8", "--variables", "125", "--trials", "12", "--warm-up", "6"), (1, 2)),
)


def answers(result):
    """What does not depend on time."""
    return sorted(CASE_LINE.findall(result.stdout) + VERDICT.findall(result.stdout))


def difference(expected, result):
    if not result.ok:
        return result.describe()
    lines = [f"host:   {line}" for line in expected if line not in answers(result)]
    lines += [f"Sluice: {line}" for line in answers(result) if line not in expected]
    return "\n".join(lines[:6])


class Small:
    def __init__(self, options, tally):
        self._options, self._tally = options, tally
        self._conditions = conditions(options.builddir.resolve() / "tests/mpi/small/contained")
        self._groups = not why_no_cgroup()

    def jobs(self):
        """One for each program, number of ranks and condition; skips what this machine cannot have."""
        for name, condition in self._conditions.items():
            if why := condition.why_not():
                self._tally.skips(name, why)
                continue
            for program, arguments, counts in PROGRAMS:
                yield from ((program, arguments, ranks, name) for ranks in counts
                            if any(word in f"{program} {name}" for word in self._options.only or ("",)))

    def needs(self, jobs):
        return {one: self.need(*one) for one in dict.fromkeys(job[:3] for job in jobs)}

    def need(self, program, arguments, ranks):
        """Of the host alone, without a limit."""
        watch = Watch()
        command = [self._options.builddir.resolve() / program, *arguments]
        if not self._groups:
            run_job(command, ranks, {}, self._options.timeout, meanwhile=watch)
            watch.end()
            return Need(watch.address_space)
        with MemoryGroup() as group:
            run_job(command, ranks, {}, self._options.timeout, meanwhile=watch, launch=lambda mpirun: in_own_network(group.entering(mpirun)))
            watch.end()
            return Need(watch.address_space, group.peak)

    def run(self, job, need, mode):
        program, arguments, ranks, name = job
        condition = self._conditions[name]
        command = condition.rank([str(self._options.builddir.resolve() / program), *arguments], need)
        variables = {**environment(mode, self._options.library), **condition.environment}
        if not condition.memory:
            return run_job(command, ranks, variables, self._options.timeout)
        result = self.run_in_group(condition.memory(need), command, ranks, variables)
        # At its limit a job is killed now and then that needs less: the kernel finds no page to take back just then. Of memory_free,
        # where the host alone has 22 MB, one in about ten is, with 19 to 24 MB alike.
        was_killed = result.returncode == KILLED
        return self.run_in_group(condition.memory(need), command, ranks, variables) if was_killed else result

    def run_in_group(self, limit, command, ranks, variables):
        with MemoryGroup(limit) as group:
            return run_job(command, ranks, variables, self._options.timeout, launch=lambda mpirun: in_own_network(group.entering(mpirun)))

    def compare(self, job, need):
        program, _, ranks, name = job
        return self.outcomes(f"{name}: {title_of(program, ranks)}", lambda mode: self.run(job, need, mode))

    def outcomes(self, title, run):
        """Method of the tally, name and text. `run`: one job in a mode."""
        host = run("host")
        if not host.ok:
            return [(Tally.skips, title, f"the host alone does not run there either: {host.describe().splitlines()[0]}")]
        modes = self._options.mode or (ALL_MODES if self._options.all else MODES)
        return [(Tally.check, f"{title}, {mode}", difference(answers(host), run(mode))) for mode in modes]

    def under_strict_memory(self):
        programs = [(title_of(program, ranks), [self._options.builddir.resolve() / program, *arguments], ranks)
                    for program, arguments, counts in PROGRAMS for ranks in counts if program.startswith("tests/")]

        def compare(title, run):
            report(self._tally, self.outcomes(title, lambda mode: run(environment(mode, self._options.library))))
        strict_memory.check(self._tally, programs, compare, self._options)


def title_of(program, ranks):
    return f"{program.rsplit('/', 1)[-1]}, {ranks} ranks"


def report(tally, outcomes):
    for method, name, text in outcomes:
        method(tally, name, text)


def add_options(parser):
    parser.add_argument("--only", action="append", help="conditions and programs whose name contains this")
    parser.add_argument("--all", action="store_true", help=f"more modes, and {strict_memory.NAME}")
    parser.add_argument("--mode", action="append", help="these modes (default: release and userfaultfd)")
    parser.add_argument("--jobs", type=int, default=2, help="at once (default %(default)s)")


def main():
    options = parse_options(__doc__.partition("\n\n")[0], 60, add_options)
    tally = Tally()
    if options.library is None or options.builddir is None:
        tally.skips("everything", "no --library, or no --builddir")
        tally.finish()
    small = Small(options, tally)
    jobs = list(small.jobs())
    needs = small.needs(jobs)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for outcomes in pool.map(lambda job: small.compare(job, needs[job[:3]]), jobs):
            report(tally, outcomes)
    if options.all and any(word in strict_memory.NAME for word in options.only or ("",)):
        small.under_strict_memory()
    tally.finish()
