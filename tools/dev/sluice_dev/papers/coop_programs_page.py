"""The tables and the page of scripts/reproduce-coop about the paper's programs, the use of processors, and the copies of each rank."""

import datetime

from sluice_dev.base.prose import wrapped
from sluice_dev.base.provenance import RESULTS, commit, machine
from sluice_dev.papers.coop_figures import PROGRAMS_PAGE
from sluice_dev.papers.coop_page import COPIES_HEADINGS, copies_table, distances
from sluice_dev.papers.coop_plots import speedup_plot
from sluice_dev.papers.coop_points import COPIES, OVER_RPUT, PROGRAM_PATTERNS, RPUT, SIDES, USE, USE_SIDES, size_text
from sluice_dev.papers.copy_trace import DOINGS, ENDS
from sluice_dev.papers.reproduction import markdown, print_aligned, write_csv

PAGE = RESULTS / "cooperative-programs.md"
US_PER_MS = 1000

PROGRAM_HEADINGS = ("program", "ranks", "rput, ms", *(side.title for side in OVER_RPUT), "auto less than rput, %", "auto less than host, %",
                    "the paper")


def program_table(figures):
    """Speed-ups over rput; time that auto saves, of its own jobs where it is compared with the host."""
    return [(one.point.pattern.name, str(one.point.ranks), f"{one.us[RPUT.name] / US_PER_MS:.2f}",
             *(f"{one.speedup(side):.2f}" for side in OVER_RPUT), f"{100 * (1 - 1 / one.faster('auto', 'rput')):.1f}",
             f"{100 * (1 - 1 / one.over_host):.1f}, {_saved(one.over_host_within)}", one.point.pattern.paper.partition(" than")[0])
            for one in figures.all_timed(PROGRAM_PATTERNS)]


def _saved(speedups):
    low, high = (100 * (1 - 1 / speedup) for speedup in speedups)
    return f"{low:.1f} to {high:.1f}"


USE_HEADINGS = ("message", "protocol", *(f"{end} {doing}, %" for end in ENDS for doing in DOINGS))


def use_table(figures):
    return [(size_text(use.size), side.title, *(f"{figures.value(use, side, f'{end} {doing}'):.0f}" for end in ENDS for doing in DOINGS))
            for use in USE if figures.has(use, USE_SIDES) for side in USE_SIDES]


def print_programs(figures):
    for headings, rows, words in ((PROGRAM_HEADINGS, program_table(figures), 1), (USE_HEADINGS, use_table(figures), 2)):
        if rows:
            print()
            print_aligned(headings, rows, words)


TEXT = """# Cooperative rendezvous: programs, processors, copies

Written by `scripts/reproduce-coop --write{page_option}`; {date}, {machine}, {commit}. The points of this page alone:
`scripts/reproduce-coop --only graph --keep --write`, and likewise with `comd`, `ghost`, `use` and `copies`.

## Programs

`apps/patterns` has the exchanges of the three programs of the paper's section V, with what they compute between them.
They are no copies of these programs. Each trial is checked to the bit against a computation in one process.

* *graph*: a breadth-first search of a Kronecker graph with 16 edges a vertex, level by level. Pairs of vertices go to
  their owners in messages of 64 KB by `MPI_Isend`, from whoever has some. The reference implementation sends 4 KB, which
  no protocol of the paper's concerns. A sum ends each level.
* *comd*: atoms of a metal. Six faces of atoms, then of what follows from their densities, go by `MPI_Sendrecv`, one axis
  after the other. Energies are summed every ten steps.
* *ghost*: faces of 20 variables in one message for each neighbour (BSPMA), a stencil of five points, no sums, as the
  paper ran MiniGhost; it had 1,000 variables.

Weak: each rank's part has one size. Strong: the whole has. A time is that of a search, of a step (comd) or of ten (ghost)
on the slowest rank.
Columns of protocols are speed-ups over rput, of turns in one job. The paper compares its hybrid, here `auto`, with
MVAPICH2, here *rput*. *Auto less than host* is of jobs of their own, with the interval in which the median lies 95 times
in 100. Figures are medians of {rounds} rounds or more ({distances}). {remark}

{programs}

![Speed-up over rput]({stem}.svg)

The paper runs 28 processes on each node, and up to 896 in all; a processor has one. Here there are two ranks for two
processors. The problems are small, so that the check in one process takes no longer than the ranks. A load average above
two means that other jobs had the processors as well.

## What processors do

Two ranks send each other a message by turns, in blocking calls (`apps/patterns`, *echo*), with releases off and buffers
in blocks (`SLUICE_RELEASE=off`, `SLUICE_BLOCKS=on`). A message counts from the moment that both sides are in their
calls until both calls are over. Those count that took less than 1.5 times as long as the shortest: in others a processor
was taken away, which says nothing of a protocol. Of this time a side *copies* as its trace says (records `copy`). It *computes* when its
own call is over, and *polls* for the rest. Figures 2, 5 and 6 of the paper say the same of its three protocols: the
side that does not copy polls, and with COOP both copy.

{use}

## Copies of a rank

Figures 17 (b) and (c) of the paper. The stencil with {ranks} ranks, {slots} on two hosts made of namespaces
([testing.md](../testing.md)): partners on the own host need copies, those on the other one do not. {trials} steps and
10 before. Copies are large messages that a rank copied, all of them or a part (the counter in its trace). The last
columns say how far the rank is from the mean of its host that is farthest from it: in numbers of copies, and in the
time that its records `copy` add up to. The paper has COOP-load within 1 % and within 6 %. That time goes on while
another rank has the processor, and eight ranks share two of them.

{copies}

{missing}All times as they are: [{stem}.csv]({stem}.csv).
"""


def write_programs_page(figures, remark, name):
    """Of what was measured."""
    page = PAGE.with_name(f"{name}-programs.md") if name else PAGE
    timed = figures.all_timed(PROGRAM_PATTERNS)
    missing = figures.missing(PROGRAMS_PAGE)
    text = TEXT.format(missing=f"Not measured: {'; '.join(missing)}.\n\n" if missing else "", page_option=f" --page {name}" if name else "",
                       date=datetime.date.today().isoformat(), machine=machine(), commit=commit(),
                       rounds=figures.rounds(PROGRAM_PATTERNS), distances=distances(figures, PROGRAMS_PAGE), remark=remark, stem=page.stem,
                       programs=markdown(PROGRAM_HEADINGS, program_table(figures)), use=markdown(USE_HEADINGS, use_table(figures)),
                       ranks=COPIES.ranks, slots=" and ".join(map(str, COPIES.slots)), trials=COPIES.trials,
                       copies=markdown(COPIES_HEADINGS, copies_table(figures)))
    page.write_text(wrapped(text))
    if timed:
        page.with_suffix(".svg").write_text(speedup_plot(figures, PROGRAM_PATTERNS))
    write_csv(page.with_suffix(".csv"), ("program", "ranks", "bytes", *(f"{side.name}_us" for side in SIDES)),
              [(one.point.pattern.name, one.point.ranks, one.size, *(f"{one.us[side.name]:.2f}" for side in SIDES)) for one in timed])
