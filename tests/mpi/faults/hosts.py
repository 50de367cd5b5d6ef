"""Faults between hosts, over the test bed: a rank dies, a link breaks, connections are reset, unauthenticated callers come."""

import concurrent.futures
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

from sluice_dev.jobs.job import kill_job, rank_pids
from sluice_dev.jobs.runner import Programs, Tally, parse_options
from sluice_dev.testbed.bed import Bed, NoBed

from . import sockets

here = pathlib.Path(__file__).resolve().parent

JOBS_AT_ONCE = 3  # they wait, most of the time
TIMEOUT_SECONDS = 4  # SLUICE_TCP_TIMEOUT
SLACK_SECONDS = 3  # for an error to be said after the timeout
OUTAGE_SECONDS = 5
START_SECONDS = 20
UNDER_WAY_SECONDS = 0.7
SCAN_SECONDS = 3
MAX_SECONDS = 40  # for a job to end that has said why

# Sends random bytes, and nothing, and parts of a hello to every address that it is given, until it is killed.
CALLER = """
import os, random, socket, sys

places = [(int(family), address, int(port)) for family, address, port in (word.split(",") for word in sys.argv[1:])]
while True:
    for family, address, port in places:
        try:
            with socket.socket(family, socket.SOCK_STREAM) as connection:
                connection.settimeout(1)
                connection.connect((address, port))
                connection.sendall(random.choice((b"", b"sluice>>", b"GET / HTTP/1.1")) + os.urandom(random.randrange(100)))
        except OSError:
            pass
"""


class Disturbed:
    """One job over two hosts and what happens to it: `disturb` is called once the ranks talk."""

    def __init__(self, faults, argv, disturb=None, settings=None, mpirun_args=()):
        self.trouble = None  # of the test itself
        self._disturb = disturb
        with tempfile.TemporaryDirectory(prefix="sluice-hosts-") as scratch, Bed(2) as self.bed:
            self._begun = pathlib.Path(scratch, "begun")
            environment = {"LD_PRELOAD": str(faults.library), "SLUICE_TCP_TIMEOUT": str(TIMEOUT_SECONDS),
                           "ACROSS_BEGUN": str(self._begun), **(settings or {})}
            self.result = self.bed.run([faults.programs.find(argv[0]), *argv[1:]], 2, environment, faults.timeout,
                                       mpirun_args=mpirun_args, meanwhile=self._meanwhile if disturb else None)

    def _meanwhile(self, mark):
        self.mark = mark
        try:
            self._await_begin()
            self.pids = rank_pids(mark)
            self._disturb(self)
        except Exception as error:
            self.trouble = f"{type(error).__name__}: {error}"
            kill_job(mark)

    def _await_begin(self):
        end = time.monotonic() + START_SECONDS
        while not self._begun.exists():
            if time.monotonic() > end:
                raise TimeoutError("the ranks do not talk")
            time.sleep(0.05)
        time.sleep(UNDER_WAY_SECONDS)


