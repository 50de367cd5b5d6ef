"""The page and the plots of scripts/reproduce-rd, from the file of its runs."""

from sluice_dev.base.prose import wrapped
from sluice_dev.base.provenance import RESULTS
from sluice_dev.papers import bars
from sluice_dev.papers.rd_points import (AGGRESSIVE, AS_IN_BOOKSIM2, CREDITS, DELAYS, FACTORS, NEAREST, NOTHING, NOTIFIED, READINGS,
                                         SHARE_OF_FIGURE_5, SHARES, SHARES_OF_FIGURE_4, credits, point, window)
from sluice_dev.papers.reproduction import markdown

PAGE = RESULTS / "receivers.md"
MOST = SHARE_OF_FIGURE_5
COLOURS = ("#2b6cb0", "#d69e2e", "#b8b8b8")
BARS_OF_FIGURE_1 = bars.Style(tuple(zip(("half the rate", "an eighth"), COLOURS)), step=0.1)
BARS_OF_FIGURE_4 = bars.Style(tuple(zip(("nothing", "ECN", "ECN, aggressive"), ("#b8b8b8", "#2b6cb0", "#d69e2e"))), step=0.1)
BARS_OF_FIGURE_5 = bars.Style((("RDRP, c packets", "#2b6cb0"),), step=0.1, bar_width=28)
PAPER_WITHOUT = 0.59
# From figure 5's gains, if RDRP comes to 0.58: what the best other way had.
PAPER_OTHERS = {2: 0.34, 4: 0.18, 8: 0.135}
PAPER_GAINS = {2: 1.7, 4: 3.3, 8: 4.3}
DASH = "–"


class Figures:
    def __init__(self, rows):
        self._rows = rows

    def of(self, one, column="throughput"):
        """None where that was not simulated."""
        row = self._rows.get(one.name)
        return float(row[column]) if row else None

    def best(self, factor):
        """(c, throughput) of the credits that are best."""
        found = [(number, self.of(point(NEAREST, MOST, factor, **credits(number)))) for number in CREDITS[factor]]
        return max((one for one in found if one[1] is not None), key=lambda one: one[1], default=(None, None))

    def others(self, factor):
        """The best without RDRP."""
        found = [self.of(point(NEAREST, MOST, factor, **way)) for way in (NOTHING, NOTIFIED, AGGRESSIVE)]
        return max((one for one in found if one is not None), default=None)


def shown(value, digits=3):
    return DASH if value is None else f"{value:.{digits}f}"


def percent(share):
    return f"{100 * float(share):g} %"


def comparison(figures):
    def row(what, paper, *arguments, **others):
        found = [figures.of(point(reading, *arguments, **others)) for reading in (NEAREST, AS_IN_BOOKSIM2)]
        return [what, paper, *map(shown, found)]
    rows = [row("no slow node", str(PAPER_WITHOUT))]
    rows += [row(f"1 % slow, 1/{factor} of the rate", f"about {PAPER_OTHERS[factor]} ²", MOST, factor) for factor in FACTORS]
    rows += [row("0.1 % slow, 1/8 of the rate", '"dramatic"', "0.001", 8)]
    rows += [row("no slow node, ECN", "less than without ¹", **NOTIFIED), row("no slow node, ECN aggressive", "0.35", **AGGRESSIVE)]
    rows += [row("1 % slow, 1/8, ECN", "half as much as nothing, or more ¹", MOST, 8, **NOTIFIED),
             row("1 % slow, 1/8, ECN aggressive", "half as much as nothing, or more ¹", MOST, 8, **AGGRESSIVE),
             row("1 % slow, 1/8, RDRP with c = 10", DASH, MOST, 8, **credits(10)),
             row("1 % slow, 1/8, RDRP with c = 30", "about 0.58 ²", MOST, 8, **credits(30))]
    return markdown(["slow nodes; what bounds", "paper", "nearest", "as in booksim2"], rows)


def gains(figures):
    rows = []
    for factor in FACTORS:
        number, best = figures.best(factor)
        others = figures.others(factor)
        gain = best / others if best and others else None
        rows.append([f"1/{factor}", shown(others), f"{shown(best)}, c = {number}", f"{shown(gain, 1)}", str(PAPER_GAINS[factor])])
    return markdown(["rate of slow nodes", "best without RDRP", "best RDRP", "gain", "paper"], rows)


