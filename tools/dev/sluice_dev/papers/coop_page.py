"""The tables, the plots and the page of scripts/reproduce-coop, from the file of its runs."""

import datetime
import statistics

from sluice_dev.base.distance import ONE_CORE, alike
from sluice_dev.base.prose import wrapped
from sluice_dev.base.provenance import RESULTS, commit, machine
from sluice_dev.papers.beside_trace import SHARES
from sluice_dev.papers.coop_figures import PATTERNS_PAGE, WITHIN
from sluice_dev.papers.coop_plots import beside_plot, copies_plot, speedup_plot
from sluice_dev.papers.coop_points import (BESIDE, CHUNK_SIDES, CHUNKS, COPIES, COPIES_SIDES, OVER_RPUT, PATTERNS, PROTOCOLS, RPUT, SIDES, WHOLE,
                                           chunk_of, size_text)
from sluice_dev.papers.reproduction import markdown, print_aligned, write_csv

PAGE = RESULTS / "cooperative.md"
FAR_PAGE = RESULTS / "cooperative-far.md"
MAX_NEAR_NS = 300  # most_near_ns of runtime/machine/peer_distance.hpp: round trips of a line between processors that share a cache
BESIDE_SHARES = (("median", "half"), ("p90", "90 %"), ("p99", "99 %"), ("p999", "99.9 %"), ("longest", "all"))

HEADINGS = ("ranks", "message", "rput, µs", *(side.title for side in OVER_RPUT), "auto's time / best forced", "auto over host")


def table(figures, pattern):
    return [(str(one.point.ranks), size_text(one.size), f"{one.us[RPUT.name]:.0f}", *(f"{one.speedup(side):.2f}" for side in OVER_RPUT),
             f"{one.against_best:.2f}, {_range(one.against_best_within)} ({one.best_forced.title})",
             f"{one.over_host:.2f}, {_range(one.over_host_within)}")
            for one in figures.timed(pattern)]


PAPER_HEADINGS = ("pattern", "the paper", "here")


def paper_table(figures, patterns=PATTERNS):
    rows = []
    for pattern in patterns:
        timed = list(figures.timed(pattern))
        if timed:
            here = "; ".join(f"{first} {_range(one.faster(first, second) for one in timed)} times as fast as {second}"
                             for first, second in pattern.compared)
            rows.append((pattern.title, pattern.paper, here))
    if figures.has(COPIES, COPIES_SIDES):
        load = next(side for side in PROTOCOLS if side.name == "coop-load")
        rows.append(("copies of a rank, partners on two hosts", "COOP-load within 1 % of the mean of the ranks (figure 17b)",
                     f"coop-load within {figures.deviation(figures.copies(load)):.0f} % of the mean of the host's ranks, "
                     f"rput within {figures.deviation(figures.copies(RPUT)):.0f} %"))
    return rows


def _range(values):
    values = sorted(values)
    return f"{values[0]:.2f} to {values[-1]:.2f}"


def _named(one):
    return f"{one.point.name}, {size_text(one.size)}"


def _named_with_doubt(one):
    return _named(one) + _doubt(one.against_best_within[0] <= 1)


def _doubt(is_doubtful):
    return " (or not behind at all)" if is_doubtful else ""


def summary(figures):
    """What matters of all that, a line each."""
    timed = figures.all_timed()
    if not timed:
        return []
    slowest = max(timed, key=lambda one: one.against_best)
    behind = [one for one in timed if one.against_best > WITHIN]
    least = min(timed, key=lambda one: one.over_host)
    slower = [one for one in timed if one.over_host < 1]
    lines = ["auto's time divided by that of the best forced protocol: "
             f"{statistics.geometric_mean(one.against_best for one in timed):.2f} in the mean, "
             f"{slowest.against_best:.2f} at the worst point ({_named(slowest)}); above {WITHIN} at {len(behind)} of {len(timed)}"
             f"{': ' if behind else ''}{'; '.join(map(_named_with_doubt, behind))}",
             f"auto over the host alone: {statistics.geometric_mean(one.over_host for one in timed):.2f} in the mean, "
             f"{least.over_host:.2f} at the worst point ({_named(least)}); behind it at {len(slower)}{': ' if slower else ''}"
             f"{'; '.join(_named(one) + _doubt(one.over_host_within[1] >= 1) for one in slower)}"]
    for one in timed:
        way = {"bandwidth": "one way", "windows both ways": "both ways"}.get(one.point.pattern.name)
        if way and one.size >= 1 << 20:
            lines.append(f"windows {way}, {size_text(one.size)}: coop {one.faster('coop', 'host'):.2f} and auto {one.over_host:.2f} times the host's "
                         f"bandwidth, {one.over_single('coop'):.2f} and {one.over_single('auto'):.2f} times the better one of rput and rget")
    return lines


CHUNKS_HEADINGS = ("message", "whole, µs", *(size_text(chunk_of(side)) for side in CHUNK_SIDES if chunk_of(side) not in (None, WHOLE)), "auto")


