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
    stride = round(GOLDEN * len(items))
    while math.gcd(stride, len(items)) != 1:
        stride += 1
    first = (today() if day is None else day) * count
    return [items[(first + number) * stride % len(items)] for number in range(count)]
