"""Simulates the figures of the receiver-driven paper (Schneider, Dinan, Flajslik, Underwood, Hoefler): a dragonfly with slow nodes.

    scripts/reproduce-rd --builddir build            simulates what docs/results/receivers.csv does not have, prints the page
    scripts/reproduce-rd --builddir build --write    and replaces docs/results/receivers.md and its plots
    scripts/reproduce-rd --builddir build --again    simulates everything anew (an hour of one processor)

The same figures in each run on any machine, so that what is in the file need not be simulated again while the simulation is the same.
"""

import argparse
import csv
import os
import pathlib
import re

from sluice_dev.base.processes import run
from sluice_dev.base.provenance import RESULTS
from sluice_dev.papers.rd_page import page, write_page
from sluice_dev.papers.rd_points import all_points
from sluice_dev.papers.reproduction import Failed, build_directory, run_script, write_csv

TARGETS = ["apps/bench/dragonfly/dragonfly", "apps/bench/dragonfly/one_switch"]
FILE = RESULTS / "receivers.csv"
COLUMNS = ("point", "throughput", "converged", "converged_cycles", "worst", "fast", "latency", "least_latency", "marked", "window")
RUN_SECONDS = 1800


def kept():
    if not FILE.exists():
        return {}
    with FILE.open(newline="") as file:
        return {row["point"]: row for row in csv.DictReader(file)}


def simulate(program, point):
    outcome = run([program, *point.command], RUN_SECONDS)
    if outcome.returncode != 0:
        raise Failed(f"{point.name}: {outcome.output}")
    return {"point": point.name, **dict(re.findall(r"(\w+)=(\S+)", outcome.output))}


def reproduce():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--builddir", type=pathlib.Path, help="whose simulation runs (default: build, which is built first)")
    parser.add_argument("--again", action="store_true", help="simulate what is in the file, too")
    parser.add_argument("--write", action="store_true", help="replace docs/results/receivers.md and its plots")
    options = parser.parse_args()
    programs = build_directory(options, TARGETS) / "apps" / "bench" / "dragonfly"
    program = programs / "dragonfly"
    rows = {} if options.again else kept()
    points = all_points()
    os.nice(10)
    for number, point in enumerate(points, 1):
        if point.name in rows:
            continue
        print(f"   {number} of {len(points)}: {point.name}", flush=True)
        rows[point.name] = simulate(program, point)
        write_csv(FILE, COLUMNS, [[rows[one.name][column] for column in COLUMNS] for one in points if one.name in rows])
    one_receiver = run([programs / "one_switch"], RUN_SECONDS)
    if one_receiver.returncode != 0:
        raise Failed(f"one_switch: {one_receiver.output}")
    if options.write:
        write_page(rows, one_receiver.output.strip())
    else:
        print(page(rows, one_receiver.output.strip()), end="")


def main():
    run_script("reproduce-rd", reproduce)
