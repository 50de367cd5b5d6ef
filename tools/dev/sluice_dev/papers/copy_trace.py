"""What a trace says of the processors that copy messages: how long each rank copied, and what either side of a message did meanwhile."""

import bisect
import collections
import json

from sluice_dev.base.distance import alike

NS_PER_US = 1000
ENDS = ("sender", "receiver")
DOINGS = ("copies", "polls", "computes")
CALLS = {"sender": "MPI_Send at ", "receiver": "MPI_Recv at "}


class CopyTrace:
    """`lines`: what `sluice dump --json --kind call,copy` prints."""

    def __init__(self, lines):
        self._copies = collections.defaultdict(list)  # by rank: (begin, end), in order
        self._calls = collections.defaultdict(list)  # by rank and side
        for record in map(json.loads, lines):
            span = record["time_ns"] - record["duration_ns"], record["time_ns"]
            if record["event"] == "copy":
                self._copies[record["rank"]].append(span)
            for side, name in CALLS.items():
                if record.get("at", "").startswith(name):
                    self._calls[record["rank"], side].append(span)
        for spans in (*self._copies.values(), *self._calls.values()):
            spans.sort()

    def copied_us(self, ranks):
        """By rank."""
        return {rank: sum(end - begin for begin, end in self._copies[rank]) / NS_PER_US for rank in range(ranks)}

    def messages(self):
        """(rank of the sender, its call, rank of the receiver, its call) of all that ranks 0 and 1 sent each other, in pairs of blocking
        calls. A message is there from the moment that both sides are, until both have it behind them."""
        for sender, receiver in ((0, 1), (1, 0)):
            sends, receives = self._calls[sender, "sender"], self._calls[receiver, "receiver"]
            if len(sends) != len(receives):
                raise ValueError(f"rank {sender} sent {len(sends)} messages, and rank {receiver} received {len(receives)}")
            for sending, receiving in zip(sends, receives):
                yield sender, sending, receiver, receiving

    def shares(self, first=0):
        """(side, what it does) -> percent of the time of messages, but for so many in each direction at the beginning. Only of those that
        took about as long as the shortest: in the others a processor was taken away, which says nothing of a protocol."""
        numbers = collections.Counter()
        spent = []
        for message in self.messages():
            sender = message[0]
            numbers[sender] += 1
            if numbers[sender] > first:
                spent.append(self._spent_on(*message))
        shortest = min((one["all"] for one in spent), default=0)
        sums = sum((one for one in spent if alike(one["all"], shortest)), collections.Counter())
        return {(side, doing): 100 * sums[side, doing] / sums["all"] for side in ENDS for doing in DOINGS} if spent else {}

    def _spent_on(self, sender, sending, receiver, receiving):
        """Nanoseconds."""
        window = max(sending[0], receiving[0]), max(sending[1], receiving[1])
        spent = collections.Counter(all=window[1] - window[0])
        for side, rank, call in (("sender", sender, sending), ("receiver", receiver, receiving)):
            spent[side, "copies"] = self._copied_within(rank, window)
            spent[side, "computes"] = window[1] - call[1]
            spent[side, "polls"] = call[1] - window[0] - spent[side, "copies"]
        return spent

    def _copied_within(self, rank, window):
        """Nanoseconds. A rank has one copy under way at a time while it is in a call."""
        spans = self._copies[rank]
        first = bisect.bisect_left(spans, (window[0], 0))
        total = 0
        for begin, end in spans[max(0, first - 1):]:
            if begin >= window[1]:
                break
            total += max(0, min(end, window[1]) - max(begin, window[0]))
        return total
