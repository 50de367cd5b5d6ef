"""What the summaries of jobs say of messages that went by RDMA: whether a protocol that is forced was taken at all."""

import collections
import re

TAKEN = re.compile(r"^sluice:   +(?:over RDMA by (\w+)|and by the adapter \((coop-hca)\)) +(\d+)$", re.MULTILINE)


def by_rdma(output):
    """Messages by protocol, over all summaries in the output."""
    counts = collections.Counter()
    for protocol, beside_processors, number in TAKEN.findall(output):
        counts[protocol or beside_processors] += int(number)
    return counts


def described(counts):
    return ", ".join(f"{number} by {protocol}" for protocol, number in sorted(counts.items())) or "none"
