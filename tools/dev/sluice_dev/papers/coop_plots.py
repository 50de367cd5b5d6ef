"""The plots of scripts/reproduce-coop: speed-ups as in figures 13 to 17 of the paper, copies by rank, and how long small messages took."""

import statistics

from sluice_dev.papers import bars
from sluice_dev.papers.coop_points import AUTO, BESIDE, COPIES, COPIES_SIDES, HOST, OVER_RPUT, PATTERNS, SIDES, size_text

COLOURS = dict(zip((side.name for side in SIDES), ("#b8b8b8", "#c05621", "#d69e2e", "#68a063", "#6b9bd1", "#8e6bb5", "#1a365d")))
SPEEDUPS = bars.Style(tuple((side.title, COLOURS[side.name]) for side in OVER_RPUT), bar_width=13, digits=1, legend_columns=6)
COPIES_STYLE = bars.Style(tuple((side.title, COLOURS[side.name]) for side in COPIES_SIDES), step=100, bar_width=18, digits=0, line=0,
                          legend_columns=6)
SHARES = bars.Style((("host alone", COLOURS["host"]), ("rget or rput", COLOURS["rget"]), ("auto", COLOURS["auto"])),
                    step=20, digits=0, line=0)


def speedup_plot(figures, patterns=PATTERNS):
    panels = [bars.Panel(f"{pattern.name}: {pattern.title}",
                         tuple(bars.Group(tuple(one.speedup(side) for side in OVER_RPUT), (size_text(one.size), f"{one.point.ranks} ranks"))
                               for one in figures.timed(pattern))) for pattern in patterns]
    return bars.plot([panel for panel in panels if panel.groups], SPEEDUPS)


def copies_plot(figures):
    medians = {side.name: [statistics.median(of) for of in zip(*figures.copies(side))] for side in COPIES_SIDES}
    groups = tuple(bars.Group(tuple(medians[side.name][rank] for side in COPIES_SIDES), (f"rank {rank}", f"host {COPIES.host_of(rank) + 1}"))
                   for rank in range(COPIES.ranks))
    return bars.plot([bars.Panel("copies by rank", groups)], COPIES_STYLE)


def beside_plot(figures):
    panels = []
    for point in BESIDE:
        sides = (HOST, next((side for side in point.sides if side not in (HOST, AUTO)), None), AUTO)
        lowers = sorted({int(what.split()[1]) for side in point.sides for what in figures.whats(point, side) if what.startswith("from ")})
        groups = tuple(bars.Group(tuple(side and 100 * _share(figures, point, side, lower) for side in sides),
                                  (f"{lower} µs", f"to {2 * lower}")) for lower in lowers)
        panels.append(bars.Panel(f"{point.name}, percent of small messages", groups))
    return bars.plot([panel for panel in panels if panel.groups], SHARES)


def _share(figures, point, side, lower):
    counts = {what: figures.total(point, side, what) for what in figures.whats(point, side) if what.startswith("from ")}
    return counts.get(f"from {lower}", 0) / max(1, sum(counts.values()))
