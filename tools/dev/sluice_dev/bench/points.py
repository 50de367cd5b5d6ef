"""Points of a measurement of calls: both sides' times of every round, their ratio with its interval, printed and as a page."""

import collections
import datetime
import statistics

from sluice_dev.base.confidence import interval_of_median
from sluice_dev.base.prose import wrapped
from sluice_dev.bench.sweep import commit, processor

MOST = 1.05  # of a ratio with its whole interval
Point = collections.namedtuple("Point", "name host sluice ratio low high off_ratio")


def point_of(name, rounds):
    ratios = [times["sluice"] / times["host"] for times in rounds]
    low, high = interval_of_median(ratios)
    off = statistics.median(times["off"] / times["host"] for times in rounds) if "off" in rounds[0] else None
    host, sluice = (statistics.median(times[side] for times in rounds) for side in ("host", "sluice"))
    return Point(name, host, sluice, statistics.median(ratios), low, high, off)


def verdict(points):
    mean = statistics.geometric_mean(point.ratio for point in points)
    slower = [point.name for point in points if point.low > MOST]
    return f"{len(points)} points, geometric mean of the ratios {mean:.2f}, {len(slower)} slower than {MOST} with their whole interval"


def show(ranks, points):
    print(f"\n{f'{ranks} ranks':<24}{'host':>10} {'sluice':>10}   {'ratio':>6}   {'interval':<16}   off")
    for point in points:
        off = f"{point.off_ratio:.2f}" if point.off_ratio else ""
        mark = "  slower" if point.low > MOST else ""
        times = f"{point.name:<24}{point.host:>10.3f} {point.sluice:>10.3f}"
        print(f"{times}   {point.ratio:>6.2f}   {point.low:.2f} to {point.high:.2f}       {off}{mark}")
    print(verdict(points), flush=True)


def written_by(command, rounds):
    return f"Written by `{command}` on {datetime.date.today()}, at {commit()}: {processor()}, {rounds} rounds."


def write_page(path, head, tables):
    """`tables`: points by number of ranks."""
    with_off = any(point.off_ratio for points in tables.values() for point in points)
    lines = list(head)
    for ranks, points in tables.items():
        lines += ["", f"## {ranks} ranks", "", verdict(points) + ".", "",
                  "| point | host | Sluice | ratio | interval |" + (" off |" if with_off else ""),
                  "|---|---|---|---|---|" + ("---|" if with_off else "")]
        lines += [f"| {p.name} | {p.host:.3f} | {p.sluice:.3f} | {p.ratio:.2f} | {p.low:.2f} to {p.high:.2f} |"
                  + (f" {p.off_ratio:.2f} |" if with_off else "") for p in points]
    path.write_text(wrapped("\n".join(lines) + "\n"))
