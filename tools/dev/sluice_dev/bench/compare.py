"""Measures programs on the host alone and under Sluice, alternately, and prints both sides with their ratio.

    apps/bench/run --builddir DIR [--quick] [--only NAME ...] [--rounds N] [--json FILE]
    apps/bench/run --builddir DIR --testbed [--rate 1gbit]    messages between two hosts made of namespaces
    apps/bench/run --builddir DIR --against OTHER.so          another build of the library in place of the host

Every figure is the median of several rounds; a round runs each side once. Ratios are Sluice divided by what it is compared
with: the host alone, or for `read_at_once` Sluice with release off; for `late_receiver` it is SLUICE_SEND_RELEASE=1 divided
by Sluice as users get it, for `traced` Sluice with a trace by Sluice without. `best` is the ratio of the best rounds,
which a busy machine disturbs less. The interval is that in which the median of the rounds' own ratios lies, 95 times in 100.
`tcp_latency` binds each rank to a processor of its own, on both sides: which of them has which one decides about a microsecond and more.
"""

import argparse
import collections
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

from sluice_dev.base.builds import LIBRARY_IN_BUILD
from sluice_dev.base.confidence import interval_of_median
from sluice_dev.base.distance import Distance
from sluice_dev.testbed.bed import Bed

PROGRAM_IN_BUILD = "apps/bench/mpi/sluice_bench"
GUARD_IN_BUILD = "apps/bench/micro/guard_bench"
JOB_SECONDS = 300

# What a side adds to the environment; None: Sluice is not there.
HOST = ("host", None)
SLUICE = ("sluice", {})
DISABLED = ("SLUICE_ENABLE=0", {"SLUICE_ENABLE": "0"})
SEND_RELEASE = ("SLUICE_SEND_RELEASE=1", {"SLUICE_SEND_RELEASE": "1"})
RELEASE_OFF = ("release off", {"SLUICE_RELEASE": "off", "SLUICE_BLOCKS": "on"})
TRACED = ("with a trace", {"SLUICE_TRACE": ""})  # the directory is made for the run

# `goals`: size (or "" for all) -> what the ratio must be, "<= 1.0" or ">= 1.5"; for late_sender the figure itself.
Measurement = collections.namedtuple("Measurement", "name title ranks arguments quick sides goals figure_is_goal bound", defaults=[False, False])

