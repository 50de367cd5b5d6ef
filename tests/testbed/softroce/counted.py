"""The table of what a rendezvous takes, from lines that the unit tests print (tests/unit/support/rendezvous_counts.hpp)."""

import re

LINE = re.compile(r"^COUNTED (?P<protocol>\w+) (?P<where>\w+) (?P<data>\w+) (?P<numbers>.*)$", re.MULTILINE)
HEADINGS = ("protocol", "last bytes", "on", "rendezvous", "rts", "cts", "fin", "control messages each", "writes", "reads",
            "ended by a look at the last byte")


def table(output):
    """Lines of text; none when nothing was counted."""
    rows = [_row(found) for found in LINE.finditer(output)]
    if not rows:
        return []
    cells = [HEADINGS, *sorted(rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(HEADINGS))]
    return ["  ".join(cell.ljust(width) if column < 3 else cell.rjust(width) for column, (cell, width) in enumerate(zip(row, widths)))
            for row in cells]


def _row(found):
    numbers = {name: int(value) for name, value in (word.split("=") for word in found["numbers"].split())}
    each = numbers["control"] / max(numbers["rendezvous"], 1)
    plain = [str(numbers[name]) for name in ("writes", "reads", "last_byte")]
    kinds = [str(numbers[name]) for name in ("rendezvous", "rts", "cts", "fin")]
    return (found["protocol"], found["data"], found["where"], *kinds, f"{each:.3f}", *plain)
