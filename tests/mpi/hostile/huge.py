"""Programs whose memory is in transparent huge pages: it stays there."""

import pathlib

from .program import Program

ENABLED = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")
KEEP = {"SLUICE_HUGE_PAGES": "keep"}
REPLACE = {"SLUICE_HUGE_PAGES": "replace"}
BLOCKS_ONLY = {"SLUICE_RELEASE": "off", "SLUICE_BLOCKS": "on"}


def huge_pages():
    if not ENABLED.exists():
        return "the kernel has no transparent huge pages"
    return "the machine gives no transparent huge pages" if "[never]" in ENABLED.read_text() else ""


def program(name, **fields):
    return Program(name, "huge", lacks=huge_pages, busy=True, **fields)


PROGRAMS = [
    program("huge", ranks=(2, 3), env=KEEP),
    program("huge_alone", ranks=(1,), env=KEEP, releases=False),
    program("huge_without_release", ranks=(2,), env=KEEP | BLOCKS_ONLY, releases=False),
    # Nobody counts them here, and something is released.
    program("huge_replaced", ranks=(2,), env=REPLACE, arguments=("not_wanted_any_more", "beside_a_child")),
]
