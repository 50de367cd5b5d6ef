"""How well a ratio of medians is known."""

import random
import statistics

RESAMPLES = 1000
OUTSIDE = RESAMPLES // 40  # of them on each side of the interval: 95 in 100 are in it


def interval(first, second):
    """Where median(first) / median(second) lies, 95 times in 100: by drawing runs again from those that were made."""
    draw = random.Random(1)

    def redrawn(values):
        return statistics.median(draw.choices(values, k=len(values)))
    ratios = sorted(redrawn(first) / redrawn(second) for _ in range(RESAMPLES))
    return ratios[OUTSIDE], ratios[-OUTSIDE - 1]


def interval_of_median(values):
    """Where the median lies, 95 times in 100: between two of the values (its rank is binomial, here by the normal one)."""
    ordered = sorted(values)
    middle, away = len(ordered) / 2, 0.98 * len(ordered) ** 0.5
    return ordered[max(0, int(middle - away))], ordered[min(len(ordered) - 1, int(middle + away))]
