"""Programs that leave a wait for a page by another way than its end (page-guard.md, Signals)."""

from .program import Program

PROGRAMS = [
    Program("exits"),
    Program("exits_without_release", "exits", env={"SLUICE_RELEASE": "off"}, releases=False),
    Program("exits_handlers", ranks=(2, 3, 4)),
    Program("exits_handlers_all", "exits_handlers", ranks=(2, 3), env={"SLUICE_COLLECTIVES": "all", "SLUICE_ONESIDED": "all"}),
]