def readings(figures):
    rows = []
    for reading in READINGS:
        without, slowed = (figures.of(point(NEAREST, share, 8, **reading.arguments)) for share in ("0", MOST))
        rows.append([reading.title, shown(without), shown(slowed), shown(slowed / without if without and slowed else None, 2)])
    at = next(index for index, reading in enumerate(READINGS) if not reading.arguments)
    rows.insert(at + 1, ["**the paper**", "**0.59**", "**about 0.135** ²", "**0.23**"])
    return markdown(["bias; what else differs", "no slow node", "1 % slow, 1/8 of the rate", "ratio"], rows)


def windows(figures):
    rows = []
    for title, share, factor, way in (
            ("none slow; nothing bounds", "0", 1, NOTHING), ("none slow; window, 10 µs", "0", 1, window(10)),
            ("1/8; nothing bounds", MOST, 8, NOTHING), ("1/8; c = 10", MOST, 8, credits(10)), ("1/8; c = 30", MOST, 8, credits(30)),
            *((f"1/8; window, {delay} µs", MOST, 8, window(delay)) for delay in DELAYS)):
        one = point(NEAREST, share, factor, **way)
        bytes_ = figures.of(one, "window")
        rows.append([title, shown(figures.of(one)), shown(figures.of(one, "worst")), shown(figures.of(one, "latency"), 0),
                     f"{bytes_ / 1024:.0f} KB" if bytes_ else DASH])
    return markdown(["1 % slow, rate; what bounds", "all", "worst fast node", "latency, cycles", "mean window"], rows)


def plots(figures):
    """Name -> SVG."""
    first = [bars.Panel("Accepted flits for each node and cycle, by share of slow nodes (figure 1)", tuple(
        bars.Group(tuple(figures.of(point(NEAREST, share, factor)) for factor in (2, 8)), (percent(share),)) for share in ("0", *SHARES)))]
    fourth = [bars.Panel(f"Slow nodes take 1/{factor} of the rate (figure 4)", tuple(
        bars.Group(tuple(figures.of(point(NEAREST, share, factor, **way)) for way in (NOTHING, NOTIFIED, AGGRESSIVE)), (percent(share),))
        for share in ("0", *SHARES_OF_FIGURE_4))) for factor in FACTORS]
    fifth = [bars.Panel(f"1 % take 1/{factor} of the rate, by c (figure 5)", tuple(
        bars.Group((figures.of(point(NEAREST, MOST, factor, **credits(number))),), (str(number),)) for number in CREDITS[factor]))
        for factor in FACTORS]
    return {"receivers-slow": bars.plot(first, BARS_OF_FIGURE_1), "receivers-ecn": bars.plot(fourth, BARS_OF_FIGURE_4),
            "receivers-rdrp": bars.plot(fifth, BARS_OF_FIGURE_5)}


