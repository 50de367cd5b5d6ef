"""Reproduces the figures of the early-release paper (Ke, Burtscher, Speight) over a test bed of two hosts at 1 Gbit/s.

    scripts/reproduce-er                      builds, measures everything (some minutes), prints the table
    scripts/reproduce-er --write              and replaces docs/early-release.md, .csv and .svg
    scripts/reproduce-er --only m3 --keep     measures some points and keeps the others of an earlier run

pes, nbody and m3 run on the host alone, under Sluice with release off, under Sluice, and with the overlap written by hand on the host
alone. Sides alternate, times are medians, and all sides of a point must have the same results, bit for bit.
"""

import argparse
import csv
import pathlib
import re
import signal
import sys

import builds
from er_page import print_table, protection_costs, write_page
from er_points import POINTS, SIDES
from processes import become_reaper, kill_descendants

sys.path.insert(0, str(builds.ROOT / "tests" / "testbed"))
from bed import Bed, NoBed  # noqa: E402

RATE = "1gbit"
HOSTS = 2
ROUNDS = 5
BUILD_SECONDS = 900
JOB_SECONDS = 120
COLUMNS = ("point", "side", "seconds", "computing", "check")
TARGETS = ["interpose/libsluice.so", "tests/bench/guard_bench", *(f"apps/{name}/{name}" for name in ("pes", "nbody", "m3"))]


class Failed(Exception):
    pass


def measure(bed, builddir, point, side):
    """One row of the file of runs."""
    environment = dict(side.settings)
    if side.sluice:
        environment["LD_PRELOAD"] = str(builddir / "interpose" / "libsluice.so")
    result = bed.run(point.command(builddir, side.options), HOSTS, environment, JOB_SECONDS)
    if not result.ok:
        raise Failed(f"{point.name}, {side.title}: {result.describe()}")
    found = [re.search(rf"^{word} (\S+)", result.stdout, re.MULTILINE)[1] for word in ("time", "computing", "check")]
    return dict(zip(COLUMNS, (point.name, side.name, *found)))


def measure_point(bed, builddir, point, rounds):
    """The rows of all its runs."""
    print(f"   {point.name}", flush=True)
    rows = []
    for number in range(rounds):
        rows += [measure(bed, builddir, point, side) for side in (SIDES if number % 2 == 0 else reversed(SIDES))]
    checks = {row["check"] for row in rows}
    if len(checks) != 1:
        raise Failed(f"{point.name}: results differ: {' '.join(sorted(checks))}")
    return rows


def read_runs(path):
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def write_runs(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--builddir", type=pathlib.Path, help="what is measured (default: build, which is built first)")
    parser.add_argument("--only", action="append", default=[], metavar="TEXT", help="only points whose name contains this")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="runs of each side (default %(default)s); 0: what was kept")
    parser.add_argument("--keep", action="store_true", help="keep earlier runs of points that are not measured now")
    parser.add_argument("--write", action="store_true", help="replace docs/early-release.*")
    options = parser.parse_args()
    if options.builddir is None:
        options.builddir = builds.BUILD
        print("== building", flush=True)
        builds.build(builds.BUILD, BUILD_SECONDS, TARGETS)
    options.builddir = options.builddir.resolve()
    return options


def main():
    become_reaper()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # through `finally`
    options = parse()
    points = [point for point in POINTS if all(text in point.name for text in options.only)] if options.rounds else []
    names = {point.name for point in points}
    path = options.builddir / "reproduce-er" / "runs.csv"
    rows = [row for row in read_runs(path) if row["point"] not in names] if options.keep or not options.rounds else []
    try:
        with Bed(HOSTS, RATE) as bed:
            print(f"== measuring {len(points)} points, {options.rounds} rounds", flush=True)
            for point in points:
                rows += measure_point(bed, options.builddir, point, options.rounds)
                write_runs(path, rows)  # after each point: whoever is interrupted goes on with --only and --keep
        print_table(rows)
        if options.write:
            write_page(rows, protection_costs(options.builddir))
    except (Failed, NoBed, builds.BuildFailed) as error:
        sys.exit(f"reproduce-er: {error}")
    finally:
        kill_descendants()


main()
