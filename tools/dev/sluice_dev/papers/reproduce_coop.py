"""Reproduces the figures of the cooperative-rendezvous paper (Chakraborty and others) on this machine.

    scripts/reproduce-coop                           builds, measures everything (three quarters of an hour), prints the tables
    scripts/reproduce-coop --write                   and replaces docs/results/cooperative.md, .csv and its plots; cooperative-far.* where
                                                     the processors shared no cache
    scripts/reproduce-coop --write --page NAME       docs/results/NAME.* rather than these
    scripts/reproduce-coop --only stencil --keep     measures some points and keeps the others of an earlier run
    scripts/reproduce-coop --only graph              one of the programs; likewise comd, ghost, use and copies
    scripts/reproduce-coop --rounds 0 --write        writes again what was measured before

Patterns of communication run with 2, 4 and 8 ranks on the host alone, under Sluice with every protocol forced, and with what Sluice
chooses. The host and what Sluice chooses have jobs of their own, one after the other, and more of them where it is not
plain which is ahead; the protocols take turns of a few trials within
one job. Times are medians, and the programs check every bit that they receive. Besides: how many copies each
rank of a stencil makes whose partners are partly on another host, and how long they take, from traces; how long small messages take at a
rank that has long ones; and what the processors on either side of a message do.

The exchanges of the paper's three programs (graph, comd, ghost), the use of processors (use) and the copies of each rank (copies) are on a
page of their own, docs/results/cooperative-programs.md.
"""

import argparse
import json
import os
import re
import subprocess
import tempfile

from sluice_dev.base.distance import ONE_CORE, PROGRAM, Distance
from sluice_dev.jobs.job import run_job
from sluice_dev.papers.beside_trace import BesideTrace
from sluice_dev.papers.coop_figures import COPY_TIME, PATTERNS_PAGE, PROGRAMS_PAGE, Figures
from sluice_dev.papers.coop_page import print_tables, write_page
from sluice_dev.papers.coop_points import (ALONE, AUTO, BESIDE, CHUNK_SIDES, CHUNKS, COPIES, COPIES_SIDES, HOST, POINTS, PROGRAM_POINTS, PROTOCOLS,
                                           USE, USE_SIDES, times_in, turns_in)
from sluice_dev.papers.coop_programs_page import print_programs, write_programs_page
from sluice_dev.papers.copy_trace import CopyTrace
from sluice_dev.papers.reproduction import Failed, Runs, add_options, build_directory, in_turn, run_script
from sluice_dev.testbed.bed import Bed, NoBed

ROUNDS = 5
PAIRS = 2  # of a job of the host and one of Sluice in a round
PAIRS_IN_DOUBT = 15  # more of them where it is not plain which is ahead
MORE_ROUNDS = 3  # times as many of turns where it is not plain whether auto is near enough to the best forced protocol
JOB_SECONDS = 120
REPORT_SECONDS = 60
COLUMNS = ("point", "side", "round", "distance", "what", "value")
PROGRAMS = ("patterns/patterns", "stencil/stencil", "beside/beside", "bench/mpi/sluice_bench")
TARGETS = ["interpose/libsluice.so", "tools/sluice", PROGRAM, *(f"apps/{program}" for program in PROGRAMS)]
CALIBRATION = "reproduce-coop/calibration"
CALIBRATIONS = 10  # tries
COUNTER = "single copies made, whole or in part"
PAGES = ((PATTERNS_PAGE, write_page, True), (PROGRAMS_PAGE, write_programs_page, False))  # points, and whether all of them are needed


def output_of(name, result):
    if not result.ok:
        raise Failed(f"{name}: {result.describe()}")
    return result.stdout


def environment_of(builddir, side):
    """With the same thresholds of copies on all sides."""
    return {**side.environment(builddir), **({"SLUICE_CALIBRATION": str(builddir / CALIBRATION)} if side.sluice else {})}


