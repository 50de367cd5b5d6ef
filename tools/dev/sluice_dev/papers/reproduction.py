"""What the scripts share that reproduce a paper's figures: the sides that are compared, the file of runs, tables."""

import csv
import dataclasses
import pathlib
import signal
import sys

from sluice_dev.base import builds
from sluice_dev.base.processes import become_reaper, kill_descendants

BUILD_SECONDS = 900
LIBRARY = pathlib.Path("interpose") / "libsluice.so"


class Failed(Exception):
    pass


@dataclasses.dataclass(frozen=True)
class Side:
    name: str
    title: str
    sluice: bool = False
    settings: tuple = ()  # variables
    options: tuple = ()  # of the program

    def environment(self, builddir):
        """What is added to that of the ranks."""
        return {**({"LD_PRELOAD": str(builddir / LIBRARY)} if self.sluice else {}), **dict(self.settings)}


HOST = Side("host", "host alone")


def in_turn(sides, number):
    """The sides of a round: none always follows the same one."""
    return sides if number % 2 == 0 else tuple(reversed(sides))


class Runs:
    """Rows of a file. `key` names the column that says what was measured."""

    def __init__(self, path, columns, key):
        self._path = path
        self._columns = columns
        self._key = key
        self.rows = []

    def remark(self, text):
        """About the machine, beside the file; that of an earlier run where there is none now."""
        path = self._path.with_suffix(".txt")
        if text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return path.read_text() if path.exists() else ""

    def keep_others(self, measured_again):
        """Takes over the rows of earlier runs, but for what is measured again."""
        if self._path.exists():
            with self._path.open(newline="") as file:
                self.rows = [row for row in csv.DictReader(file) if row[self._key] not in measured_again]

    def add(self, rows):
        """Written at once: whoever is interrupted goes on with --only and --keep."""
        self.rows += rows
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("w", newline="") as file:
            writer = csv.DictWriter(file, self._columns)
            writer.writeheader()
            writer.writerows(self.rows)


def add_options(parser, what, rounds):
    """`what`: the word for what is measured, in the plural."""
    parser.add_argument("--builddir", type=pathlib.Path, help="what is measured (default: build, which is built first)")
    parser.add_argument("--only", action="append", default=[], metavar="TEXT", help=f"only {what} whose name contains this")
    parser.add_argument("--rounds", type=int, default=rounds, help="runs of each side (default %(default)s); 0: what was kept")
    parser.add_argument("--keep", action="store_true", help=f"keep earlier runs of {what} that are not measured now")


def build_directory(options, targets):
    if options.builddir is None:
        options.builddir = builds.BUILD
        print("== building", flush=True)
        builds.build(builds.BUILD, BUILD_SECONDS, targets)
    return options.builddir.resolve()


def run_script(name, main, *expected):
    """Ends with one line when an `expected` exception says why; whatever was started is ended too."""
    become_reaper()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # through `finally`
    try:
        main()
    except (Failed, builds.BuildFailed, *expected) as error:
        sys.exit(f"{name}: {error}")
    finally:
        kill_descendants()


def print_aligned(headings, rows, words=1):
    """`words`: so many columns are text, the others numbers."""
    cells = [headings, *rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(headings))]
    for row in cells:
        print("  ".join(cell.ljust(width) if column < words else cell.rjust(width) for column, (cell, width) in enumerate(zip(row, widths))))


def markdown(headings, rows):
    lines = [f"| {' | '.join(headings)} |", "|" + "---|" * len(headings)]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows])


def write_csv(path, headings, rows):
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(headings)
        writer.writerows(rows)
