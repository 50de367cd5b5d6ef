"""Random programs from seeds: the host alone, then Sluice; digests of all that was received must be equal.

    run --builddir DIR                           230 seeds as users get them, and half of them in one other mode; and those of windows
    run --builddir DIR --every-mode              230 seeds in every mode
    run --builddir DIR --seed 17 --mode off      one seed, with the ranks and threads that belong to it
    run --builddir DIR --first 1 --count 1000    other seeds
    run --builddir DIR --windows --count 500     seeds of one-sided calls only
    run --builddir DIR --testbed 3               over three hosts made of namespaces
    run --builddir DIR --softroce 1              in a guest with a verbs device: every protocol forced in turn
    run --builddir DIR --softroce 1 --sample 1 --count 20   in so many of these modes
"""

import pathlib
import signal

from sluice_dev.jobs import place, seeds
from sluice_dev.jobs.modes import ALL_MODES, MODES, RDMA_PROTOCOLS, environment, modes_in_guests
from sluice_dev.jobs.rdma_counts import by_rdma, described
from sluice_dev.jobs.runner import Programs, Tally, parse_options
from sluice_dev.jobs.sample import sample

here = pathlib.Path(__file__).resolve().parent

WINDOW_SEEDS = 60
WINDOW_MODES = ["release", "all-onesided", "tcp-onesided"]
DIED = (128 + signal.SIGABRT, 128 + signal.SIGSEGV)
OTHERS = [mode for mode in MODES if mode not in ("host", "release")]


def modes_of(options, block_number):
    """What users get; and with every other block one other mode."""
    if options.softroce and not options.mode:
        return sample(modes_in_guests(options.softroce), options.sample)
    if options.mode or options.every_mode:
        return [mode for mode in options.mode or MODES if mode != "host"]
    other = [OTHERS[block_number // 2 % len(OTHERS)]] if block_number % 2 == 0 else []
    return ["release", *other]


def add_options(parser):
    parser.add_argument("--every-mode", action="store_true", help="not only some")
    parser.add_argument("--sample", type=int, metavar="N", help="in guests: only so many modes, always the same")
    parser.add_argument("--first", type=int, default=1, help="first seed (default %(default)s)")
    parser.add_argument("--count", type=int, help=f"number of seeds (default {seeds.CYCLE}, of windows {WINDOW_SEEDS})")
    parser.add_argument("--windows", action="store_true", help="only seeds of one-sided calls")
    parser.add_argument("--seed", type=int, help="only this seed")
    parser.add_argument("--mode", choices=list(ALL_MODES), action="append", help="only this mode (and the host)")
    place.add_options(parser)


def main():
    options = parse_options(__doc__.splitlines()[0], 120, add_options)
    programs = Programs(here, options.builddir, "tests/mpi/random")
    sources = sorted(path.name for path in here.glob("*.cpp"))
    windows = [name for name in sources if "window" in name]
    messages = programs.find("random_program", [name for name in sources if name not in windows])
    one_sided = programs.find("random_windows", windows)
    tally = Tally()
    with place.job_runner(options, tally) as run_job:
        if not options.windows:
            run_messages(options, messages, run_job, tally)
        if options.windows or not (options.testbed or options.softroce or options.seed or options.mode):
            run_windows(options, one_sided, run_job, tally)
    tally.finish()


def run_windows(options, program, run_job, tally):
    """Each rank checks all data itself, so there is nothing to compare with."""
    first, count = (options.first, options.count or WINDOW_SEEDS) if options.seed is None else (options.seed, 1)
    for number, block in enumerate(seeds.window_blocks_of(first, count)):
        for mode in options.mode or WINDOW_MODES:
            # The host's own dynamic windows crash (4.1).
            kind = ["dynamic"] if number % 2 and mode in ("all-onesided", "tcp-onesided") else []
            name = f"{mode}: windows, seeds {block.first} to {block.first + block.count - 1}, {block.ranks} ranks{' '.join(['', *kind])}"
            if mode != "host" and options.library is None:
                tally.skips(name, "no --library")
                continue
            result = run_job([*seeds.command(program, block), *kind], block.ranks, environment(mode, options.library), options.timeout)
            tally.check(name, seeds.complaint(block, f"mode {mode}: {ALL_MODES[mode]}", {}, result, "random_windows"))


def run_messages(options, program, run_job, tally):
    first, count = (options.first, options.count or seeds.CYCLE) if options.seed is None else (options.seed, 1)
    for number, block in enumerate(seeds.blocks_of(first, count)):
        name = f"seeds {block.first} to {block.first + block.count - 1}, {block.ranks} ranks, threads {' '.join(block.arguments)}"
        expected = {}
        for mode in ["host", *modes_of(options, number)]:
            if mode != "host" and options.library is None:
                tally.skips(f"{mode}: {name}", "no --library")
                continue
            run = place.host_runner(options, run_job) if mode == "host" else run_job
            result = run(seeds.command(program, block), block.ranks, environment(mode, options.library), options.timeout)
            if mode == "host" and result.returncode in DIED:  # MPI_Ialltoallw of one rank, for one: Open MPI 4.1 uses what it has freed
                tally.skips(f"host: {name}", f"it dies there, alone: {result.describe().splitlines()[0]}; Sluice's modes are compared")
                continue
            expected = expected or seeds.digests(result.stdout)
            complaint = seeds.complaint(block, f"mode {mode}: {ALL_MODES[mode]}", expected, result)
            forced = ALL_MODES[mode].get("SLUICE_RNDV") if mode != "host" else None
            counts = by_rdma(result.stderr)
            if options.softroce and forced in RDMA_PROTOCOLS and not counts[forced]:
                complaint = complaint or f"no message went by {forced}"
            tally.check(f"{mode}: {name}", complaint)
            if counts:
                print(f"     messages over RDMA: {described(counts)}")
