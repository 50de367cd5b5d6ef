"""A part of many runs, where there is no time for all of them: always the same part, from every region of the whole."""

import math

GOLDEN = 0.618  # steps of this part of the whole come to every region of it soon


def sample(items, count):
    """`count` of the items; all of them where count is None."""
    items = list(items)
    if count is None or count >= len(items):
        return items
    stride = _stride(len(items))
    return [items[place] for place in sorted(number * stride % len(items) for number in range(count))]


def _stride(count):
    """Without a divisor in common with `count`, so that steps of it come to every place."""
    stride = max(1, round(GOLDEN * count))
    while math.gcd(stride, count) > 1:
        stride += 1
    return stride