def chunks_table(figures):
    """Speed-ups over copies that are not cut."""
    if not figures.has(CHUNKS, CHUNK_SIDES):
        return []
    whole = next(side for side in CHUNK_SIDES if chunk_of(side) == WHOLE)
    shown = [*(side for side in CHUNK_SIDES if chunk_of(side) not in (None, WHOLE)), CHUNK_SIDES[0]]
    rows = []
    for size in sorted(map(int, figures.whats(CHUNKS, whole))):
        us = figures.value(CHUNKS, whole, size)
        rows.append((size_text(size), f"{us:.0f}", *(f"{us / figures.value(CHUNKS, side, size):.2f}" for side in shown)))
    return rows


COPIES_HEADINGS = ("", "fewest", "most", "mean", "most less fewest of one host", "of rput's", "number, from the mean, %", "time, from the mean, %")


def copies_table(figures):
    rows = []
    if figures.has(COPIES, COPIES_SIDES):
        for side in COPIES_SIDES:
            copies = [copies for run in figures.copies(side) for copies in run]
            rows.append((side.title, f"{min(copies):.0f}", f"{max(copies):.0f}", f"{statistics.mean(copies):.0f}", f"{figures.spread(side):.0f}",
                         f"{figures.spread(side) / figures.spread(RPUT):.2f}" if figures.spread(RPUT) else "-",
                         _number(figures.deviation(figures.copies(side))), _number(figures.deviation(figures.copy_times(side)))))
    return rows


BESIDE_HEADINGS = ("small messages", "", *(f"{title}, µs" for _, title in BESIDE_SHARES), "long messages, GB/s",
                   "a chunk: half, 90 %, 99 %, µs", "waited for more than a chunk")


def beside_table(figures):
    rows = []
    for point in BESIDE:
        for side in point.sides:
            if figures.has(point, (side,)):
                rate = figures.value(point, side, "GB/s")
                pieces = [figures.value(point, side, f"piece {name}") for name, _ in SHARES]
                chunk = ", ".join(map(_number, pieces)) if all(pieces) else "-"
                small = figures.total(point, side, "small")
                late = f"{figures.total(point, side, 'late'):.0f} of {small:.0f}" if small else "-"
                rows.append((point.name, side.title, *(_number(figures.value(point, side, share)) for share, _ in BESIDE_SHARES),
                             f"{rate:.1f}" if rate else "-", chunk, late))
    return rows


def _number(value):
    return "-" if value is None else f"{value:.1f}"


def print_tables(figures, patterns=PATTERNS):
    for pattern in patterns:
        if lines := table(figures, pattern):
            print(f"\n{pattern.name}: {pattern.title}; speed-up over rput")
            print_aligned(HEADINGS, lines)
    for headings, lines, words in ((CHUNKS_HEADINGS, chunks_table(figures), 1), (COPIES_HEADINGS, copies_table(figures), 1),
                                   (BESIDE_HEADINGS, beside_table(figures), 2),
                                   (PAPER_HEADINGS, paper_table(figures), 3)):
        if lines:
            print()
            print_aligned(headings, lines, words)
    print("\n" + "\n".join(summary(figures)))


TEXT = """# Cooperative rendezvous{between}

Written by `scripts/reproduce-coop --write{page_option}`; {date}, {machine}, {commit}. It builds what it needs, takes
three quarters of an hour and wants an idle machine. Some points again, with the others kept:
`scripts/reproduce-coop --only 'gather, 4' --keep --write{page_option}`.

The patterns of the cooperative-rendezvous paper (Chakraborty, Bayatpour, Hashmi, Subramoni, Panda, section IV) as
ordinary programs inside one node (`apps/patterns`, `apps/stencil`, `apps/bench`). They run on the host alone, under
Sluice with each protocol forced (`SLUICE_RNDV`, [protocols.md](../protocols.md)), and with the protocol that Sluice
chooses (`auto`). A trial begins when all ranks are there. Each writes what it sends, as a program does, sends and
receives, and reads each line of what it has received. It takes as long as its slowest rank; every bit is checked
between trials.
(The side that copies leaves lines in caches in which the other side is slow to write or to read them. That cost is part
of the message, although it shows before or after it: where a receiver reads, in the sender's next writing; where a
sender writes, in the receiver's reading. *Both ways, by pages* leaves both out.) In windows (*bandwidth*, *windows both
ways*) a word of each page is written before each message, and read after it.
Figures are medians of {rounds} rounds or more. The protocols take turns of ten trials or windows within one job, on
communicators that ask for them (hint `sluice_rndv`; three trials before each turn are not counted). auto is compared
with each of them turn by turn. The best forced one is the one that it is farthest behind of. The interval is the one in
which the median lies 95 times in 100. *Auto over host* is of jobs of their own, the host's and Sluice's one after the
other, and likewise the median of such pairs. There are more of them where the interval had 1 in it at first. There
are more rounds where that of auto's time had {within}. Two jobs
of one and the same side differ by more than 5 %. With more ranks than processors figures also say how well processors
are given to who has something to do.
A point's figures are of runs between which the processors were equally far from each other. The distance is the one
at which most were made ({distances}). {remark}

## Beside the paper

{paper}

The paper's machines have 20 to 64 cores and a rank for each; it copies by the kernel, Sluice by memory that both
processes have mapped. It gives its figures as speed-up over RPUT, and so does this page.

{summary}

![Speed-up over rput]({stem}.svg)

{patterns}

## Chunks

{chunks_title}, {chunks_ranks} ranks, `auto` with `SLUICE_COPY_CHUNK`; speed-up over copies that are not cut. The paper:
{chunks_paper}. Sluice's own chunks are what a processor copies in 10 µs.

{chunks}

## Copies of a rank

The stencil with {ranks} ranks, {slots} on two hosts made of namespaces ([testing.md](../testing.md)): partners on the
own host need copies, those on the other one do not. {trials} steps and 10 before;
copies are large messages that a rank copied, all of them or a part (the counter in its trace). The last columns say how
far the rank is from the mean of its host that is farthest from it: in numbers of copies, and in what they took.

{copies}

![Copies by rank]({stem}-copies.svg)

## Small messages beside long ones

`apps/beside`: one rank exchanges messages of 4 MB and answers small ones meanwhile; the time from a small message to
its answer, with {beside_ranks} ranks. The side that copies looks for other messages after each chunk. With a size
behind the protocol chunks are as long as that (`SLUICE_COPY_CHUNK`; 4 MB: not cut). *A chunk*: how long it took, where
the rank that answers copies all of them, from traces of runs besides (from one record of progress to the next).
*Waited for more than a chunk*: small messages of these runs that more than the chunk under way was copied before.

{beside}

![How long small messages took]({stem}-small.svg)

All figures as they are: [{stem}.csv]({stem}.csv).
"""


