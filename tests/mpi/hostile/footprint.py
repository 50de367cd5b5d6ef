"""Programs that use most of a machine's memory: what each holds at most, in each of its stages, is compared with the host."""

import re

from .program import Program

HELD = re.compile(r"^HELD (\S+) (\d+) (\d+)$", re.MULTILINE)
MORE = 1.1
MORE_KB = 64 * 1024


def held_of(result):
    return {(stage, rank): int(kb) for stage, rank, kb in HELD.findall(result.stdout)}


def holds_no_more_than_on_the_host(result, reference):
    if not result.ok or not reference.ok:
        return "it did not end well"
    held, wanted = held_of(result), held_of(reference)
    if held.keys() != wanted.keys() or not wanted:
        return "stages are missing"
    return "\n".join(f"{stage} rank {rank}: {kb >> 10} MB, and {wanted[stage, rank] >> 10} MB on the host"
                     for (stage, rank), kb in held.items() if kb > MORE * wanted[stage, rank] + MORE_KB)


def stages(name, **fields):
    return Program(name, "footprint_stages", expect=holds_no_more_than_on_the_host, ranks=(2,), busy=True, **fields)


PROGRAMS = [
    stages("footprint_stages"),
    stages("footprint_stages_in_pieces", arguments=("768",)),
    stages("footprint_stages_without_release", arguments=("1024",), env={"SLUICE_RELEASE": "off"}),
    Program("footprint_untouched", expect=holds_no_more_than_on_the_host, ranks=(2,), busy=True),
    Program("footprint_fork", expect=holds_no_more_than_on_the_host, ranks=(2, 3), busy=True),
    Program("footprint_fork_contents", "footprint_fork", ranks=(2, 3), busy=True, releases=False),
]
