"""Which of many runs come up today, where there is no time for all of them."""

import math
import time

DAY_SECONDS = 86400
GOLDEN = 0.618  # steps of this part of the whole come to every region of it soon


def today():
    return int(time.time()) // DAY_SECONDS


def of_the_day(items, count, day=None):
    """`count` of the items, every day the next ones in an order that jumps about; all of them within len(items) / count days."""
    items = list(items)
    if count is None or count >= len(items):
        return items
    return _jumping(items, (today() if day is None else day) * count, count)


def in_order_of_the_day(items, day=None):
    """All of them, every day others first, so that it is not always the same that are left out when there is less time than usual."""
    items = list(items)
    return _jumping(items, (today() if day is None else day) * _stride(len(items)), len(items))


def _jumping(items, first, count):
    """`count` of the items from the place `first` on, in an order that jumps about."""
    stride = _stride(len(items))
    return [items[(first + number) * stride % len(items)] for number in range(count)]


def _stride(count):
    """Without a divisor in common with `count`, so that steps of it come to every place."""
    stride = round(GOLDEN * count)
    while math.gcd(stride, count) > 1:
        stride += 1
    return stride
