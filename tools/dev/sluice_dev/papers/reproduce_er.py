"""Reproduces the figures of the early-release paper (Ke, Burtscher, Speight) over a test bed of two hosts at 1 Gbit/s.

    scripts/reproduce-er                      builds, measures everything (half an hour), prints the table
    scripts/reproduce-er --write              and replaces docs/results/early-release.md, .csv and .svg
    scripts/reproduce-er --only m3 --keep     measures some points and keeps the others of an earlier run

pes, nbody and m3 run on the host alone, under Sluice with release off, under Sluice, and with the overlap written by hand on the host
alone. Sides alternate, times are medians, and all sides of a point must have the same results, bit for bit.
"""

import argparse
import re

from sluice_dev.base.distance import PROGRAM, Distance
from sluice_dev.papers.er_page import measured, print_table, protection_costs, write_page
from sluice_dev.papers.er_points import MORE_ROUNDS, POINTS, SIDES
from sluice_dev.papers.reproduction import Failed, Runs, add_options, build_directory, in_turn, run_script
from sluice_dev.testbed.bed import Bed, NoBed

RATE = "1gbit"
HOSTS = 2
ROUNDS = 9
JOB_SECONDS = 120
COLUMNS = ("point", "side", "seconds", "computing", "check")
TARGETS = ["interpose/libsluice.so", "apps/bench/micro/guard_bench", PROGRAM, *(f"apps/{name}/{name}" for name in ("pes", "nbody", "m3"))]


def measure(bed, builddir, point, side):
    """One row of the file of runs."""
    result = bed.run(point.command(builddir, side.options), HOSTS, side.environment(builddir), JOB_SECONDS)
    if not result.ok:
        raise Failed(f"{point.name}, {side.title}: {result.describe()}")
    found = [re.search(rf"^{word} (\S+)", result.stdout, re.MULTILINE)[1] for word in ("time", "computing", "check")]
    return dict(zip(COLUMNS, (point.name, side.name, *found)))


def measure_point(bed, builddir, distance, point, rounds):
    """The rows of all its runs."""
    print(f"   {point.name}", flush=True)
    rows = []
    for number in range(rounds * MORE_ROUNDS):
        if number >= rounds and measured(rows)[0].is_known:
            break
        rows += [distance.measured(lambda side=side: measure(bed, builddir, point, side)) for side in in_turn(SIDES, number)]
    checks = {row["check"] for row in rows}
    if len(checks) != 1:
        raise Failed(f"{point.name}: results differ: {' '.join(sorted(checks))}")
    return rows


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser, "points", ROUNDS)
    parser.add_argument("--write", action="store_true", help="replace docs/results/early-release.*")
    return parser.parse_args()


def reproduce():
    options = parse()
    builddir = build_directory(options, TARGETS)
    points = [point for point in POINTS if all(text in point.name for text in options.only)] if options.rounds else []
    runs = Runs(builddir / "reproduce-er" / "runs.csv", COLUMNS, "point")
    if options.keep or not options.rounds:
        runs.keep_others({point.name for point in points})
    distance = Distance(builddir if points else None)
    with Bed(HOSTS, RATE) as bed:
        print(f"== measuring {len(points)} points, {options.rounds} rounds", flush=True)
        for point in points:
            runs.add(measure_point(bed, builddir, distance, point, options.rounds))
    print_table(runs.rows)
    remark = runs.remark(distance.described())
    print(remark)
    if options.write:
        write_page(runs.rows, remark, protection_costs(builddir))


def main():
    run_script("reproduce-er", reproduce, NoBed)
