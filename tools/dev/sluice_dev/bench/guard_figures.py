"""Writes docs/results/guard-figures.md from what guard_bench measures on this machine: both guards side by side.

    guard_figures --builddir DIR            prints the page
    guard_figures --builddir DIR --write    replaces docs/results/guard-figures.md

Takes about a minute. Other load shows in the figures of several threads first.
"""

import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess

from sluice_dev.base.prose import wrapped
from sluice_dev.base.provenance import RESULTS, commit, machine

PAGE = RESULTS / "guard-figures.md"
ENGINES = ("mprotect", "userfaultfd")
REPETITIONS = 5
SIZES = (1, 4, 16, 64, 256, 1024)
SIZES_IN_RUNS = (16, 64, 256, 1024)
THREADS = (1, 2, 8)

HEAD = """# Figures of the page guard

Written by `apps/bench/guard_figures --builddir build --write` from what `apps/bench/micro/guard_bench` measures; {date}, {machine}, {commit}.
All figures in µs. [page-guard.md](../page-guard.md) says what the two guards do.

`auto` chooses mprotect because of the second and the third table: the kernel maps pages for userfaultfd one by one, while it changes the
protection of a large page's parts at once. And a touch is answered by another thread, which must be woken first.

## Protecting a buffer and opening it

One release with nobody else about: what `protect`, `open` and `finish` cost together, the system calls and all questions to the kernel
included. Best of {repetitions} runs. *Single* pages are what a new buffer has; *large* ones what it has after three releases.
"""

RUNS = """
The same when the data comes in eight parts, each opened by itself.
"""

FAULT = """
## Touching a page whose data is there

From the touch until the thread goes on, when all that is missing is the answer to the fault. Median over single touches, with so many threads
that touch pages of their own. More threads than the machine has processors ({processors}) wait for each other as well.
"""

BESIDE = """
## Beside other threads

A protection change and a page fault both need the lock of the address space. A page that is closed must be forgotten by every processor that
runs a thread of the process. Protecting and opening 64 large pages, median, while other threads write to open memory, or take page faults
of the ordinary kind (touching fresh memory):
"""

VICTIM = """
The cost of such a page fault while another thread protects and opens 64 pages without a pause, median:
"""


def table(title, rows):
    lines = [f"| {title} | {' | '.join(ENGINES)} |", "|---|---|---|"]
    return "\n".join(lines + [f"| {name} | {' | '.join(cells)} |" for name, cells in rows]) + "\n"


class Measured:
    """Results of guard_bench by name."""

    def __init__(self, builddir, repetitions):
        command = [builddir / "apps/bench/micro/guard_bench", "--benchmark_format=json", f"--benchmark_repetitions={repetitions}",
                   "--benchmark_min_time=0.05", "--benchmark_filter=^(protect|fault|page_fault)"]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        self._results = {}
        for entry in json.loads(run.stdout)["benchmarks"]:
            if entry["run_type"] == "iteration" and not entry.get("error_occurred"):
                self._results.setdefault(entry["run_name"].split("/iterations")[0], []).append(entry)

    def both(self, name, field="real_time", choose=statistics.median):
        """The cells of a row: `name` with each engine."""
        return [self._cell(f"{name}/userfaultfd:{engine}", field, choose) for engine in range(len(ENGINES))]

    def _cell(self, name, field, choose):
        entries = self._results.get(name)
        if not entries:
            return "-"
        microseconds = choose([entry[field] for entry in entries]) / 1000
        return f"{microseconds:.1f}" if microseconds < 100 else f"{microseconds:.0f}"


def protect_rows(measured, sizes, runs):
    for large, kind in enumerate(("single", "large")):
        for pages in sizes:
            name = f"{pages} {kind} page" + ("s" if pages > 1 else "")
            yield name, measured.both(f"protect_and_open/pages:{pages}/large:{large}/runs:{runs}", "cpu_time", min)


def beside_rows(measured):
    yield "nobody", measured.both("protect_beside/others:0/faulting:0")
    for faulting, what in enumerate(("writing", "taking page faults")):
        for others in (1, 7):
            threads = "thread" if others == 1 else "threads"
            yield f"{others} {threads} {what}", measured.both(f"protect_beside/others:{others}/faulting:{faulting}")


def page(measured):
    facts = {
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        "commit": commit(),
        "processors": os.cpu_count(),
        "repetitions": REPETITIONS,
    }
    alone = measured.both("page_fault_beside/protecting:0")[0]
    touches = [(f"{n} thread" + ("s" if n > 1 else ""), measured.both(f"fault/threads:{n}")) for n in THREADS]
    parts = [
        HEAD, table("release of", protect_rows(measured, SIZES, 1)),
        RUNS, table("release of", protect_rows(measured, SIZES_IN_RUNS, 8)),
        FAULT, table("touching", touches),
        BESIDE, table("beside", beside_rows(measured)),
        VICTIM, table("other thread", [("does nothing", [alone, alone]), ("protects", measured.both("page_fault_beside/protecting:1"))]),
    ]
    return wrapped("\n".join(part.format(**facts) for part in parts).replace("\n\n\n", "\n\n"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--builddir", type=pathlib.Path, required=True, help="meson's build directory")
    parser.add_argument("--write", action="store_true", help=f"replace docs/results/{PAGE.name}")
    parser.add_argument("--repetitions", type=int, default=REPETITIONS, help="of each benchmark (default %(default)s)")
    options = parser.parse_args()
    text = page(Measured(options.builddir, options.repetitions))
    if options.write:
        PAGE.write_text(text)
    else:
        print(text, end="")
