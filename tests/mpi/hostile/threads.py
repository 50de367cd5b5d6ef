"""Programs whose threads share pages and releases, and one with more receives than there are mappings."""

from program import Program

PROGRAMS = [
    # With several threads only messages that are announced are released, and these soon arrive when both sides copy.
    Program("threads", env={"SLUICE_RNDV": "rput"}, busy=True),
    Program("threads_openmp"),
    Program("outstanding", busy=True),
]