def calibrate(builddir, distance):
    """The thresholds of copies, measured at the usual distance; at another one if that is not had in several tries."""
    for _ in range(CALIBRATIONS):
        thresholds = distance.measured(lambda: measure_thresholds(builddir))
        if distance.is_usual(ONE_CORE if thresholds["one_core"] else thresholds["round_trip_ns"]):
            break
    return thresholds


def measure_thresholds(builddir):
    (builddir / CALIBRATION).parent.mkdir(exist_ok=True)
    result = subprocess.run([builddir / "tools" / "sluice", "info", "--calibrate", "--json"], capture_output=True, text=True, timeout=REPORT_SECONDS,
                            env={**os.environ, "SLUICE_CALIBRATION": str(builddir / CALIBRATION)})
    if result.returncode != 0:
        raise Failed(f"sluice info --calibrate: {result.stderr.strip()}")
    return json.loads(result.stdout)["copies"]


def described(thresholds):
    def size(name):
        return "never" if thresholds[name] is None else f"{thresholds[name] / 1024:.0f} KB"
    return (f"Thresholds measured at {thresholds['round_trip_ns']} ns: both sides copy from {size('coop_bytes')} on, "
            f"into a buffer that only its receiver uses from "
            f"{size('coop_own_bytes')} on; streaming stores into a peer from {size('streaming_bytes')} on. "
            f"The load average of that quarter of an hour was {os.getloadavg()[2]:.1f}.")


def remark_on(runs, chosen, options, thresholds):
    """What holds for all points, and after it what holds for those that were measured again."""
    if not chosen:
        return ""
    if not options.keep:
        return described(thresholds)
    names = "; ".join(point.name for point in chosen)
    return f"{runs.remark('')} Measured again, {options.rounds} rounds ({names}): {described(thresholds)}".lstrip()


def measure_times(builddir, point, side, jobs=None):
    """Microseconds by size; of these jobs only."""
    times = {}
    for job in jobs or point.pattern.jobs:
        result = run_job(point.pattern.command(builddir, job), point.ranks, environment_of(builddir, side), JOB_SECONDS)
        times |= times_in(output_of(f"{point.name}, {side.title}", result))
    return times


def measure_turns(builddir, point, job):
    """Microseconds of each turn, by side and size."""
    result = run_job(point.pattern.command(builddir, job, (*PROTOCOLS, AUTO)), point.ranks, environment_of(builddir, AUTO), JOB_SECONDS)
    return turns_in(output_of(f"{point.name}, in turn", result))


def measure_copies(bed, builddir, side):
    """Copies by rank, as the counters in its trace say, and how long they took, as its records do."""
    with tempfile.TemporaryDirectory(prefix="sluice-copies-") as directory:
        environment = {**environment_of(builddir, side), "SLUICE_TRACE": directory}
        result = bed.run(COPIES.command(builddir), COPIES.ranks, environment, JOB_SECONDS, slots=COPIES.slots)
        output_of(f"{COPIES.name}, {side.title}", result)
        copies = {rank: copies_in(builddir, f"{directory}/rank-{rank:06}.trace") for rank in range(COPIES.ranks)}
        times = CopyTrace(records_in(builddir, directory, "copy")).copied_us(COPIES.ranks)
        return {**copies, **{COPY_TIME.format(rank): us for rank, us in times.items()}}


def copies_in(builddir, trace):
    report = subprocess.run([builddir / "tools" / "sluice", "report", "--json", trace], capture_output=True, text=True, timeout=REPORT_SECONDS)
    if report.returncode != 0:
        raise Failed(f"sluice report: {report.stderr.strip()}")
    values = [counter["value"] for counter in json.loads(report.stdout)["counters"] if counter["name"] == COUNTER]
    if len(values) != 1:
        raise Failed(f"a trace has no counter named '{COUNTER}'")
    return values[0]


