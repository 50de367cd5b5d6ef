"""Runs an MPI program over several hosts made of namespaces (bed.py), and prints what it printed.

    run --hosts 2 --ranks 4 --rate 1gbit -- ./app --option
    run --hosts 3 --ranks 4 --slots 2,1,1 --sluice build --env SLUICE_SUMMARY=1 -- ./app
"""

import argparse
import pathlib
import signal
import sys

from sluice_dev.jobs.launching import HUNG_CODE, NO_PLACE_CODE, assignment, environment_of, mca_arguments, numbers
from sluice_dev.testbed.bed import Bed, NoBed


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=2, help="(default %(default)s)")
    parser.add_argument("--ranks", type=int, help="in all (default: one for each host)")
    parser.add_argument("--slots", type=numbers, metavar="N,N...", help="ranks of each host (default: as even as can be)")
    parser.add_argument("--rate", help='of each link, such as "1gbit" (default: as fast as the machine)')
    parser.add_argument("--sluice", type=pathlib.Path, metavar="BUILDDIR", help="preload the library of this build directory")
    parser.add_argument("--env", type=assignment, action="append", default=[], metavar="NAME[=VALUE]", help="for the ranks")
    parser.add_argument("--mca", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"), help="setting of Open MPI")
    parser.add_argument("--timeout", type=float, default=300, help="seconds (default %(default)s)")
    parser.add_argument("program", nargs=argparse.REMAINDER, metavar="PROGRAM...", help="and its arguments; may follow `--`")
    options = parser.parse_args()
    if options.program[:1] == ["--"]:
        del options.program[0]
    if not options.program:
        parser.error("which program?")
    if options.ranks is None:
        options.ranks = sum(options.slots) if options.slots else options.hosts
    return options


def main():
    options = parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # through `finally`
    environment = environment_of(options.env, options.sluice)
    mca = mca_arguments(options.mca)
    try:
        with Bed(options.hosts, options.rate) as bed:
            result = bed.run(options.program, options.ranks, environment, options.timeout, mpirun_args=mca, slots=options.slots)
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
    except NoBed as why:
        print(f"testbed: {why}", file=sys.stderr)
        sys.exit(NO_PLACE_CODE)
    sys.stdout.write(result.stdout)
    sys.stderr.write(result.stderr)
    if not result.ok:
        result.stdout = result.stderr = ""
        print(f"testbed: {result.describe()}", file=sys.stderr)
    sys.exit(HUNG_CODE if result.timed_out else result.returncode or bool(result.left_behind))
