"""Writes docs/results/halo.md: what early release hides of a halo exchange, and how much of that is left with a sum right behind it.

    halo_figures --builddir DIR                    prints the page
    halo_figures --builddir DIR --write            replaces docs/results/halo.md
    halo_figures --builddir DIR --place node       only on one node, or `hosts`: between two hosts made of namespaces

Both sides run by turns, release off and on. The page says what both programs are. Takes four minutes and wants an idle machine.
"""

import argparse
import datetime
import pathlib
import random
import statistics
import typing

from sluice_dev.base.builds import LIBRARY_IN_BUILD
from sluice_dev.base.prose import wrapped
from sluice_dev.base.provenance import RESULTS, commit, machine
from sluice_dev.bench.compare import PROGRAM_IN_BUILD, own_network, run
from sluice_dev.testbed.bed import Bed

PAGE = RESULTS / "halo.md"
RANKS = 2
ROUNDS = 5
RATE = "1gbit"
RESAMPLES = 1000
PLAIN, WITH_SUM = "faces", "faces_and_sum"

OFF = {"SLUICE_RELEASE": "off", "SLUICE_BLOCKS": "on"}
SUMS = {"the host": {"SLUICE_COLLECTIVES": "off"}, "Sluice": {}}


class Place(typing.NamedTuple):
    name: str
    title: str
    arguments: tuple  # of `sluice_bench faces`
    what: str
    sums: dict  # who makes the sum: what that adds to the environment


PLACES = (
    Place("hosts", "Two hosts", ("4M", "90", "50", "idle"),
          f"Faces of 4 MB over a link of {RATE}, one rank on each host (`tests/testbed`). The inner part is 90 ms of sleep, as where an "
          "accelerator computes, and a rank is late by 50 µs. A rank waits for data on its way. The sum's messages share "
          "the shaper's one queue with that data.",
          SUMS),
    Place("node", "One node", ("1M", "5", "1000", "idle"),
          "Faces of 1 MB by shared memory. The inner part is 5 ms of sleep, and a rank is late by 1 ms. The "
          "other one waits for it; the copy is work of the two ranks themselves. The late rank enters the sum late. So the sum "
          "waits for it, whoever makes it, and nothing of the wait can be hidden.",
          SUMS),
)

HEAD = """# A halo exchange with a sum behind it

Written by `apps/bench/halo_figures --builddir build --write`; {date}, {machine}, {commit}.

`sluice_bench faces` on two ranks: in each sweep a rank posts its receives, sends a face to both neighbours and waits for theirs. Then
comes an inner part that touches no face, and then it reads them. In each sweep another rank is late. The second program makes an
`MPI_Allreduce` of 8 bytes right behind the wait. Times are of one sweep, of the slowest rank: medians of {rounds} jobs a side, by turns, each
of twice 20 sweeps a program.

*Hidden* is what early release saves: the time with `SLUICE_RELEASE=off` less the time with it. *Kept* is hidden with the sum over hidden
without it, and in brackets where that lies 95 times in 100.
"""

TABLE = """| sum by | program | release off, ms | Sluice, ms | hidden, ms | kept |
|---|---|---|---|---|---|
"""


class Times:
    """Of one place and maker of the sum: milliseconds by program, a list for each side."""

    def __init__(self):
        self.off = {PLAIN: [], WITH_SUM: []}
        self.on = {PLAIN: [], WITH_SUM: []}

    def note(self, side, figures):
        for name, (value, _) in figures.items():
            side[name.partition("/")[0]].append(value)

    def hidden(self, program, chosen=None):
        rounds = range(len(self.on[program])) if chosen is None else chosen
        return statistics.median(self.off[program][i] for i in rounds) - statistics.median(self.on[program][i] for i in rounds)

    def kept(self, chosen=None):
        return self.hidden(WITH_SUM, chosen) / self.hidden(PLAIN, chosen)

    def interval_of_kept(self):
        """By drawing rounds again from those that were made."""
        draw = random.Random(1)
        rounds = range(len(self.on[PLAIN]))
        ratios = sorted(self.kept(draw.choices(rounds, k=len(rounds))) for _ in range(RESAMPLES))
        return ratios[RESAMPLES // 40], ratios[-RESAMPLES // 40 - 1]


def measure(place, builddir, rounds, where):
    """Maker of the sum -> Times."""
    found = {maker: Times() for maker in place.sums}
    command = [builddir / PROGRAM_IN_BUILD, "faces", *place.arguments]
    for number in range(rounds):
        for maker, added in place.sums.items():
            times = found[maker]
            sides = [(times.off, {**OFF, **added}), (times.on, added)]
            for side, choice in sides if number % 2 == 0 else reversed(sides):
                times.note(side, run(command, RANKS, builddir / LIBRARY_IN_BUILD, choice, where))
    return found


def rows(found):
    for maker, times in found.items():
        least, most = times.interval_of_kept()
        for program, title in ((PLAIN, "without"), (WITH_SUM, "with")):
            off, on = statistics.median(times.off[program]), statistics.median(times.on[program])
            kept = f"{times.kept():.2f} ({least:.2f} to {most:.2f})" if program == WITH_SUM else ""
            yield f"| {maker} | {title} | {off:.2f} | {on:.2f} | {times.hidden(program):.2f} | {kept} |"


def section(place, builddir, rounds):
    if place.name == "hosts":
        with Bed(hosts=2, rate=RATE) as bed:
            found = measure(place, builddir, rounds, bed)
    else:
        found = measure(place, builddir, rounds, own_network())
    return f"\n## {place.title}\n\n{place.what}\n\n{TABLE}" + "\n".join(rows(found)) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--builddir", type=lambda path: pathlib.Path(path).resolve(), required=True, help="meson's build directory")
    parser.add_argument("--write", action="store_true", help=f"replace docs/results/{PAGE.name}")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="jobs of each side (default %(default)s)")
    parser.add_argument("--place", choices=[place.name for place in PLACES], help="only there")
    options = parser.parse_args()
    head = HEAD.format(date=datetime.date.today().isoformat(), machine=machine(), commit=commit(), rounds=options.rounds)
    chosen = [place for place in PLACES if options.place in (None, place.name)]
    text = wrapped(head + "".join(section(place, options.builddir, options.rounds) for place in chosen))
    if options.write:
        PAGE.write_text(text)
    else:
        print(text, end="")
