"""The table, the plot and the page of scripts/reproduce-er, from the file of its runs."""

import collections
import dataclasses
import datetime
import json
import statistics
import subprocess

from sluice_dev.base.confidence import interval
from sluice_dev.base.prose import wrapped
from sluice_dev.base.provenance import RESULTS, commit, machine
from sluice_dev.papers.er_plot import plot
from sluice_dev.papers.er_points import BY_HAND, KNOWN_WITHIN, MORE_ROUNDS, POINTS, RELEASE_OFF, SIDES, SLUICE
from sluice_dev.papers.reproduction import HOST, markdown, print_aligned, write_csv

PAGE = RESULTS / "early-release.md"
LINK_BITS_PER_SECOND = 1e9
PAGE_BYTES = 4096
PROTECTED_KB = (4, 16, 64, 256)
PROTECTION_SECONDS = 120


@dataclasses.dataclass(frozen=True)
class Measured:
    """Medians of a point."""
    point: object
    seconds: dict  # by side
    computing: float  # on the host alone
    rounds: int
    interval: tuple  # of the speed-up by Sluice

    @property
    def ratio(self):
        """Computation to communication, on the host alone."""
        return self.computing / max(self.seconds[HOST.name] - self.computing, 1e-9)

    def speedup(self, side):
        return self.seconds[HOST.name] / self.seconds[side.name]

    @property
    def is_known(self):
        return self.interval[1] - self.interval[0] <= KNOWN_WITHIN

    def described(self):
        """The speed-up by Sluice, and how well it is known."""
        return f"{self.speedup(SLUICE):.2f} ({self.interval[0]:.2f} to {self.interval[1]:.2f})"

    def against_hand(self):
        return self.seconds[SLUICE.name] / self.seconds[BY_HAND.name]


def measured(rows):
    """In the order of the points; those that were not measured on all sides are left out."""
    by_point = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in rows:
        by_point[row["point"]][row["side"]].append((float(row["seconds"]), float(row["computing"])))
    found = []
    for point in POINTS:
        sides = by_point.get(point.name, {})
        if all(side.name in sides for side in SIDES):
            times = {name: [time for time, _ in runs] for name, runs in sides.items()}
            seconds = {name: statistics.median(of) for name, of in times.items()}
            computing = statistics.median(time for _, time in sides[HOST.name])
            rounds = min(len(runs) for runs in sides.values())
            found.append(Measured(point, seconds, computing, rounds, interval(times[HOST.name], times[SLUICE.name])))
    return found


HEADINGS = ("", "message", "computation / communication", "host, s", "release off", "Sluice", "by hand", "Sluice's time / by hand")


def table(points):
    return [(one.point.name, one.point.message, f"{one.ratio:.2f}", f"{one.seconds[HOST.name]:.3f}",
             f"{one.speedup(RELEASE_OFF):.2f}", one.described(), f"{one.speedup(BY_HAND):.2f}", f"{one.against_hand():.2f}") for one in points]


def summary(points):
    """What the issue asks for, one line each."""
    lines = []
    for application in dict.fromkeys(one.point.application for one in points):
        of = [one for one in points if one.point.application == application]
        best = max(of, key=lambda one: one.speedup(SLUICE))
        lines.append(f"{application}: {best.speedup(SLUICE):.2f} at its best point ({best.point.name}), "
                     f"{statistics.mean(one.speedup(SLUICE) for one in of):.2f} in the mean")
    lines.append(f"mean over all points: {statistics.mean(one.speedup(SLUICE) for one in points):.2f}")
    itself = statistics.mean(one.seconds[RELEASE_OFF.name] / one.seconds[SLUICE.name] for one in points)
    lines.append(f"of that by early release itself, against Sluice with release off: {itself:.2f} in the mean")
    worst = min(points, key=lambda one: one.speedup(SLUICE))
    lines.append(f"slowest point: {worst.described()}, {worst.point.name}")
    lines.append(f"Sluice's time divided by that of overlap by hand: {statistics.mean(one.against_hand() for one in points):.2f} in the mean")
    return lines


def print_table(rows):
    points = measured(rows)
    if not points:
        print("nothing was measured on all sides")
        return
    print_aligned(HEADINGS, table(points))
    print("\n".join(summary(points)))


def protection_costs(builddir):
    """Microseconds to protect a message's pages and to open them again, by its size in KB: of single pages and of large ones."""
    command = [builddir / "apps" / "bench" / "micro" / "guard_bench", "--benchmark_format=json", "--benchmark_repetitions=5",
               "--benchmark_min_time=0.05", "--benchmark_filter=protect_and_open/pages:[0-9]+/large:[01]/runs:1/userfaultfd:0$"]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PROTECTION_SECONDS)
    best = collections.defaultdict(lambda: float("inf"))
    for entry in json.loads(run.stdout)["benchmarks"]:
        if entry["run_type"] == "iteration" and not entry.get("error_occurred"):
            name = entry["run_name"]
            best[name] = min(best[name], entry["cpu_time"] / 1000)
    return {kb: tuple(best[f"protect_and_open/pages:{kb * 1024 // PAGE_BYTES}/large:{large}/runs:1/userfaultfd:0"] for large in (0, 1))
            for kb in PROTECTED_KB}


