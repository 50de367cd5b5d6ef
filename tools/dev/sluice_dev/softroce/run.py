"""Runs commands in a guest with a verbs stack (softroce.py), and prints what they printed.

    run --builddir build -- ibv_devinfo                                          # a command
    run --builddir build 'ibv_devinfo' 'build/tests/unit/verbs_transport_test'     # shell lines, one after another, in one boot
    run --builddir build --guests 2 --ranks 2 --sluice build -- ./app --option   # mpirun, over two guests

The status is that of the first command that failed. Code 124: it hung, and the stacks of its threads were printed; 77: there can be no guest.
"""

import argparse
import pathlib
import signal
import sys

from sluice_dev.jobs.launching import HUNG_CODE, NO_PLACE_CODE, assignment, environment_of, mca_arguments, numbers
from sluice_dev.softroce.guest import Shape
from sluice_dev.softroce.softroce import DEFAULT_LIMIT, GuestFailed, NoGuest, SoftRoce


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--builddir", type=pathlib.Path,
                        help="where the kernel is kept between runs, below `softroce` (default: build of this tree)")
    parser.add_argument("--guests", type=int, choices=(1, 2), default=1, help="(default %(default)s)")
    parser.add_argument("--memory", help="of a guest, such as 2048M")
    parser.add_argument("--cpus", type=int, help="of a guest")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one command (default %(default)s)")
    parser.add_argument("--limit", type=float, default=DEFAULT_LIMIT, help="seconds for everything (default %(default)s)")
    parser.add_argument("--env", type=assignment, action="append", default=[], metavar="NAME[=VALUE]", help="for the command or the ranks")
    parser.add_argument("--ranks", type=int, help="run the command by mpirun, with so many ranks")
    parser.add_argument("--slots", type=numbers, metavar="N,N", help="ranks of each guest (default: as even as can be)")
    parser.add_argument("--sluice", type=pathlib.Path, metavar="BUILDDIR", help="preload the library of this build directory")
    parser.add_argument("--mca", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"), help="setting of Open MPI")
    parser.add_argument("lines", nargs="*", metavar="LINE", help="shell lines; or one command after `--`")
    own, command = (words[:words.index("--")], words[words.index("--") + 1:]) if "--" in words else (words, [])
    options = parser.parse_args(own)
    options.commands = [command] if command else []
    options.commands += [["sh", "-c", line] for line in options.lines]
    if bool(command) == bool(options.lines):
        parser.error("either shell lines or a command after `--`")
    if options.slots and options.ranks is None:
        options.ranks = sum(options.slots)
    return options


def run_all(options, guests):
    """Status of the first command that failed."""
    environment = environment_of(options.env, options.sluice)
    mca = mca_arguments(options.mca)
    status = 0
    for command in options.commands:
        if options.ranks is None:
            result = guests.run_command(command, options.timeout, environment)
        else:
            result = guests.run(command, options.ranks, environment, options.timeout, mpirun_args=mca, slots=options.slots)
        status = status or show(command, result, len(options.commands) > 1)
    return status


def show(command, result, several):
    if several:
        print(f"$ {command[-1]}", flush=True)
    sys.stdout.write(result.stdout)
    sys.stdout.flush()
    sys.stderr.write(result.stderr)
    if not result.ok:
        result.stdout = result.stderr = ""
        print(f"softroce: {result.describe()}", file=sys.stderr)
    return HUNG_CODE if result.timed_out else result.returncode or int(bool(result.left_behind))


def main():
    options = parse(sys.argv[1:])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # through `finally`
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also where a shell has started this in the background
    given = Shape() if options.guests == 1 else Shape("1024M", 1)
    shape = Shape(options.memory or given.memory, options.cpus or given.processors)
    try:
        with SoftRoce(options.builddir, options.guests, shape, options.limit) as guests:
            print(f"softroce: up after {guests.boot_seconds:.1f} s", file=sys.stderr)
            status = run_all(options, guests)
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
    except NoGuest as why:
        print(f"softroce: {why}", file=sys.stderr)
        sys.exit(NO_PLACE_CODE)
    except GuestFailed as why:
        sys.exit(f"softroce: {why}")
    sys.exit(status)
