"""Jobs over a verbs stack between two guests: what becomes of registered memory at its limits, and of a job when something breaks.

    run --builddir DIR                     everything
    run --builddir DIR --only link         what has this in its name
    run --builddir DIR --sample 2          so many, always the same
    run --list                             what there is

Either the results are right, or every rank that is left says why not, within seconds. What one process can show by itself is in
tests/unit/verbs (transport_faults_test), which runs in guests as well (tests/testbed/softroce/check).
"""


from sluice_dev.jobs.runner import Tally, parse_options
from sluice_dev.jobs.sample import sample
from sluice_dev.softroce.softroce import GuestFailed, NoGuest, SoftRoce

from .breaking import BREAKING
from .jobs_over_guests import JobsOverGuests
from .memory import MEMORY
from .random_programs import RANDOM

# Name, and a function that runs it and returns what there is to complain about.
ALL = {**MEMORY, **BREAKING, **RANDOM}


def add_options(parser):
    parser.add_argument("--only", action="append", default=[], metavar="TEXT", help="only what has this in its name")
    parser.add_argument("--sample", type=int, metavar="N", help="only so many, always the same")
    parser.add_argument("--list", action="store_true", help="print the names, and end")


def main():
    options = parse_options(__doc__.splitlines()[0], 100, add_options)
    wanted = sample([name for name in ALL if all(text in name for text in options.only)], options.sample)
    if options.list:
        print("\n".join(wanted))
        return
    tally = Tally()
    if options.library is None:
        tally.skips("everything", "no --library")
        tally.finish()
    try:
        with SoftRoce(options.builddir, guests=2) as guests:
            jobs = JobsOverGuests(guests, options)
            for name in wanted:
                tally.check(name, ALL[name](jobs))
    except NoGuest as why:
        tally.skips("everything", f"no guest: {why}")
    except GuestFailed as why:
        tally.fails("everything", str(why))
    tally.finish()
