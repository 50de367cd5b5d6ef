"""Medians of the runs of scripts/reproduce-coop, and what follows from them."""

import collections
import statistics

from sluice_dev.base.confidence import interval_of_median
from sluice_dev.base.distance import alike
from sluice_dev.papers.coop_points import (ALONE, AUTO, BESIDE, CHUNK_SIDES, CHUNKS, COPIES, COPIES_SIDES, HOST, PATTERNS, POINTS, PROGRAM_POINTS,
                                           PROTOCOLS, RPUT, SIDES, USE, USE_SIDES)

WITHIN = 1.05  # of the best forced protocol's time, is what auto shall take
COPY_TIME = "time {}"  # of a rank: what it copied for so long
ALL_SIDES = (*SIDES, ALONE)
# What the pages need: points and their sides.
PATTERNS_PAGE = (*((point, ALL_SIDES) for point in POINTS), *((point, point.sides) for point in BESIDE), (COPIES, COPIES_SIDES),
                 (CHUNKS, CHUNK_SIDES))
PROGRAMS_PAGE = (*((point, ALL_SIDES) for point in PROGRAM_POINTS), *((point, USE_SIDES) for point in USE), (COPIES, COPIES_SIDES))


class Figures:
    def __init__(self, rows):
        """Rows of the file of runs."""
        self._values = collections.defaultdict(lambda: collections.defaultdict(list))
        self._rounds = collections.defaultdict(dict)  # the same by round
        for row in self._comparable(rows):
            self._values[row["point"], row["side"]][row["what"]].append(float(row["value"]))
            self._rounds[row["point"], row["side"], row["what"]][row["round"]] = float(row["value"])

    def _comparable(self, rows):
        """Of each point the runs at one distance between the processors (distance.py), that at which all sides were run most often."""
        by_point = collections.defaultdict(list)
        for row in rows:
            by_point[row["point"]].append(row)
        self.distances = {}
        for name, of in by_point.items():
            sides = {row["side"] for row in of}
            together = collections.defaultdict(list)
            for row in of:
                ns = float(row["distance"])
                together[next((known for known in together if alike(known, ns)), ns)].append(row)

            def fewest(ns):
                runs = collections.Counter(side for side, _ in {(row["side"], row["round"]) for row in together[ns]})
                return min(runs[side] for side in sides)
            best = max(together, key=fewest)
            self.distances[name] = best if fewest(best) else None
            yield from together[best] if fewest(best) else of

    def rounds(self, patterns=PATTERNS):
        """Of the point that has the fewest."""
        return min((len(self._values[one.point.name, side.name][str(one.size)]) for one in self.all_timed(patterns) for side in ALL_SIDES), default=0)

    def missing(self, wanted):
        """Names of points that were not measured on all sides. `wanted`: PATTERNS_PAGE or PROGRAMS_PAGE."""
        return [point.name for point, sides in wanted if not self.has(point, sides)]

    def value(self, point, side, what):
        """The median; None if there is none."""
        values = self._values.get((point.name, side.name), {}).get(str(what))
        return statistics.median(values) if values else None

    def by_round(self, point, side, what):
        return self._values[point.name, side.name][str(what)]

    def by_pair(self, point, what):
        """The host's value divided by that of Sluice in a job of its own, of each pair of jobs; of their medians where no pair is comparable."""
        host, alone = (self._rounds[point.name, side.name, str(what)] for side in (HOST, ALONE))
        pairs = [value / alone[number] for number, value in host.items() if number in alone]
        return pairs or [self.value(point, HOST, what) / self.value(point, ALONE, what)]

    def is_in_doubt(self, point):
        """For one of its sizes it is not plain which is ahead, the host or Sluice."""
        sizes = [Timed(self, point, int(size)) for size in self.whats(point, HOST)]
        return any(low <= 1 <= high for low, high in (one.over_host_within for one in sizes))

    def is_undecided(self, point):
        """For one of its sizes it is not plain whether auto takes more than WITHIN of the best forced protocol's time."""
        sizes = [Timed(self, point, int(size)) for size in self.whats(point, AUTO)]
        return any(low <= WITHIN <= high for low, high in (one.against_best_within for one in sizes))

    def total(self, point, side, what):
        """Over all rounds."""
        return sum(self._values.get((point.name, side.name), {}).get(str(what), ()))

    def has(self, point, sides):
        return all((point.name, side.name) in self._values for side in sides)

    def whats(self, point, side):
        return self._values.get((point.name, side.name), {}).keys()

    def timed(self, pattern):
        """Its points that were measured on all sides, and the sizes of each."""
        for point in (*POINTS, *PROGRAM_POINTS):
            if point.pattern is pattern and self.has(point, ALL_SIDES):
                for size in sorted(map(int, self.whats(point, HOST))):
                    yield Timed(self, point, size)

    def all_timed(self, patterns=PATTERNS):
        return [one for pattern in patterns for one in self.timed(pattern)]

    def copies(self, side):
        """Of each run, by rank."""
        return self._by_rank(side, "{}")

    def copy_times(self, side):
        """The same in microseconds; nothing where an earlier run did not tell."""
        return self._by_rank(side, COPY_TIME)

    def _by_rank(self, side, what):
        return list(zip(*(self._values[COPIES.name, side.name][what.format(rank)] for rank in range(COPIES.ranks))))

    def spread(self, side):
        """The most less the fewest copies of the ranks of one host, on the host where that is more; the median of the runs."""
        return statistics.median(max(max(of) - min(of) for of in self._by_host(run)) for run in self.copies(side))

    def deviation(self, runs):
        """How far the rank that is farthest from it is from the mean of its host, in percent of that; the median of the runs. None
        without any."""
        return statistics.median(max(max(abs(value / statistics.mean(of) - 1) for value in of) for of in self._by_host(run)) * 100
                                 for run in runs) if runs else None

    @staticmethod
    def _by_host(run):
        of = collections.defaultdict(list)
        for rank, copies in enumerate(run):
            of[COPIES.host_of(rank)].append(copies)
        return of.values()


class Timed:
    """One size of one point."""

    def __init__(self, figures, point, size):
        self.point = point
        self.size = size
        self.us = {side.name: figures.value(point, side, size) for side in SIDES}
        self._by_round = {side.name: figures.by_round(point, side, size) for side in SIDES}
        self._by_pair = figures.by_pair(point, size)

    def speedup(self, side):
        return self.us[RPUT.name] / self.us[side.name]

    def faster(self, first, second):
        """The same, by name."""
        return self.us[second] / self.us[first]

    @property
    def best_forced(self):
        """That which auto is farthest behind of, or least ahead, turn by turn."""
        return max(PROTOCOLS, key=lambda side: statistics.median(self._by_turn(side)))

    @property
    def against_best(self):
        """The time of auto divided by that of the best forced protocol: the median by turns."""
        return statistics.median(self._by_turn(self.best_forced))

    @property
    def against_best_within(self):
        """Where that lies, 95 times in 100."""
        return interval_of_median(self._by_turn(self.best_forced))

    def _by_turn(self, side):
        return [auto / other for auto, other in zip(self._by_round[AUTO.name], self._by_round[side.name])]

    @property
    def over_host(self):
        """How many times as fast as the host auto is, each in jobs of its own: the median by pairs of jobs."""
        return statistics.median(self._by_pair)

    @property
    def over_host_within(self):
        """Where that lies, 95 times in 100."""
        return interval_of_median(self._by_pair)

    def over_single(self, name):
        """How many times as fast as the better one of those with which one side copies."""
        return min(self.us["rput"], self.us["rget"]) / self.us[name]
