"""A kernel that promises no more memory than it has (vm.overcommit_memory=2): in a guest, as the setting is the whole machine's."""


from sluice_dev.softroce.softroce import GuestFailed, NoGuest, SoftRoce

NAME = "vm.overcommit_memory=2"
SETTINGS = "echo 2 >/proc/sys/vm/overcommit_memory && echo 90 >/proc/sys/vm/overcommit_ratio"
SECONDS = 300  # instructions are emulated


def check(tally, programs, compare, options):
    """`programs`: title, command and ranks of each. `compare` gets the title, and a function of variables that runs one job."""
    try:
        with SoftRoce(options.builddir, limit=1800) as guests:
            set_so = guests.run_command(["sh", "-c", SETTINGS], timeout=60)
            if not set_so.ok:
                return tally.skips(NAME, set_so.describe())
            for title, command, ranks in programs:
                compare(f"{NAME}: {title}", lambda variables: guests.run(command, ranks, variables, SECONDS))
    except NoGuest as why:
        tally.skips(NAME, f"no guest: {why}")
    except GuestFailed as why:
        tally.fails(NAME, str(why))