class Faults:
    def __init__(self, options, tally):
        self.library = options.library
        self.timeout = options.timeout
        self.tally = tally
        self.programs = Programs(here, options.builddir, "tests/mpi/faults")

    def expect(self, name, job, *complaints):
        result = job.result
        if job.trouble:
            return self.tally.fails(name, f"the test itself: {job.trouble}\n{result.describe()}")
        if result.timed_out:
            return self.tally.fails(name, result.describe())
        for wrong, text in complaints:
            if wrong:
                return self.tally.fails(name, f"{text}\n{result.describe()}")
        self.tally.passes(name)

    def expect_right(self, name, job, *complaints):
        self.expect(name, job, (not job.result.ok or "exchange ok" not in job.result.stdout, "not the right result"), *complaints)

    def expect_error(self, name, job, pattern, *complaints):
        self.expect(name, job, ("WRONG DATA" in job.result.stderr or "went on" in job.result.stdout, "a rank went on"),
                    (not re.search(pattern, job.result.stderr), f"no line like {pattern}"), *complaints)

    # --- a rank that dies ----------------------------------------------------------------------------------------------

    def killed(self):
        for rank, other in ((0, 1), (1, 0)):
            # With recovery, mpirun leaves it to the survivor to find out.
            job = Disturbed(self, ["across", "exchange", "60", "8000000"],
                            lambda job, rank=rank: os.kill(job.pids[rank], signal.SIGKILL), mpirun_args=["--enable-recovery"])
            self.expect_error(f"rank {rank} killed in mid-message", job, rf"sluice: rank {other}: .*rank {rank}\b.*",
                              (job.result.seconds > MAX_SECONDS, "it took too long"))

    # --- a link that breaks --------------------------------------------------------------------------------------------

    def outage(self):
        def disturb(job):
            job.bed.set_link("n2", False)
            time.sleep(OUTAGE_SECONDS)
            job.bed.set_link("n2", True)

        job = Disturbed(self, ["across", "exchange", str(OUTAGE_SECONDS + 4), "3000000"], disturb, {"SLUICE_TCP_TIMEOUT": "30"})
        self.expect_right(f"link down for {OUTAGE_SECONDS} s", job)

    def broken_link(self):
        for name, argv in (("in mid-message", ["exchange", "60", "8000000"]), ("while nothing is on its way", ["idle", "60"])):
            def disturb(job):
                job.bed.set_link("n2", False)
                time.sleep(TIMEOUT_SECONDS + SLACK_SECONDS)
                kill_job(job.mark)  # mpirun would wait for its daemon on the other side

            job = Disturbed(self, ["across", *argv], disturb)
            self.expect_error(f"link down for good {name}: an error within SLUICE_TCP_TIMEOUT", job,
                              r"sluice: rank 0: peer rank 1 vanished \(.*\)")

    # --- connections ---------------------------------------------------------------------------------------------------

    def reset(self):
        for rank in (0, 1):
            def disturb(job, rank=rank):
                sockets.reset(sockets.busiest_connection(job.pids[rank]))

            job = Disturbed(self, ["across", "exchange", "60", "8000000"], disturb)
            self.expect_error(f"connection reset in mid-message at rank {rank}", job,
                              r"sluice: rank [01]: peer rank [01] vanished \(.*\)",
                              (job.result.seconds > MAX_SECONDS, "it took too long"))

    def slow_reader(self):
        job = Disturbed(self, ["across", "slow", str(2 * TIMEOUT_SECONDS)])
        self.expect_right("slow reader: sockets full for twice the timeout", job,
                          ("bounded" not in job.result.stdout, "the sender's memory is not bounded"))

    def unauthenticated(self):
        def disturb(job):
            listeners = [",".join(map(str, (int(family), address, port))) for pid in job.pids.values()
                         for family, address, port in sockets.listening_addresses(pid)]
            if not listeners:
                raise LookupError("no listener found")
            program = ["timeout", str(SCAN_SECONDS), sys.executable, "-c", CALLER, *listeners]
            for caller in [subprocess.Popen(job.bed.on_host(host, program)) for host in job.bed.hosts]:
                caller.wait()

        job = Disturbed(self, ["across", "exchange", str(SCAN_SECONDS + 2), "300000"], disturb, {"SLUICE_SUMMARY": "1"})
        counted = re.search(r"unauthenticated callers rejected\D*(\d+)", job.result.stdout + job.result.stderr)
        self.expect_right("unauthenticated callers at every listener", job,
                          (not counted or int(counted[1]) < 10, "the summary does not count them"))


GROUPS = ("killed", "outage", "broken_link", "reset", "slow_reader", "unauthenticated")


def main():
    options = parse_options(__doc__, 60, lambda parser: parser.add_argument("--only", nargs="+", choices=GROUPS))
    tally = Tally()
    if options.library is None:
        tally.skips("all", "no --library")
        tally.finish()
    faults = Faults(options, tally)
    with concurrent.futures.ThreadPoolExecutor(JOBS_AT_ONCE) as pool:
        running = {group: pool.submit(getattr(faults, group)) for group in options.only or GROUPS}
    for group, future in running.items():
        try:
            future.result()
        except NoBed as why:
            tally.skips(group, str(why))
    tally.finish()
