"""The page of scripts/reproduce-rv."""

import collections
import datetime
import statistics

from sluice_dev.base.confidence import interval
from sluice_dev.base.prose import wrapped
from sluice_dev.base.provenance import RESULTS, commit, machine
from sluice_dev.papers.reproduction import HOST, markdown
from sluice_dev.papers.rv_points import COUNTED_RANKS, EAGER_LIMIT, RATE, SIDES

PAGE = RESULTS / "npb.md"
PROTOCOLS = ("rput", "getcqe", "get", "putnr", "put")
KINDS = ("rts", "rtr", "cts", "refuse", "fin", "withdraw", "withdrawn")

TEXT = """# The communication of three NAS Parallel Benchmarks

Written by `scripts/reproduce-rv --builddir build --write`; {date}, {machine}, {commit}.

RV (section 4.2.3, figure 10) runs cg, sp, ft, dt, lu and bt of NPB 3.3.1, class W, on 64 processes of four nodes. PUT takes up to
41.72 % less time than GET in waiting for rendezvous, and programs take up to 11.14 % less in all. Here is no adapter of hardware, and
there are two processors. So this page counts the messages of each protocol, and tells times over tcp, which has no such protocols.

`apps/npb` has the communication of cg, ft and lu around computations of its own. Grids of ranks, partners and messages are NPB's, and so
are the sizes of its classes; data are not. Sp, dt and bt are not built. Ft has whole planes at each rank, as NPB's layout of one
dimension; with 64 ranks NPB has two for class W. Lu posts the receives of its halo before the sweeps.

## What each protocol takes

In the soft-RoCE guest, {ranks} ranks, messages of more than {limit} bytes by rendezvous, as in the paper
(`SLUICE_EAGER_LIMIT={limit}`, `SLUICE_RELEASE=off`). All protocols and the host alone had the same results, bit for bit.

{counts}

*Large*: messages by rendezvous. *Forced*: those of them by the protocol that was asked for. Where a sender of putnr or put has waited
for an announcement in vain (`SLUICE_RTR_WAIT`), it speaks first, and the message goes by getcqe or get. *Control*: messages beside the
data, for each large one. *Second*: messages that ended with the byte that the receiver had put there, so that the sender said that they
were over. *In vain*: announcements that crossed a message. *By a look*: messages that the last byte ended, before a completion was seen.

{second}

## Times over tcp

Two hosts made of namespaces ([testing.md](../testing.md)), one rank each, joined by a link of {rate}, class W. Sides alternate,
{rounds} runs each. Times are medians, in seconds; ratios have the interval in which they lie 95 times in 100. Others used
the machine, too; before the first run its load average was {load:.1f}. All sides had the same results, bit for bit.
`SLUICE_RNDV` changes nothing over tcp: large messages are streamed there.

{times}

*Waiting*: time in calls that wait, of the rank with most of it. With early release some of it moves to touches of pages, which are
not in it. So the last column says less than the one for whole programs.

These times are no measure of the paper's figure, which compares PUT with GET over an adapter. The counts above say how many messages
PUT saves. [rendezvous-model.md](rendezvous-model.md) has what a message costs on a wire with the paper's constants.
"""


def control_messages(counts):
    return sum(counts[f"control messages, {kind}"] for kind in KINDS)


def large(counts):
    return sum(counts[f"over RDMA by {protocol}"] for protocol in (*PROTOCOLS, "rdrp"))


def count_rows(found):
    for name, by_protocol in found.items():
        for protocol, counts in by_protocol.items():
            counts = collections.Counter(counts)
            messages = large(counts)
            yield [name, protocol, str(messages), str(counts[f"over RDMA by {protocol}"]), f"{control_messages(counts) / messages:.3f}",
                   str(counts["whose last byte was the preset one"]), str(counts["in vain, as a message was on its way"]),
                   str(counts["that a look at the last byte ended"])]


def second_messages(found):
    """A sentence for each point."""
    for name, by_protocol in found.items():
        get, put = (control_messages(counts) / large(counts) for counts in (collections.Counter(by_protocol[each]) for each in ("get", "put")))
        yield f"{name}: put took {put:.3f} control messages each and get {get:.3f}, {100 * (1 - put / get):.1f} % less."


def time_rows(found):
    for name, by_side in found.items():
        host = by_side[HOST.name]
        for side in SIDES:
            runs = by_side[side.name]
            cells = [name, side.title]
            for which in (0, 1):
                mine, hosts = ([run[which] for run in of] for of in (runs, host))
                least, most = interval(mine, hosts)
                ratio = "" if side is HOST else f"{statistics.median(mine) / statistics.median(hosts):.2f} ({least:.2f} to {most:.2f})"
                cells += [f"{statistics.median(mine):.3f}", ratio]
            yield cells


def page(counts, times):
    return wrapped(TEXT.format(
        date=datetime.date.today().isoformat(), machine=machine(), commit=commit(), ranks=COUNTED_RANKS, limit=EAGER_LIMIT,
        counts=markdown(["program", "protocol", "large", "forced", "control, each", "second", "in vain", "by a look"], count_rows(counts)),
        second="\n".join(f"* {line}" for line in second_messages(counts)), rate=RATE.replace("gbit", " Gbit/s"),
        rounds=min(len(runs) for sides in times["points"].values() for runs in sides.values()), load=times["load"],
        times=markdown(["program", "side", "program, s", "over the host's", "waiting, s", "over the host's"], time_rows(times["points"]))))


def write_page(*found):
    PAGE.write_text(page(*found))
