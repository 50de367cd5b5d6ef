"""The page of scripts/reproduce-fb."""

import datetime
import statistics

from sluice_dev.base.confidence import interval
from sluice_dev.base.prose import wrapped
from sluice_dev.base.provenance import RESULTS, commit, machine
from sluice_dev.papers.reproduction import markdown

PAGE = RESULTS / "frequent-buffers.md"
OFTEN = 8  # uses, of the thresholds that `sluice report --buffers` has

TEXT = """# Small messages from buffers that are used often

Written by `scripts/reproduce-fb --builddir build --write`; {date}, {machine}, {commit}.

The paper (Rashti and Afsahi, FB) saves the copy of a small message whose buffer comes back, as the adapter reads the program's memory.
Its figures are times over InfiniBand. Here is no such adapter, so this page tells the copies that are saved and the memory that
is registered for that. Both are exact. They come from two engines and the model of an adapter
(`tests/unit/support/model_frequent.hpp`). A unit test holds the page to them; of the spectrum it counts the first row only. Times are
told where no adapter takes part.

## Figure 4: ping-pong

10,000 round trips, each side from one buffer (`SLUICE_FREQUENT_SHARE=0`: frequent with the second use). The paper gains up to 14 % of
latency at 8 KB by the fast path, and disables the method below 128 bytes. Messages of up to 256 bytes go inline here.

{ping_pong}

## Figure 5: a spectrum of 1,000 buffers

The i-th buffer is sent i times. Registrations are what the adapter was asked for: buffers that lie back to back share pages, and one
registration serves several. The paper gains up to 12.7 %, at 8 KB.

{spectrum}

The same where a buffer is registered after a quarter of the paper's n (its table 2), by the class that decides in the runtime. *Net*
is what is left when each registration is paid: by the rule R is n times C − V, so it costs n copies.

{by_rule}

The paper's two figures fit each other by this table. Its ping-pong gains 14 % with 8 KB, and 92.3 % of that are 12.9 %; its spectrum
gains 12.7 %. By the fast path nearly nothing is left at 512 bytes, and by the other path the spectrum loses there. The paper says the
same of small messages in separate pages.

## Figures 6 to 9

| figure | the paper | here |
|---|---|---|
| 6, 7: Put and Get | close to 20 % and 17 % less; less with the spectrum | not carried over an adapter |
| 8: broadcast, scatter | over 25 % less, as several copies are saved | messages of collective calls are copied: 0 saved |
| 9: programs, time of sends | LU 18.3 %, MILC 7 %, AMG 2 %, CG under 1 % less | needs an adapter of hardware |

Of one-sided calls the table above has what the paper's n leaves of the spectrum. Inside a node Put and Get copy once, at the origin
([onesided.md](../onesided.md)).

## Tables 1 and 3: programs

`sluice report --buffers` on traces of the tree's own programs, 4 ranks each. The paper has CG, LU, AMG2006 and MILC with 16
processes: 43 to 99 % of uses are of a buffer that was used before, and 0 to 32.9 % of buffers are frequent.

{programs}

*Used before*: of small messages sent, those from a buffer that had sent one. *Used {often} times*: of buffers with messages of
more than 256 bytes. *Would be saved*: copies of such messages, if a buffer is frequent from that use on.

## Table 2: from which use on it pays

Measured as a job does (`runtime/registration/frequent_probe.hpp`), but with the model of an adapter. It pins no page and asks no
hardware, so R is the alias block alone, and n is the least that it can be here. `sluice info` tells n where there is an adapter.

{terms}

The paper has 432 to 32 for 512 bytes to 8 KB by its fast path. Its R is a registration without a block. In the soft-RoCE guest, whose
times mean nothing, `sluice info` tells n = 41800 for 512 bytes, 968 for 4 KB and 878 for 32 KB.

## Figure 3: the table of uses beside a tree

One look, ns, at buffers in random order. In the paper the time of its hash table hardly grows up to some thousands of buffers. That of
the tree does. A million buffers are in no cache.

{searches}

## What the wrapper of `free` costs

`free` tells the end of watched memory ([registration.md](../registration.md#ends-that-are-told)). While nothing is watched it is one jump
to the next `free`. A loop of `malloc` and `free` of one block, in an MPI process, {rounds} runs a side by turns; of each run the best
batch, as others share the processors. A run beside a busy half of its core takes 1.7 times as long, on
either side; hence the wide intervals, in brackets, of 95 times in 100.

{allocations}

{cost}
"""


def reuse_rows(reports):
    for name, report in reports.items():
        small, copies = report["directions"][0], report["copies"]
        often = next(each["buffers"] for each in report["frequent"] if each["from_use"] == OFTEN)
        would = {each["from_use"]: each["copies"] for each in copies["would_save"]}
        yield [name, str(small["number"]), spread(small["buffers"]), spread(small["most_uses"]), spread(small["bytes_of_most"]),
               percent(small["again"], small["number"]), percent(often, copies["buffers"]),
               percent(would[2], copies["messages"]), percent(would[OFTEN], copies["messages"])]


def spread(found):
    if not found:
        return ""
    return str(found["least"]) if found["least"] == found["most"] else f"{found['least']}–{found['most']}"


def percent(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "none"


def allocation_rows(found):
    for size, sides in found.items():
        least, most = interval(sides["sluice"], sides["host"])
        host, sluice = (statistics.median(sides[name]) for name in ("host", "sluice"))
        yield [size, f"{host:.2f}", f"{sluice:.2f}", f"{sluice / host:.3f} ({least:.3f} to {most:.3f})"]


COST = """Before, the wrapper loaded a flag and the next `free`, and called that: 12.03 and 10.80 ns for 64 bytes, 23.74 and 22.20 ns for 4 KB on
this guest, 11 and 7 % of such a loop. With 64 bytes the jump that is left takes 0.3 ns, a cycle. No wrapper in front of
`free` can do with less."""


def page(counts, times, reports, allocations):
    ping_pong, spectrum, by_rule = counts
    terms, uses, searches = times
    return wrapped(TEXT.format(
        date=datetime.date.today().isoformat(), machine=machine(), commit=commit(), ping_pong=ping_pong, spectrum=spectrum, by_rule=by_rule,
        terms=f"{terms}.\n\n{uses}", searches=searches, often=OFTEN, cost=COST,
        rounds=max((len(sides["host"]) for sides in allocations.values()), default=0),
        programs=markdown(["program", "small messages", "buffers of a rank", "uses of the most used", "its bytes", "used before",
                           f"used {OFTEN} times", "would be saved, use 2", f"use {OFTEN}"], reuse_rows(reports)),
        allocations=markdown(["bytes", "host, ns", "Sluice, ns", "ratio"], allocation_rows(allocations))))


def write_page(*found):
    PAGE.write_text(page(*found))