MEASUREMENTS = [
    Measurement("latency", "ping-pong, half the round trip", 2, ["ping_pong", "8,64,256,1K,4K", "0.4"],
                ["ping_pong", "8,256,1K,4K", "0.15"], (HOST, SLUICE), {"4K": "<= 0.7", "": "<= 1.0"}),
    Measurement("latency_large", "ping-pong of large messages", 2, ["ping_pong", "64K,256K,1M,4M", "0.3"],
                ["ping_pong", "64K,1M", "0.15"], (HOST, SLUICE), {}),
    Measurement("bandwidth", "windowed, one way, every page read", 2, ["bandwidth", "256K,1M,4M", "0.6"],
                ["bandwidth", "256K,1M,4M", "0.2"], (HOST, SLUICE), {"": ">= 1.5"}),
    Measurement("bidirectional", "windowed, both ways at once, every page read", 2, ["bidirectional", "16K,32K,64K,256K,1M,4M", "0.6"],
                ["bidirectional", "32K,64K,1M", "0.2"], (HOST, SLUICE), {"": ">= 1.0"}),
    Measurement("disabled", "SLUICE_ENABLE=0, latency", 2, ["ping_pong", "8,1K,64K", "0.4"], ["ping_pong", "8,1K", "0.15"],
                (HOST, DISABLED), {"": "<= 1.01"}),
    Measurement("disabled_bandwidth", "SLUICE_ENABLE=0, bandwidth", 2, ["bandwidth", "1M", "0.6"], ["bandwidth", "1M", "0.2"],
                (HOST, DISABLED), {"": ">= 0.99"}),
    Measurement("disabled_calls", "SLUICE_ENABLE=0, one send and one receive to nobody", 1, ["null_calls", "0.4"], ["null_calls", "0.1"],
                (HOST, DISABLED), {}),
    Measurement("completions", "one completion call over an array of requests", 2, ["completions", "1,16,64,1024", "300"],
                ["completions", "16,1024", "100"], (HOST, SLUICE), {"": "<= 1.2"}),
    Measurement("collectives", "program without point-to-point messages", 2, ["collectives", "1"], ["collectives", "0.3"],
                (HOST, SLUICE), {"": "<= 1.01"}),
    Measurement("halo", "program of small messages only", 2, ["halo", "64,1K", "0.7"], ["halo", "64,1K", "0.2"],
                (HOST, SLUICE), {"": "<= 1.01"}),
    Measurement("ring", "8 ranks, ring without barrier", 8, ["ring", "1K,64K,1M", "0.7"], ["ring", "1K,64K", "0.3"],
                (HOST, SLUICE), {"": "<= 1.0"}),
    Measurement("all_to_all", "8 ranks, all to all by point-to-point", 8, ["all_to_all", "1K,64K,1M", "0.7"],
                ["all_to_all", "1K,64K", "0.3"], (HOST, SLUICE), {"": "<= 1.0"}),
    Measurement("late_sender", "late sender; total divided by the longer part", 2, ["late_sender", "256K,1M,4M", "20", "25"],
                ["late_sender", "1M", "10", "11"], (HOST, SLUICE), {"": "<= 1.1"}, True),
    Measurement("read_at_once", "buffer read at once; release on and off", 2, ["read_at_once", "64K,256K,1M,4M", "100", "0.5"],
                ["read_at_once", "256K,1M", "100", "0.2"], (RELEASE_OFF, SLUICE), {"": "<= 1.02"}),
    Measurement("late_receiver", "receiver late; sends released or not", 2, ["late_receiver", "64K,256K,1M,4M", "200", "0.4"],
                ["late_receiver", "256K,1M", "200", "0.1"], (SLUICE, SEND_RELEASE), {}),
    Measurement("traced", "ping-pong with and without a trace", 2, ["ping_pong", "8,4K,64K,1M", "0.4"], ["ping_pong", "64K", "0.15"],
                (SLUICE, TRACED), {"64K": "<= 1.03"}),
    Measurement("idle", "processor time in a sleep between messages", 2, ["idle", "10"], ["idle", "3"], (HOST, SLUICE), {}),
]

# Over the test bed: the host's tcp.
BETWEEN_HOSTS = [
    Measurement("tcp_latency", "ping-pong, half the round trip", 2, ["ping_pong", "8,64,1K,4K,16K,64K", "0.4"],
                ["ping_pong", "8,1K,64K", "0.15"], (HOST, SLUICE), {"": "<= 1.0"}, bound=True),
    Measurement("tcp_latency_large", "ping-pong of large messages", 2, ["ping_pong", "256K,1M,4M", "0.6"],
                ["ping_pong", "1M", "0.3"], (HOST, SLUICE), {}),
    Measurement("tcp_bandwidth", "windowed, one way, every page read", 2, ["bandwidth", "256K,1M,4M", "0.02"],
                ["bandwidth", "1M", "0.02"], (HOST, SLUICE), {"1M": ">= 1.0", "4M": ">= 1.0"}),
]


BOUND = ["sh", "-c", 'exec taskset -c "$OMPI_COMM_WORLD_RANK" "$@"', "sh"]


def run(command, ranks, library, added, place):
    """One job in a place of its own, or over the test bed; figures by name."""
    choice = {"LD_PRELOAD": str(library), **added} if added is not None else {}
    if isinstance(place, Bed):
        job = place.run(command, ranks, choice, JOB_SECONDS)
        problem = "" if job.ok else job.describe()
    else:
        launch = ["mpirun", "--oversubscribe", "-np", str(ranks)]
        for name, value in choice.items():
            launch += ["-x", f"{name}={value}"]
        environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        job = subprocess.run([*place, *launch, *command], env=environment, capture_output=True, text=True,
                             timeout=JOB_SECONDS, stdin=subprocess.DEVNULL)
        problem = f"ended with code {job.returncode}\n{job.stdout}{job.stderr}" if job.returncode != 0 else ""
    if problem:
        raise RuntimeError(f"{' '.join(map(str, command))}: {problem}")
    words = [line.split() for line in job.stdout.splitlines()]
    return {found[0]: (float(found[1]), found[2]) for found in words if len(found) == 3}