def protection_table(costs):
    rows = [(f"{kb} KB", f"{single:.1f}", f"{large:.1f}", f"{kb * 1024 * 8 / LINK_BITS_PER_SECOND * 1e6:.0f}")
            for kb, (single, large) in costs.items()]
    return markdown(("message", "single pages, µs", "large pages, µs", "transfer at 1 Gbit/s, µs"), rows)


TEXT = """# Early release over a network

Written by `scripts/reproduce-er --write`; {date}, {machine}, {commit}. It builds what it needs, takes half an hour and
wants an idle machine, since both hosts
and the network share its processors. One point again, with the others kept: `scripts/reproduce-er --only 'm3 --size 256' --keep --write`.

The applications of the early-release paper (Ke, Burtscher, Speight, sections 3 and 4), the same binaries on all
sides. There are two hosts made of namespaces ([testing.md](../testing.md)), one rank each, joined by a link of 1
Gbit/s. Sides alternate. Times are medians of {rounds} runs or more. The interval in which the speed-up by Sluice lies
95 times in 100 is in brackets. Where it is wider than {within}, there are up to {more} times as many runs: processors
of a virtual machine compute now faster, now slower. All sides of a
point had the same results, bit for bit. {remark} *By hand* is the program written with nonblocking
calls, messages in pieces and split computation (`--overlap=hand`), on the host alone: what rewriting it would gain.

All of them post their receives ahead and wait for whole messages (`MPI_Irecv`, `MPI_Send` or `MPI_Isend`, `MPI_Wait`;
the paper names the calls, but not where receives are posted). That, and the cost of the
numbers which m3's master collects, was chosen after first measurements: programs that posted each receive when its
data were needed, and a master with cheaper numbers, came
first. They gained 1.1 (pes), 1.1 to 1.2 (nbody) and 1.3 to 1.6 (m3) at the points that were tried. Receives posted
ahead help Sluice more than the host, whose messages move
only inside MPI calls. Of nbody, the point with 768 particles was added because it gained most of eight that were
tried when the best of the others had 1.26. That with 1024 particles and 121 properties was added because Sluice was
slower than the host there (0.79).

* **pes**: ghost rows to both neighbours; that from below is needed only at the end of the next sweep.
* **nbody**: every rank sends its particles to all others and uses theirs one block after the other, its own first. Here
a particle carries properties beside position, mass and velocity; on two
  ranks there would be too little communication otherwise.
* **m3**: a master collects a matrix (normally distributed numbers), a slave multiplies it and returns the product,
which the master looks at while the slave works on the next. Written by hand, the
  master does not wait for a product before it sends the next matrix.

Computation divided by communication is the time in computing on the host alone over the rest of its time; each
application is shown from much communication to little. Columns with the names of sides
are speed-ups over the host alone. The gain of *release off* is not early release but the way in which messages are
carried: a thread of Sluice's moves them while the program computes.

![Speed-up over the host alone](early-release.svg)

{table}

{summary}

The paper has 1.6 for m3, 1.32 for N-body and just over 1.1 for PES at their best points, 1.11 in the mean. The figures
as they are: [early-release.csv](early-release.csv).

## What protection costs beside the transfer

The paper's table 2: protecting the pages of a message and opening them again, beside the time that the message takes
on the link. With nobody else about (`apps/bench/micro/guard_bench`, mprotect, best of 5).
*Single* pages are what a new buffer has, *large* ones what it has after three releases.

{protection}

The paper has 3.0, 3.0, 3.3 and 4.5 µs.
"""


def write_page(rows, remark, costs):
    points = measured(rows)
    text = TEXT.format(date=datetime.date.today().isoformat(), machine=machine(), commit=commit(), remark=remark,
                       rounds=min(one.rounds for one in points), more=MORE_ROUNDS, within=KNOWN_WITHIN,
                       table=markdown(HEADINGS, table(points)), summary="\n".join(f"* {line}" for line in summary(points)),
                       protection=protection_table(costs))
    PAGE.write_text(wrapped(text))
    PAGE.with_suffix(".svg").write_text(plot(points))
    write_csv(PAGE.with_suffix(".csv"), ("point", "message", "computation_to_communication", *(f"{side.name}_seconds" for side in SIDES)),
              [(one.point.name, one.point.message, f"{one.ratio:.3f}", *(f"{one.seconds[side.name]:.6f}" for side in SIDES)) for one in points])
