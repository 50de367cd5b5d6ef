"""What the summaries of jobs say of messages that went by RDMA: whether a protocol that is forced was taken at all."""

import collections
import re

COUNT = re.compile(r"^sluice:   +(\S.*\S) +(\d+)$", re.MULTILINE)
TAKEN = re.compile(r"^sluice:   +(?:over RDMA by (\w+)|and by the adapter \((coop-hca)\)) +(\d+)$", re.MULTILINE)


def counts_of(output):
    """The counts of a summary by their names. Those that are 0 may be missing."""
    return collections.Counter({name: int(number) for name, number in COUNT.findall(output)})


def by_rdma(output):
    """Messages by protocol, over all summaries in the output."""
    counts = collections.Counter()
    for protocol, beside_processors, number in TAKEN.findall(output):
        counts[protocol or beside_processors] += int(number)
    return counts


def described(counts):
    return ", ".join(f"{number} by {protocol}" for protocol, number in sorted(counts.items())) or "none"