def _distance(group):
    return "threads of one core" if alike(group[0], ONE_CORE) else f"{group[0]:.0f} to {group[-1]:.0f} ns for a cache line there and back"


def distances(figures, wanted):
    """How many points of a page have which, as a range of nanoseconds; and how many had none at which all sides were run."""
    found = [figures.distances[point.name] for point, sides in wanted if figures.has(point, sides)]
    known = sorted(ns for ns in found if ns)
    groups = []
    for ns in known:
        if groups and alike(groups[-1][0], ns):
            groups[-1].append(ns)
        else:
            groups.append([ns])
    texts = [f"{_distance(group)}: {len(group)} points" for group in groups]
    mixed = len(found) - len(known)
    return "; ".join(texts + ([f"at no single one: {mixed}"] if mixed else []))


def are_far(figures):
    """Whether the processors shared no cache at most points."""
    known = [ns for ns in figures.distances.values() if ns]
    return bool(known) and statistics.median(known) > MAX_NEAR_NS


def page_of(figures, name):
    """And what its title says of the machine."""
    if name:
        return PAGE.with_name(f"{name}.md"), f", {machine()}"
    return (FAR_PAGE, ", processors that share no cache") if are_far(figures) else (PAGE, "")


def write_page(figures, remark, name):
    page, between = page_of(figures, name)
    patterns = "\n\n".join(f"### {pattern.name}\n\n{pattern.title[0].upper()}{pattern.title[1:]}. Speed-up over rput:\n\n"
                           f"{markdown(HEADINGS, table(figures, pattern))}" for pattern in PATTERNS)
    text = TEXT.format(within=WITHIN, between=between, page_option=f" --page {name}" if name else "", stem=page.stem,
                       date=datetime.date.today().isoformat(), machine=machine(), commit=commit(), remark=remark,
                       distances=distances(figures, PATTERNS_PAGE), rounds=figures.rounds(),
                       paper=markdown(PAPER_HEADINGS, paper_table(figures)), summary="\n".join(f"* {line}" for line in summary(figures)),
                       patterns=patterns, chunks=markdown(CHUNKS_HEADINGS, chunks_table(figures)), chunks_paper=CHUNKS.pattern.paper,
                       chunks_title=CHUNKS.pattern.title[0].upper() + CHUNKS.pattern.title[1:], chunks_ranks=CHUNKS.ranks,
                       ranks=COPIES.ranks, slots=" and ".join(map(str, COPIES.slots)), trials=COPIES.trials,
                       copies=markdown(COPIES_HEADINGS, copies_table(figures)), beside_ranks=BESIDE[0].ranks,
                       beside=markdown(BESIDE_HEADINGS, beside_table(figures)))
    page.write_text(wrapped(text))
    for suffix, drawing in (("", speedup_plot), ("-copies", copies_plot), ("-small", beside_plot)):
        page.with_name(f"{page.stem}{suffix}.svg").write_text(drawing(figures))
    write_csv(page.with_suffix(".csv"), ("pattern", "ranks", "bytes", *(f"{side.name}_us" for side in SIDES)),
              [(one.point.pattern.name, one.point.ranks, one.size, *(f"{one.us[side.name]:.2f}" for side in SIDES))
               for one in figures.all_timed()])