def measure_beside(builddir, beside, side):
    """Microseconds by share of the round trips, their numbers by the power of two from which on they lie, and the rate of long messages."""
    result = run_job(beside.command(builddir), beside.ranks, environment_of(builddir, side), JOB_SECONDS)
    output = output_of(f"{beside.name}, {side.title}", result)
    found = dict(re.findall(r"^(median|p90|p99|p999|longest) (\S+) us$", output, re.MULTILINE))
    found |= {f"from {lower}": count for lower, count in re.findall(r"^took (\d+) \d+ (\d+)$", output, re.MULTILINE)}
    found |= {"GB/s": rate for rate in re.findall(r"^long messages .* at (\S+) GB/s$", output, re.MULTILINE)}
    return found | (measure_pieces(builddir, beside, side) if side in beside.copies_alone else {})


def measure_pieces(builddir, beside, side):
    """Of a run with a trace: microseconds that the first rank took for a piece of a long message, by share of the pieces, and how many
    small messages more than one was copied before."""
    with tempfile.TemporaryDirectory(prefix="sluice-beside-") as directory:
        environment = {**environment_of(builddir, side), "SLUICE_TRACE": directory}
        output_of(f"{beside.name}, {side.title}, traced", run_job(beside.command(builddir), beside.ranks, environment, JOB_SECONDS))
        trace = BesideTrace(records_in(builddir, directory), beside.ranks - 1)
    pieces = trace.pieces_us()
    if not pieces or not trace.small():
        raise Failed(f"{beside.name}, {side.title}: its trace has no long message in pieces, or no small ones")
    return {**{f"piece {share}": f"{took:.2f}" for share, took in pieces.items()}, "small": trace.small(), "late": trace.late()}


def records_in(builddir, directory, *kinds):
    """Lines of JSON."""
    only = ("--kind", ",".join(kinds)) if kinds else ()
    dump = subprocess.run([builddir / "tools" / "sluice", "dump", "--json", *only, directory], capture_output=True, text=True, timeout=REPORT_SECONDS)
    if dump.returncode != 0:
        raise Failed(f"sluice dump: {dump.stderr.strip()}")
    return dump.stdout.splitlines()


def measure_use(builddir, use, side):
    """Percent of the time of messages, by side and what it does."""
    with tempfile.TemporaryDirectory(prefix="sluice-use-") as directory:
        environment = {**environment_of(builddir, side), **dict(use.settings), "SLUICE_TRACE": directory}
        output_of(f"{use.name}, {side.title}", run_job(use.command(builddir), use.ranks, environment, JOB_SECONDS))
        shares = CopyTrace(records_in(builddir, directory, "call", "copy")).shares(use.warm_up)
    if not shares:
        raise Failed(f"{use.name}, {side.title}: its trace has no messages")
    return {f"{one} {doing}": f"{percent:.2f}" for (one, doing), percent in shares.items()}


def row_of(point, side, number, distance_ns, what, value):
    return dict(zip(COLUMNS, (point.name, side, str(number), str(distance_ns), str(what), str(value))))


def rounds_of(distance, point, sides, measure, rounds):
    """The rows of all runs of a point; `measure(side)` gives values by what they are."""
    print(f"   {point.name}", flush=True)
    rows = []
    for number in range(rounds):
        for side in in_turn(sides, number):
            values, distance_ns = distance.tagged(lambda side=side: measure(side))
            rows += [row_of(point, side.name, number, distance_ns, what, value) for what, value in values.items()]
    return rows


def pairs_of(distance, builddir, point, job, numbers):
    """The rows of jobs of the host and of Sluice, one after the other. A round's number says which belong together."""
    rows = []
    for number in numbers:
        for side in in_turn((HOST, ALONE), number):
            times, ns = distance.tagged(lambda side=side: measure_times(builddir, point, side, (job,)))
            rows += [row_of(point, side.name, number, ns, size, us) for size, us in times.items()]
    return rows


def turns_in_job(distance, builddir, point, job, number):
    """The rows of a job in which the protocols take turns. A turn is a round of its own."""
    turns, ns = distance.tagged(lambda: measure_turns(builddir, point, job))
    return [row_of(point, side, f"{number}.{turn}", ns, size, us) for (side, size), all_us in turns.items() for turn, us in enumerate(all_us)]


