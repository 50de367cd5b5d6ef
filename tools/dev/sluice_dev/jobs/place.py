"""Where the jobs of a suite run: each in a network namespace of its own, or all of them on a test bed of several hosts or in guests, or on
another host MPI than the machine's own."""

import contextlib
import functools

from sluice_dev.jobs.job import run_job as run_job_here
from sluice_dev.jobs.modes import GUEST_MODES
from sluice_dev.jobs.roots import RELEASES, NoRoot, Root
from sluice_dev.softroce.softroce import GuestFailed, NoGuest, SoftRoce
from sluice_dev.testbed.bed import Bed, NoBed

GUEST_SECONDS = 12 * 3600  # every mode of a suite takes hours where instructions are emulated; each job has a limit of its own


def add_options(parser):
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--testbed", type=int, metavar="HOSTS", help="run the jobs over so many hosts, in blocks of ranks")
    place.add_argument("--softroce", type=int, choices=(1, 2), metavar="GUESTS",
                       help="run the jobs in one guest with a verbs device, or over two in blocks of ranks")
    place.add_argument("--root", choices=RELEASES, help="run the jobs on the Open MPI of this Debian suite")
    parser.add_argument("--rate", help='of the links between hosts, such as "1gbit" (default: as fast as the machine)')


def is_one_machine(options):
    """Whether all ranks of a job have one network, that of a machine as it is or of a guest."""
    return options.testbed is None and options.softroce != 2


def host_runner(options, run_job):
    """What runs the host alone: outside of a guest, where its results are the same and processors are fast. Two guests are two nodes."""
    return run_job_here if options.softroce == 1 else run_job


@contextlib.contextmanager
def job_runner(options, tally):
    """A function like run_job. Ends the program, with a skip in the tally, where there can be no test bed or guest."""
    if modes := [mode for mode in options.mode or () if mode in GUEST_MODES and not options.softroce]:
        tally.skips("everything", f"{' '.join(modes)} needs a verbs device: --softroce 1")
        tally.finish()
    if options.testbed is None and options.softroce is None and options.root is None:
        yield run_job_here
        return
    if options.root:
        yield _runner_on_root(options, tally)
        return
    try:
        place = SoftRoce(options.builddir, options.softroce, limit=GUEST_SECONDS) if options.softroce else Bed(options.testbed, options.rate)
    except NoBed as why:
        tally.skips("everything", f"no test bed: {why}")
        tally.finish()
    except NoGuest as why:
        tally.skips("everything", f"no guest: {why}")
        tally.finish()
    except GuestFailed as why:
        tally.fails("everything", str(why))
        tally.finish()
    with place:
        yield place.run


def _runner_on_root(options, tally):
    try:
        return functools.partial(run_job_here, launch=Root(options.root, options.builddir).launch)
    except NoRoot as why:
        tally.skips("everything", f"no host of {options.root}: {why}")
        tally.finish()
