"""Where the jobs of a suite run: each in a network namespace of its own, or all of them on a test bed of several hosts."""

import contextlib
import pathlib
import sys

from jobs import run_job

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "testbed"))
from bed import Bed, NoBed  # noqa: E402


def add_options(parser):
    parser.add_argument("--testbed", type=int, metavar="HOSTS", help="run the jobs over so many hosts, in blocks of ranks")
    parser.add_argument("--rate", help='of the links between them, such as "1gbit" (default: as fast as the machine)')


@contextlib.contextmanager
def job_runner(options, tally):
    """A function like run_job. Ends the program, with a skip in the tally, where there can be no test bed."""
    if options.testbed is None:
        yield run_job
        return
    try:
        bed = Bed(options.testbed, options.rate)
    except NoBed as why:
        tally.skips("everything", f"no test bed: {why}")
        tally.finish()
    with bed:
        yield bed.run
