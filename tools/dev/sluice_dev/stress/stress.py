"""Random programs with fresh seeds in every mode, while memory is short and the processors are busy.

    scripts/stress 30                 minutes
    scripts/stress 30 --first 123456  the same seeds as an earlier run, which printed them

Each block of seeds is run on the host alone and then under Sluice in every mode, with either guard, with 2 to 8 ranks; digests must
be equal. Beside it, one job after the other repeats the same few seeds for minutes; memory, descriptors and mappings of its ranks must not
grow. The last line is `N programs, N differences, N growing`; a program is one seed in one mode.
"""

import argparse
import os
import pathlib
import random
import signal
import socket
import sys
import tempfile
import threading
import time

from sluice_dev.base import builds
from sluice_dev.base.processes import become_reaper, end_descendants
from sluice_dev.jobs import seeds
from sluice_dev.jobs.job import run_job
from sluice_dev.jobs.modes import MODES, environment
from sluice_dev.stress.growth import Watch
from sluice_dev.stress.pressure import BusyProcessors, ScarceMemory

GUARDS = ("mprotect", "userfaultfd")
SHAPES = [(2, ["0"]), (3, ["1"]), (8, ["0"]), (2, ["3"]), (4, ["1"]), (6, ["1"]), (3, ["3", "shared"]), (4, ["2"]), (5, ["0"]), (8, ["1"])]
SEEDS_PER_JOB = 4
JOB_SECONDS = 600  # eight ranks on two processors, beside everything else; a job that hangs shows its stacks then
BUILD_SECONDS = 900


class Stress:
    def __init__(self, options):
        self.options = options
        self.program = options.builddir / "tests" / "mpi" / "random" / "random_program"
        self.library = options.builddir / "interpose" / "libsluice.so"
        self.end = time.monotonic() + options.minutes * 60
        self.stopping = threading.Event()
        self.programs = self.differences = self.growing = 0

    def time_is_over(self):
        return self.stopping.is_set() or time.monotonic() > self.end

    def compare_programs(self):
        """Blocks of fresh seeds, shape by shape, until the time is over."""
        first = self.options.first
        turn = 0
        while not self.time_is_over():
            ranks, arguments = SHAPES[turn % len(SHAPES)]
            self.compare_block(seeds.Block(first, SEEDS_PER_JOB, ranks, arguments), turn)
            first += SEEDS_PER_JOB
            turn += 1

    def compare_block(self, block, turn):
        host = run_job(seeds.command(self.program, block), block.ranks, {}, JOB_SECONDS)
        expected = seeds.digests(host.stdout)
        self.report(block, "host", seeds.complaint(block, "host", {}, host))
        for number, mode in enumerate(MODES):
            if mode == "host" or self.time_is_over():
                continue
            choice = environment(mode, self.library)
            # Each mode meets each guard, in turns.
            choice.setdefault("SLUICE_GUARD", GUARDS[(turn // len(SHAPES) + turn + number) % len(GUARDS)])
            result = run_job(seeds.command(self.program, block), block.ranks, choice, JOB_SECONDS)
            label = " ".join(f"{name}={value}" for name, value in choice.items() if name != "LD_PRELOAD")
            self.report(block, f"mode {mode}, {label}", seeds.complaint(block, label, expected, result))
        self.say(f"seeds {block.first} to {block.first + block.count - 1}, {block.ranks} ranks, threads {' '.join(block.arguments)}: "
                 f"{self.programs} programs, {self.differences} differences")

    def report(self, block, name, complaint):
        if self.stopping.is_set():
            return  # whatever failed was killed
        self.programs += block.count
        if complaint:
            self.differences += 1
            self.say(f"FAIL {name}: {complaint}")

    def watch_jobs(self):
        """One long job for each guard, half of the time each."""
        for number, guard in enumerate(GUARDS):
            seconds = (self.end - time.monotonic()) / (len(GUARDS) - number)
            if seconds > 0 and not self.stopping.is_set():
                self.watch_job(guard, seconds)

    def watch_job(self, guard, seconds):
        block = seeds.Block(self.options.first, 3, 3, ["1", "own", f"{seconds:.0f}"])
        watch = Watch()
        watch.start()
        choice = {**environment("release", self.library), "SLUICE_GUARD": guard, **watch.mark}
        result = run_job(seeds.command(self.program, block), block.ranks, choice, seconds + JOB_SECONDS)
        watch.stop()
        if self.stopping.is_set():
            return
        repeats = sum(result.stdout.count(f"seed {seed} ") for seed in range(block.first, block.first + block.count))
        self.report(block, f"long job, {guard}", seeds.complaint(block, f"SLUICE_GUARD={guard}", {}, result))
        complaints, figures = watch.verdict()
        self.say(f"long job, {guard}: {repeats // block.ranks} programs in {seconds:.0f} s; {figures}")
        for complaint in complaints:
            self.growing += 1
            self.say(f"FAIL long job, {guard}: {complaint}")

    def say(self, text):
        left = max(0.0, self.end - time.monotonic())
        print(f"[{left / 60:5.1f} min left] {text}", flush=True)

    def run(self):
        workers = [threading.Thread(target=work, daemon=True) for work in (self.compare_programs, self.watch_jobs)]
        for worker in workers:
            worker.start()
        for worker in workers:
            while worker.is_alive():
                worker.join(0.5)  # a join without a limit would hold signals back


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("minutes", type=float)
    parser.add_argument("--first", type=int, help="first seed (default: one that was not used before)")
    parser.add_argument("--leave-memory", type=int, default=2000, metavar="MB", help="what all jobs together may use (default %(default)s)")
    parser.add_argument("--busy", type=int, default=os.cpu_count(), metavar="N", help="busy loops beside the jobs (default %(default)s)")
    parser.add_argument("--builddir", type=pathlib.Path, help="what is tested (default: build, which is built first)")
    options = parser.parse_args()
    if options.builddir is None:
        options.builddir = builds.BUILD
        builds.build(builds.BUILD, BUILD_SECONDS)
    options.builddir = options.builddir.resolve()
    if options.first is None:
        options.first = random.SystemRandom().randrange(10**6, 10**9)
    return options


def keep_launcher_files_in(scratch):
    """In a directory that exists already and is never empty: launchers that make or remove it at the same time fail."""
    os.environ["TMPDIR"] = tempfile.tempdir = scratch
    directory = pathlib.Path(scratch, f"ompi.{socket.gethostname().partition('.')[0]}.{os.geteuid()}")
    directory.mkdir(mode=0o700)
    (directory / "kept").touch()


def main():
    become_reaper()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also where a shell has started this in the background
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # through `finally`
    stress = Stress(parse_options())
    with tempfile.TemporaryDirectory(prefix="sluice-stress-") as scratch:
        keep_launcher_files_in(scratch)
        try:
            with ScarceMemory(stress.options.leave_memory) as memory, BusyProcessors(stress.options.busy):
                stress.say(f"first seed {stress.options.first}; {memory.description}; {stress.options.busy} busy loops")
                stress.run()
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        finally:
            stress.stopping.set()
            end_descendants()
            print(f"{stress.programs} programs, {stress.differences} differences, {stress.growing} growing", flush=True)
    sys.exit(1 if stress.differences or stress.growing or stress.programs == 0 else 0)
