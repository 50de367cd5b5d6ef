"""Shows the figures of the paper on buffers that are used often (Rashti, Afsahi) as far as that is possible without an adapter.

    scripts/reproduce-fb --builddir build            prints the page
    scripts/reproduce-fb --builddir build --write    and replaces docs/results/frequent-buffers.md

Counts come from the model of an adapter, and from traces of the tree's programs, by `sluice report --buffers`. Times are those of this
machine. Takes two minutes.
"""

import argparse
import json
import pathlib
import re
import tempfile

from sluice_dev.base.processes import run
from sluice_dev.jobs.job import run_job
from sluice_dev.papers.fb_page import page, write_page
from sluice_dev.papers.reproduction import HOST, LIBRARY, Failed, Side, build_directory, in_turn, run_script

TARGETS = ["apps/bench/micro/frequent_model", "apps/bench/mpi/sluice_bench", "apps/m3/m3", "apps/nbody/nbody", "apps/pes/pes",
           "apps/stencil/stencil", "interpose/libsluice.so", "tools/sluice"]
SECONDS = 300
ROUNDS = 21
SLUICE = Side("sluice", "with Sluice", sluice=True)
# Small messages, as in the paper's table 1.
PROGRAMS = {
    "stencil": (4, ["--cells", "8", "--variables", "8", "--trials", "100"]),
    "nbody": (4, ["--particles", "128", "--iterations", "100"]),
    "pes": (4, ["--size", "256", "--columns", "512", "--iterations", "100"]),
    "m3": (4, ["--size", "32", "--iterations", "100"]),
}


def output_of(command):
    outcome = run(command, SECONDS)
    if outcome.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))}: {outcome.output}")
    return outcome.output


def job(command, ranks, environment):
    done = run_job(command, ranks, environment, SECONDS)
    if not done.ok:
        raise Failed(done.describe())
    return done.stdout


def reuse(builddir):
    """Program -> what `sluice report --buffers` tells of it."""
    found = {}
    for name, (ranks, arguments) in PROGRAMS.items():
        with tempfile.TemporaryDirectory(prefix="sluice-fb-") as trace:
            settings = {"SLUICE_TRACE": trace, "SLUICE_CALIBRATION": "off", "LD_PRELOAD": str(builddir / LIBRARY)}
            job([builddir / "apps" / name / name, *arguments], ranks, settings)
            found[name] = json.loads(output_of([builddir / "tools" / "sluice", "report", "--buffers", "--json", trace]))
    return found


def allocations(builddir, rounds):
    """Bytes -> side -> ns for malloc and free, one value for each round."""
    found = {}
    for number in range(rounds):
        for side in in_turn((HOST, SLUICE), number):
            printed = job([builddir / "apps" / "bench" / "mpi" / "sluice_bench", "allocations"], 1, side.environment(builddir))
            for size, value in re.findall(r"^allocations/(\S+) (\S+) ns$", printed, re.MULTILINE):
                found.setdefault(size, {}).setdefault(side.name, []).append(float(value))
    return found


def reproduce():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--builddir", type=pathlib.Path, help="what is measured (default: build, which is built first)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="runs of each side with allocations (default %(default)s)")
    parser.add_argument("--write", action="store_true", help="replace docs/results/frequent-buffers.md")
    options = parser.parse_args()
    builddir = build_directory(options, TARGETS)
    model = builddir / "apps" / "bench" / "micro" / "frequent_model"
    counts = output_of([model]).strip().split("\n\n")
    times = output_of([model, "times"]).strip().split("\n\n")
    found = (counts, times, reuse(builddir), allocations(builddir, options.rounds))
    if options.write:
        write_page(*found)
    else:
        print(page(*found), end="")


def main():
    run_script("reproduce-fb", reproduce)
