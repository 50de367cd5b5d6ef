"""What is simulated for docs/results/receivers.md: the points of the paper's figures 1, 4 and 5, the product's window, other readings."""

import dataclasses

NODES = 5256
SHARES = ("0.0002", "0.0004", "0.001", "0.002", "0.005", "0.01")  # of slow nodes: 1, 2, 5, 11, 26 and 53 of them
FACTORS = (2, 4, 8)
CREDITS = {2: (10, 15, 30), 4: (10, 15, 30), 8: (2, 5, 10, 15, 30, 60)}  # by factor
DELAYS = (40, 10, 5)  # microseconds
SHARES_OF_FIGURE_4 = ("0.0002", "0.001", "0.01")
SHARE_OF_FIGURE_5 = "0.01"

CYCLES = 20_000
LONG_CYCLES = 100_000  # where something learns


@dataclasses.dataclass(frozen=True)
class Point:
    arguments: tuple  # name, value, and so on

    @property
    def name(self):
        return " ".join(f"{name}={value}" for name, value in self.arguments)

    @property
    def command(self):
        return [f"--{name}={value}" for name, value in self.arguments]


# "Minimal bias of 2x": the minimal way is taken if its queue is at most twice the other one, as in booksim2; or if twice its queue is
# at most the other one, which comes nearest to the paper's figures.
AS_IN_BOOKSIM2 = {}
NEAREST = {"bias": 0.5, "early_minimal": 1}


def point(reading, share="0", factor=1, **others):
    slow = (("slow", share), ("factor", factor)) if share != "0" else ()
    more = {"cycles": CYCLES, **reading, **others}
    return Point((("global-links", 6), ("seed", 1), *slow, *((name.replace("_", "-"), value) for name, value in more.items())))


NOTHING, NOTIFIED, AGGRESSIVE = {}, {"control": "ecn"}, {"control": "ecn", "aggressive": 1}


def credits(number):
    return {"control": "credits", "credits": number}


def window(delay):
    return {"control": "window", "delay-us": delay, "cycles": LONG_CYCLES}


@dataclasses.dataclass(frozen=True)
class Reading:
    title: str
    arguments: dict  # in place of those of the nearest reading


READINGS = (
    Reading("2 (booksim2)", {"bias": 2}),
    Reading("1.5", {"bias": 1.5}),
    Reading("1", {"bias": 1}),
    Reading("0.5 (nearest)", {}),
    Reading("0.5; threshold 0", {"threshold": 0}),
    Reading("0.5; minimal packets share channels with the last leg of others", {"early_minimal": 0}),
    Reading("0.5; detours by a random router of the other group, 5 channels", {"by_router": 1}),
    Reading("0.5; queues are those of the channel, not of the output", {"queue_of_channel": 1}),
    Reading("0.5; both hops in the source's group share a channel, 3 channels", {"one_source_channel": 1}),
    Reading("0.5; threshold 200 flits", {"threshold": 200}),
    Reading("0.5; 1024 flits for each channel", {"buffer": 1024}),
    Reading("0.5; links of 10 and 100 cycles, as booksim2 has them", {"local_cycles": 10, "global_cycles": 100}),
    Reading("0.5; load 0.7 in place of 1", {"load": 0.7}),
    Reading("no choice: minimal only", {"routing": "min"}),
    Reading("no choice: a detour always", {"routing": "val"}),
    Reading("0.5; 60,000 cycles in place of 20,000", {"cycles": 60_000}),
)


def all_points():
    """Each once, in the order in which they are simulated."""
    most = SHARE_OF_FIGURE_5
    found = [point(NEAREST)]
    found += [point(NEAREST, share, factor) for share in SHARES for factor in (2, 8)]
    found += [point(NEAREST, share, 4) for share in SHARES_OF_FIGURE_4]
    found += [point(NEAREST, most, factor, **credits(number)) for factor in FACTORS for number in CREDITS[factor]]
    found += [point(NEAREST, **way) for way in (NOTIFIED, AGGRESSIVE)]
    found += [point(NEAREST, share, factor, **way)
              for way in (NOTIFIED, AGGRESSIVE) for share in SHARES_OF_FIGURE_4 for factor in FACTORS]
    found += [point(NEAREST, most, 8, **window(delay)) for delay in DELAYS]
    found += [point(AS_IN_BOOKSIM2, **way) for way in (NOTHING, NOTIFIED, AGGRESSIVE)]
    found += [point(AS_IN_BOOKSIM2, most, factor) for factor in FACTORS]
    found += [point(AS_IN_BOOKSIM2, most, 8, **way) for way in (credits(10), credits(30), NOTIFIED, AGGRESSIVE)]
    found += [point(AS_IN_BOOKSIM2, "0.001", 8)]
    found += [point(NEAREST, **window(10))]
    found += [point(NEAREST, share, 8, **reading.arguments) for reading in READINGS for share in ("0", most)]
    return list(dict.fromkeys(found))
