"""What a trace of apps/beside says: how long the pieces of long messages took at the rank that copies them, and how many of them
ended between the moment that a small message left and the moment that this rank had it."""

import bisect
import json

HUB = 0
SMALL_TAG = 0
SEEN_NS = 500  # a line of cache is that long on its way at most: what left later before the end of a piece was not there when the processor looked
SHARES = (("half", 0.5), ("90 %", 0.9), ("99 %", 0.99))


class BesideTrace:
    """`lines`: what `sluice dump --json` prints; `pinger`: the rank that small messages come from."""

    def __init__(self, lines, pinger):
        records = [json.loads(line) for line in lines]
        ends = sorted((record["time_ns"], record["thread"]) for record in records if record["rank"] == HUB and _ends_piece(record))
        self._ends = [end for end, _ in ends]
        self._ends_of = {}  # by thread: the application's and the helper thread may each have a piece under way
        for end, thread in ends:
            self._ends_of.setdefault(thread, []).append(end)
        self._rounds = sorted(record["time_ns"] for record in records if record["rank"] == HUB
                              and record["event"] == "call" and "MPI_Barrier" in record["at"])
        sent = _times(records, pinger, "post_send")
        self._small = list(zip(sent, _times(records, HUB, "match")))  # a pair's messages stay in order

    def pieces_us(self):
        """From one end to the next of the same round, by share."""
        took = sorted((after - before) / 1000 for before, after in zip(self._ends, self._ends[1:])
                      if bisect.bisect(self._rounds, before) == bisect.bisect(self._rounds, after))
        return {name: took[min(len(took) - 1, int(len(took) * share))] for name, share in SHARES} if took else {}

    def small(self):
        return len(self._small)

    def late(self):
        """Small messages that more than the piece under way was copied before."""
        return sum(any(bisect.bisect(ends, there) - bisect.bisect(ends, left + SEEN_NS) > 1 for ends in self._ends_of.values())
                   for left, there in self._small)


def _ends_piece(record):
    return record["event"] == "progress" or (record["event"] == "message_out" and record["kind"] == "fin")


def _times(records, rank, event):
    return sorted(record["time_ns"] for record in records if record["rank"] == rank and record["event"] == event and record.get("tag") == SMALL_TAG)
