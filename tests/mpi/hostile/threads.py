"""Programs whose threads share pages and releases, and one with more receives than there are mappings."""

from .program import Program

PROGRAMS = [
    # With several threads only messages that are announced are released, and these soon arrive when both sides copy; with
    # userfaultfd, whose releases cost more, also when one side does. What comes through sockets takes longer than a release costs
    # with mprotect, and about as long with userfaultfd: half of the runs release something then, so there are more of them.
    Program("threads", env={"SLUICE_RNDV": "rput"}, guards=("mprotect",), busy=True),
    Program("threads_over_sockets", "threads", env={"SLUICE_TRANSPORTS": "tcp"}, busy=True, attempts=12),
    Program("threads_openmp"),
    Program("threads_finalize"),
    Program("threads_finalize_calls"),
    Program("threads_finalize_forks", "threads_finalize_calls", arguments=("forks",)),
    Program("outstanding", busy=True),
]