def turns_of(distance, builddir, point, rounds):
    """The rows of a pattern, whose protocols take turns in one job."""
    print(f"   {point.name}", flush=True)
    turn_rows = {job: [] for job in point.pattern.jobs}
    pair_rows = {job: [] for job in point.pattern.jobs}
    for number in range(rounds):
        for job, rows in pair_rows.items():
            rows += pairs_of(distance, builddir, point, job, range(number * PAIRS, (number + 1) * PAIRS))
        for job, rows in turn_rows.items():
            rows += turns_in_job(distance, builddir, point, job, number)
    for job, rows in pair_rows.items():
        if Figures(rows).is_in_doubt(point):
            rows += pairs_of(distance, builddir, point, job, range(rounds * PAIRS, rounds * PAIRS + PAIRS_IN_DOUBT))
        if Figures(rows + turn_rows[job]).is_undecided(point):
            for number in range(rounds, rounds * (1 + MORE_ROUNDS)):
                turn_rows[job] += turns_in_job(distance, builddir, point, job, number)
    return [row for of_job in (*turn_rows.values(), *pair_rows.values()) for row in of_job]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser, "points", ROUNDS)
    parser.add_argument("--write", action="store_true",
                        help="replace docs/results/cooperative.*, or cooperative-far.* there where the processors shared no cache")
    parser.add_argument("--page", help="with --write: replace docs/results/PAGE.* rather than these, of another kind of machine")
    return parser.parse_args()


def reproduce():
    options = parse()
    builddir = build_directory(options, TARGETS)

    def wanted(points):
        return [point for point in points if options.rounds and all(text in point.name for text in options.only)]
    patterns, chunks, copies, beside, use = wanted((*POINTS, *PROGRAM_POINTS)), wanted([CHUNKS]), wanted([COPIES]), wanted(BESIDE), wanted(USE)
    chosen = [*patterns, *chunks, *copies, *beside, *use]
    runs = Runs(builddir / "reproduce-coop" / "runs.csv", COLUMNS, "point")
    if options.keep or not options.rounds:
        runs.keep_others({point.name for point in chosen})
    print(f"== measuring {len(chosen)} points, {options.rounds} rounds", flush=True)
    distance = Distance(builddir if chosen else None)
    thresholds = calibrate(builddir, distance) if chosen else None
    for point in patterns:
        runs.add(turns_of(distance, builddir, point, options.rounds))
    for point in chunks:
        runs.add(rounds_of(distance, point, CHUNK_SIDES, lambda side, point=point: measure_times(builddir, point, side), options.rounds))
    for point in beside:
        runs.add(rounds_of(distance, point, point.sides, lambda side, point=point: measure_beside(builddir, point, side), options.rounds))
    for point in use:
        runs.add(rounds_of(distance, point, USE_SIDES, lambda side, point=point: measure_use(builddir, point, side), options.rounds))
    if copies:
        with Bed(len(COPIES.slots)) as bed:
            runs.add(rounds_of(distance, COPIES, COPIES_SIDES, lambda side: measure_copies(bed, builddir, side), options.rounds))
    figures = Figures(runs.rows)
    print_tables(figures)
    print_programs(figures)
    remark = runs.remark(remark_on(runs, chosen, options, thresholds))
    print(remark)
    if options.write:
        write_pages(figures, remark, chosen, options.page)


def write_pages(figures, remark, chosen, name):
    """Those of which enough points are known, and some were measured now."""
    names = {point.name for point in chosen}
    touched = [page for page in PAGES if not names or any(point.name in names for point, _ in page[0])]
    known = [write for wanted, write, whole in touched if len(figures.missing(wanted)) < (1 if whole else len(wanted))]
    if not known:
        missing = dict.fromkeys(one for wanted, *_ in touched for one in figures.missing(wanted))
        raise Failed(f"--write needs figures of all points of a page; there are none of: {'; '.join(missing)}")
    for write in known:
        write(figures, remark, name)


def main():
    run_script("reproduce-coop", reproduce, NoBed)