# Protecting a buffer and opening it again: no job and no other side, but a limit. Large pages, as for a buffer in use.
PROTECTION = "protection"
PROTECTION_LIMITS = {64: 5.0, 256: 15.0}


def measure_protection(options):
    """Entries for the table: microseconds, the median of repetitions."""
    names = "|".join(f"pages:{pages}" for pages in PROTECTION_LIMITS)
    command = [str(options.guard_bench), f"--benchmark_filter=protect_and_open/({names})/large:1/runs:1/userfaultfd:0$",
               f"--benchmark_repetitions={options.rounds}", "--benchmark_format=json"]
    job = subprocess.run(command, capture_output=True, text=True, timeout=JOB_SECONDS, check=True)
    times = collections.defaultdict(list)
    for result in json.loads(job.stdout)["benchmarks"]:
        if result["run_type"] == "iteration":
            times[int(result["name"].split("pages:")[1].split("/")[0])].append(result["real_time"] / 1000)
    for pages, limit in PROTECTION_LIMITS.items():
        value = statistics.median(times[pages])
        yield {"measurement": PROTECTION, "figure": f"protect_and_open/{pages} pages", "unit": "us", "base": None, "other": "sluice",
               "base_value": None, "other_value": value, "goal": f"<= {limit:g}", "met": value <= limit}


def own_network():
    if os.geteuid() == 0 and shutil.which("unshare") and shutil.which("ip"):
        return ["unshare", "-n", "sh", "-c", 'ip link set lo up; exec "$@"', "sh"]
    return []


def measure(measurement, options, place):
    """figure -> side -> one value per round, and figure -> unit. The side that goes first changes with every round."""
    values = collections.defaultdict(lambda: collections.defaultdict(list))
    units = {}
    arguments = measurement.quick if options.quick else measurement.arguments
    for number in range(options.rounds):
        sides = measurement.sides if number % 2 == 0 else tuple(reversed(measurement.sides))
        for side, added in sides:
            if added is not None and options.library is None:
                continue
            if added and "SLUICE_TRACE" in added:
                added = {**added, "SLUICE_TRACE": options.scratch}
            command = [*(BOUND if measurement.bound else []), options.program, *arguments]
            found = options.distance.measured(lambda: run(command, measurement.ranks, options.library, added, place))
            for name, (value, unit) in found.items():
                values[name][side].append(value)
                units[name] = unit
    return values, units


def meets(value, goal):
    relation, limit = goal.split()
    return value <= float(limit) if relation == "<=" else value >= float(limit)


def row(measurement, name, sides, unit):
    """The table's row for one figure."""
    base, other = (side for side, _ in measurement.sides)
    best = max if unit == "MB/s" else min
    entry = {"measurement": measurement.name, "figure": name, "unit": unit, "base": base, "other": other}
    entry["base_value"] = statistics.median(sides[base]) if sides.get(base) else None
    entry["other_value"] = statistics.median(sides[other]) if sides.get(other) else None
    if entry["base_value"] and entry["other_value"] is not None:
        entry["ratio"] = entry["other_value"] / entry["base_value"]
        entry["best_ratio"] = best(sides[other]) / best(sides[base])
        ratios = [after / before for before, after in zip(sides[base], sides[other]) if before]
        entry["interval"] = interval_of_median(ratios) if ratios else None
    size = name.partition("/")[2]
    goal = measurement.goals.get(size, measurement.goals.get(""))
    judged = entry["other_value"] if measurement.figure_is_goal else entry.get("ratio")
    if goal and judged is not None and not (measurement.figure_is_goal and unit != "x"):
        entry["goal"] = goal
        entry["met"] = meets(judged, goal)
    return entry


