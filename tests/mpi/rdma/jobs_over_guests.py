"""Jobs over two guests that somebody disturbs meanwhile, and what their output says."""

import concurrent.futures
import itertools
import pathlib
import re

from sluice_dev.jobs.runner import Programs

here = pathlib.Path(__file__).resolve().parent


START_SECONDS = 40
UNDER_WAY_SECONDS = 1
COMMAND_SECONDS = 30
DIRECTORIES = {"buffers": "rdma", "random_program": "random"}  # of tests/mpi; all others are in `faults`
ROW = re.compile(r"^sluice:   +(.+?) {2,}([0-9.]+)(?: MiB| s)?$", re.MULTILINE)


class JobsOverGuests:
    def __init__(self, guests, options):
        self._guests = guests
        self._library = options.library
        self.timeout = options.timeout
        self._programs = {name: Programs(here.parent / name, options.builddir, f"tests/mpi/{name}") for name in {"faults", *DIRECTORIES.values()}}
        self._numbers = itertools.count(1)

    def run(self, argv, settings=None, before=(), ranks=2, mpirun_args=()):
        """`argv` begins with the name of a program; `before` is a command that runs it."""
        environment = {"LD_PRELOAD": str(self._library), "SLUICE_TRANSPORTS": "verbs", "SLUICE_SUMMARY": "1", **(settings or {})}
        return self._guests.run([*before, self.program(argv[0]), *argv[1:]], ranks, environment, self.timeout,
                                mpirun_args=mpirun_args)

    def run_disturbed(self, argv, disturb, settings=None, mpirun_args=()):
        """`across`, and what happens once its ranks talk."""
        begun = f"/tmp/begun-{next(self._numbers)}"
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            job = pool.submit(self.run, argv, {"ACROSS_BEGUN": begun, **(settings or {})}, mpirun_args=mpirun_args)
            self.shell(f"until [ -e {begun} ]; do sleep 0.1; done; sleep {UNDER_WAY_SECONDS}", seconds=START_SECONDS)
            disturb()
            return job.result()

    def shell(self, line, guest=1, seconds=COMMAND_SECONDS):
        return self._guests.run_command(["sh", "-c", line], seconds, guest=guest)

    def program(self, name):
        """Its path."""
        directory = DIRECTORIES.get(name, "faults")
        sources = sorted(path.name for path in (here.parent / directory).glob("*.cpp")) or None
        return self._programs[directory].find(name, sources)


def counted(result):
    """What the summary of a job says, by the names of its rows."""
    return {name.strip(): float(value) for name, value in ROW.findall(result.stderr)}


def unless(result, *complaints):
    """The first complaint (a condition and a text) that is justified, with the job's output; a hang is always one."""
    if result.timed_out:
        return result.describe()
    for wrong, text in complaints:
        if wrong:
            return f"{text}\n{result.describe()}"
    return ""


def unless_right(result, *complaints):
    return unless(result, (not result.ok or "exchange ok" not in result.stdout, "not the right result"), *complaints)