TEXT = """# Slow receivers in a large network

Written by `scripts/reproduce-rd --builddir build --write`. A simulation, the same on every machine: [receivers.csv](receivers.csv) has
its figures. The command simulates what is missing there; all of it takes half an hour of one processor.

The receiver-driven paper (Schneider, Dinan, Flajslik, Underwood, Hoefler, section 4.1) simulates a dragonfly of 5,256 nodes in pairs, all
of whose traffic goes to the partner. A few nodes take what comes more slowly than a link brings it. Their packets stand in the network,
and others wait behind them. The paper has the figures 1, 4 and 5 for that, and tells few numbers of them.

`apps/bench/dragonfly` is Sluice's own simulation of it, with the runtime's own class `ReadWindow` at the receivers where that is said. It
is a packet at a time, where the paper's booksim2 is a flit at a time. `apps/bench/dragonfly/settings.hpp` says what the paper tells and
what is assumed. A unit test holds it to known limits on 72 and 342 nodes: an eighth from group to group by minimal routing, half by
detours, the sum of the hops without load, no packet and no credit lost.

## Which reading is the paper's

The paper's routing is progressive adaptive, with a "minimal bias of 2x" and a threshold of 30 flits. In booksim2 the minimal way is taken
if its queue is at most twice the other one, and 30. Then slow nodes cost a tenth and not three quarters. The less the minimal way
is preferred, the more ways the packets for slow nodes block. With half in place of twice the three figures with slow nodes that
follow from the text come out within a seventh. So the bias seems to have been meant, or to have worked, the other way round.

{readings}

Of 20,000 cycles from an empty network the last half counts. In each row one thing is other than in the nearest one.

## The paper's numbers

Accepted flits for each node and cycle, as the share of what the nodes' links carry.

{comparison}

¹ In figure 4; the text tells no number. ² Not told: it follows from the gains below, if RDRP comes to 0.58.

{gains}

One figure is not the paper's: without slow nodes 0.49, and not 0.59. No assumption that was tried gives 0.59 and the collapse together.
ECN helps by half where 0.1 % of the nodes take 1/4; in the paper it helps with 1/2 only. With one slow node of 1/8 its aggressive form
costs more than half, as the paper says of 1/8. Read as in booksim2 it costs a third with 1 % of 1/8. Without slow nodes that form costs 17
%, where the paper has 40 %. The best c for 1/8 is
{best_c}, where the paper has 30; 30 is 2 % behind it, and 60 gets less than half.

![By share of slow nodes](receivers-slow.svg)

One random pairing. Of the pairings, which the paper varies, nothing is said here.

![Explicit congestion notification](receivers-ecn.svg)

![RDRP by c](receivers-rdrp.svg)

RDRP here: a node has at most c packets outstanding. Word of an arrival comes back after the time of the minimal way, beside the traffic.
The paper lets regular packets carry it. So a pair would stop for good once both have sent c packets before any has arrived.

## The runtime's window in that network

`SLUICE_READ_WINDOW=auto` bounds what a process reads from all others by delay (`runtime/policy/read_window.hpp`). Here each node reads
from its partner through that class. A flit is 256 bytes and a cycle 20 ns, so that a packet is 4 KB and a link carries 100 Gbit/s. The
window learns for a millisecond; these runs have 100,000 cycles, of which the last half counts.

{windows}

With 10 µs allowed the window comes to what the best c reaches, within 3 %, and it knows no number of the network. The product allows
40 µs, because less could hold a single stream back. Then half a megabyte for each node meets buffers of 64 KB, and a fifth is lost. That
is still three times what there is without a window. c = 30 is 120 KB, or 10 µs of a link.

## One receiver behind a switch

`apps/bench/dragonfly/one_switch` is section 3.2 of the paper in the small. All senders have endless messages for one receiver, which reads
them. Links carry 12.5 GB/s, and a port of the switch holds 256 KB, first in, first out. *Each message* has four reads of 128 KB under way.
*Window* is the product's class with its 40 µs. A sink is what the receiver takes. A partner gets what its sender can send besides, over the
same link. The last three quarters of 20 ms count.

{one_receiver}

*Least sender*: its share over the mean one. *Longest wait*: of a message of 64 bytes to the receiver, beyond its time alone. A `fin`, an
`rts` and any small message wait so. *Partners*: the slowest, of what it gets without the slow receiver.

The window costs no rate where 64 senders share a fast sink, 2 % with a sink of 1/8, and 8 % behind the trunk. It frees the network: of 32 MB
under way 1.4 MB are left, and 0.1 MB with the slowest sink. There a short message waits a hundredth of the time. The partners show the
reason for the protocol. Without the window they get as much as the slow receiver takes of their sender, an eighth of a sixteenth of a
link. With it they have 87 % of what there is, and 94 % behind the trunk. A slow sender costs the others nothing either way. Slow sinks make
shares less even, as the window then holds fewer reads than there are senders.
"""


def page(rows, one_receiver):
    figures = Figures(rows)
    return wrapped(TEXT.format(one_receiver=one_receiver, comparison=comparison(figures), gains=gains(figures), readings=readings(figures),
                               windows=windows(figures), best_c=figures.best(8)[0]))


def write_page(rows, one_receiver):
    PAGE.write_text(page(rows, one_receiver))
    for name, svg in plots(Figures(rows)).items():
        (RESULTS / f"{name}.svg").write_text(svg)