def show(entry):
    def number(key, width=10):
        value = entry.get(key)
        return f"{'-' if value is None else format(value, '.4g'):>{width}}"

    goal = entry.get("goal", "")
    verdict = "" if not goal else "yes" if entry["met"] else "NO"
    interval = "{:.2f} to {:.2f}".format(*entry["interval"]) if entry.get("interval") else "-"
    print(f"  {entry['figure']:<26}{entry['unit']:>5} {number('base_value')} {number('other_value')}   {number('ratio', 7)} "
          f"{number('best_ratio', 7)}   {interval:<13} {goal:<8} {verdict}", flush=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--builddir", type=pathlib.Path, help="meson's build directory, for the program and the library")
    parser.add_argument("--library", type=pathlib.Path, help="libsluice.so")
    parser.add_argument("--program", type=pathlib.Path, help="sluice_bench")
    parser.add_argument("--rounds", type=int, help="runs of each side (default 5, with --quick 1)")
    parser.add_argument("--quick", action="store_true", help="fewer sizes, shorter, one round: less than a minute")
    parser.add_argument("--only", nargs="+", metavar="NAME", help=", ".join([m.name for m in MEASUREMENTS + BETWEEN_HOSTS] + [PROTECTION]))
    parser.add_argument("--against", type=pathlib.Path, metavar="LIBRARY", help="another libsluice.so that is measured instead of the host")
    parser.add_argument("--testbed", action="store_true", help="measure between two hosts, against the host's tcp")
    parser.add_argument("--rate", help='of the link between them, such as "1gbit" (default: as fast as the machine)')
    parser.add_argument("--json", type=pathlib.Path, help="write all figures to this file too")
    options = parser.parse_args()
    if options.builddir:
        options.program = options.program or options.builddir / PROGRAM_IN_BUILD
        library = options.builddir / LIBRARY_IN_BUILD
        options.library = options.library or (library if library.exists() else None)
    if not options.program or not options.program.exists():
        parser.error("sluice_bench not found; give --builddir or --program")
    options.program = options.program.resolve()
    options.library = options.library.resolve() if options.library else None
    if options.against and not options.against.exists():
        parser.error(f"{options.against} does not exist")
    options.guard_bench = options.builddir / GUARD_IN_BUILD if options.builddir else None
    options.rounds = options.rounds or (1 if options.quick else 5)
    return options


def main():
    options = parse()
    options.distance = Distance(options.builddir)
    with tempfile.TemporaryDirectory(prefix="sluice-bench-") as options.scratch:
        if options.testbed:
            with Bed(2, options.rate) as bed:
                failed = measure_all(options, BETWEEN_HOSTS, bed)
        else:
            failed = measure_all(options, MEASUREMENTS, own_network())
    sys.exit(1 if failed else 0)


def between_libraries(measurement, against):
    """The measurement with another library where the host was; nothing to judge."""
    other = (str(against), {"LD_PRELOAD": str(against.resolve())})
    return measurement._replace(sides=(other, SLUICE), goals={}) if measurement.sides == (HOST, SLUICE) else measurement


def wanted(measurements, options):
    for measurement in measurements:
        is_possible = options.library is not None or measurement.sides[0][1] is None
        if is_possible and (not options.only or measurement.name in options.only):
            yield measurement


def measure_all(options, measurements, place):
    """Whether something failed."""
    entries = []
    failed = False
    if options.library is None:
        print("no library: the host alone")
    print(f"{'':<33}{'base':>10} {'sluice':>10}   {'ratio':>7} {'best':>7}   {'interval':<13} goal     met")
    for measurement in wanted(measurements, options):
        if options.against:
            measurement = between_libraries(measurement, options.against)
        base, other = (side for side, _ in measurement.sides)
        print(f"{measurement.name}: {measurement.title} ({measurement.ranks} ranks; {other} against {base})")
        try:
            values, units = measure(measurement, options, place)
        except (RuntimeError, subprocess.TimeoutExpired) as problem:
            print(f"  failed: {problem}", flush=True)
            failed = True
            continue
        for name, sides in values.items():
            entries.append(row(measurement, name, sides, units[name]))
            show(entries[-1])
    if not options.testbed and options.guard_bench and options.guard_bench.exists() and (not options.only or PROTECTION in options.only):
        print(f"{PROTECTION}: protecting the pages of a buffer and opening them again (1 process)")
        for entry in measure_protection(options):
            entries.append(entry)
            show(entry)
    if options.json:
        options.json.write_text(json.dumps(entries, indent=1))
    print(options.distance.described())
    judged = [entry for entry in entries if "met" in entry]
    if judged:
        print(f"{sum(entry['met'] for entry in judged)} of {len(judged)} goals met")
    return failed
