"""Which room may know which: every include between rooms goes to a room that stands before it.

    scripts/check-layers            complains of includes that go up
    scripts/check-layers --edges    prints how many includes lead from each room to each other one
"""

import collections
import pathlib
import re
import sys

from sluice_dev.base.builds import ROOT
from sluice_dev.testing.report import Tally

INCLUDE = re.compile(r'^#include "((?:\w+/)+)\w+\.(?:hpp|h)"', re.MULTILINE)

# Ground floor first. Rooms of one line do not know each other, but for `interpose`, whose rooms are one floor.
FLOORS = (
    ("runtime/base",), ("runtime/config",), ("runtime/process",), ("runtime/copy",), ("runtime/trace",), ("runtime/alias",),
    ("runtime/guard",), ("runtime/datatype",), ("runtime/transport",), ("runtime/registration",), ("runtime/machine",),
    ("runtime/policy",), ("runtime/collective",), ("runtime/window",), ("runtime/engine",), ("runtime/rendezvous",), ("runtime/release",),
    ("runtime",),
    ("net",), ("shmem", "tcp", "verbs"),
    ("interpose", "interpose/mpi", "interpose/libc", "interpose/host", "interpose/device", "interpose/session"),
    ("tools",),
)
ONE_FLOOR = ("interpose", "tools")
# What a transport or a tool may know of the runtime; the engine's inside is none of their business.
OPEN_TO_TRANSPORTS = ("runtime/base", "runtime/config", "runtime/process", "runtime/copy", "runtime/trace", "runtime/alias", "runtime/machine",
                      "runtime/transport")
TRANSPORTS = ("net", "shmem", "tcp", "verbs")


def room_of(path):
    """The deepest room that holds the file; None outside them, as in apps and tests."""
    directory = path.parent.as_posix()
    rooms = [room for floor in FLOORS for room in floor if directory == room or directory.startswith(room + "/")]
    return max(rooms, key=len, default=None)


def floor_of(room):
    return next(index for index, floor in enumerate(FLOORS) if room in floor)


def is_allowed(one, other):
    if one == other or one.split("/")[0] == other.split("/")[0] and one.split("/")[0] in ONE_FLOOR:
        return True
    if one in TRANSPORTS and other.startswith("runtime"):
        return other in OPEN_TO_TRANSPORTS
    return floor_of(other) < floor_of(one)


def edges():
    """(file, its room, the room that it includes from)"""
    tops = sorted({room.split("/")[0] for floor in FLOORS for room in floor})
    for path in sorted(path for top in tops for path in (ROOT / top).rglob("*") if path.suffix in (".cpp", ".hpp")):
        file = path.relative_to(ROOT)
        for directory in INCLUDE.findall(path.read_text()):
            other = room_of(pathlib.PurePosixPath(directory) / "header")
            if other:
                yield file.as_posix(), room_of(file), other


def layers(_seconds=None):
    wrong = {(file, other) for file, room, other in edges() if not is_allowed(room, other)}
    complaints = [f"{file} includes from {other}" for file, other in sorted(wrong)]
    if complaints:
        print("FAIL layers; a room knows only what stands before it (layers.py):\n    " + "\n    ".join(complaints))
    return Tally(failed=1) if complaints else Tally(passed=1)


def main():
    if "--edges" in sys.argv[1:]:
        counted = collections.Counter((room, other) for _, room, other in edges() if room != other)
        for (room, other), number in sorted(counted.items()):
            print(f"{room:22} {other:22} {number:4}{'' if is_allowed(room, other) else '  up'}")
        return
    sys.exit(layers().failed)
