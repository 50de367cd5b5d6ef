"""What breaks while messages go by RDMA: a process, or the network between the guests."""

import re
import time

from sluice_dev.jobs.modes import RDMA_PROTOCOLS

from .jobs_over_guests import unless, unless_right

MESSAGE_BYTES = 3_000_000
VERBS_SECONDS = 1  # SLUICE_VERBS_TIMEOUT
TCP_SECONDS = 4  # SLUICE_TCP_TIMEOUT
SLACK_SECONDS = 5  # for an error to be said after that, where every instruction is emulated
OUTAGE_SECONDS = 3
LONG_SECONDS = 60  # longer than a job goes on that nobody ends
TIMEOUTS = {"SLUICE_VERBS_TIMEOUT": str(VERBS_SECONDS), "SLUICE_TCP_TIMEOUT": str(TCP_SECONDS)}
RECOVERY = ["--enable-recovery"]  # mpirun leaves it to the survivors to find out


def unless_said(result, pattern):
    """A rank that goes on, or ends without that line. The status is not asked: with recovery, mpirun's is 0 whatever the ranks' are."""
    went_on = any(word in result.stdout + result.stderr for word in ("WRONG DATA", "went on", "exchange ok"))
    return unless(result, (went_on, "a rank went on"), (not re.search(pattern, result.stderr), f"no line like {pattern}"))


def vanished(of, cause):
    return rf"sluice: rank {1 - of}: peer rank {of} vanished \(.*{cause}.*\)"


def killed(protocol, rank):
    """In mid-rendezvous, as there is nothing else."""
    def run(jobs):
        result = jobs.run_disturbed(["across", "exchange", LONG_SECONDS, MESSAGE_BYTES],
                                    lambda: jobs.shell("kill -9 $(pidof across)", guest=rank + 1), {"SLUICE_RNDV": protocol}, RECOVERY)
        return unless_said(result, vanished(rank, "its process ended without MPI_Finalize"))
    return run


class Link:
    """Of the second guest."""

    def __init__(self, jobs):
        self._jobs = jobs

    def down_for(self, seconds):
        self._jobs.shell("ip link set eth0 down", guest=2)
        time.sleep(seconds)
        # Whoever is down loses its IPv6 addresses.
        self._jobs.shell("ip link set eth0 up && ip address replace fd72::2/64 dev eth0", guest=2)


class Loss:
    """Every packet is lost: both guests take the other's card for one that is not there."""

    NOBODY = "52:54:00:72:00:ff"

    def __init__(self, jobs):
        self._jobs = jobs

    def lasts(self, seconds):
        self._both(f"replace 10.72.0.%d lladdr {self.NOBODY} dev eth0")
        time.sleep(seconds)
        self._both("delete 10.72.0.%d dev eth0")

    def _both(self, change):
        for guest in (1, 2):
            self._jobs.shell(f"ip neighbour {change % (3 - guest)}", guest)


def link_down_in_mid_message(jobs):
    """mpirun needs the link too, so it comes back once the error must have been said. The first guest may have nothing under way at that
    moment but what it waits for; then its socket finds out, and not its adapter."""
    result = jobs.run_disturbed(["across", "exchange", LONG_SECONDS, MESSAGE_BYTES],
                                lambda: Link(jobs).down_for(VERBS_SECONDS * 2 + SLACK_SECONDS), TIMEOUTS, RECOVERY)
    return unless_said(result, vanished(1, rf"(has not acknowledged anything for {VERBS_SECONDS} s, SLUICE_VERBS_TIMEOUT|Connection timed out)"))


def link_down_with_nothing_under_way(jobs):
    result = jobs.run_disturbed(["across", "idle", LONG_SECONDS], lambda: Link(jobs).down_for(TCP_SECONDS + SLACK_SECONDS), TIMEOUTS, RECOVERY)
    return unless_said(result, vanished(1, ""))


def long_outage(jobs):
    result = jobs.run_disturbed(["across", "exchange", LONG_SECONDS, MESSAGE_BYTES],
                                lambda: Loss(jobs).lasts(VERBS_SECONDS * 2 + SLACK_SECONDS), TIMEOUTS, RECOVERY)
    return unless_said(result, rf"peer rank [01] vanished \(it has not acknowledged anything for {VERBS_SECONDS} s, SLUICE_VERBS_TIMEOUT")


def short_outage(jobs):
    result = jobs.run_disturbed(["across", "exchange", OUTAGE_SECONDS + 5, MESSAGE_BYTES], lambda: Loss(jobs).lasts(OUTAGE_SECONDS),
                                {"SLUICE_VERBS_TIMEOUT": "30", "SLUICE_TCP_TIMEOUT": "30"})
    return unless_right(result)


BREAKING = {
    **{f"rank {rank} is killed in mid-rendezvous, {protocol}": killed(protocol, rank) for protocol in RDMA_PROTOCOLS for rank in (0, 1)},
    "link down in mid-message": link_down_in_mid_message,
    "link down with nothing under way": link_down_with_nothing_under_way,
    "all packets lost for good": long_outage,
    f"all packets lost for {OUTAGE_SECONDS} s": short_outage,
}
