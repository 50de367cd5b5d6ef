"""What events*.c say that a trace must tell, against what `sluice dump` prints, event for event."""

import json
import re
import struct

# How often they come depends on the machine's load; known_waits.c shows what waits are worth.
NOT_COUNTED = {"sleep", "helper", "progress", "copy", "waiting"}
START_NS = struct.Struct("<88xQ")  # in the file's header: docs/trace-format.md


def start_of(trace):
    """CLOCK_MONOTONIC at time 0 of what is printed; on one machine all ranks have the same clock."""
    return min(START_NS.unpack_from(file.read_bytes()[:96])[0] for file in trace.glob("*.trace"))


def cases_in(log):
    """(name, rank) -> first and last moment, and what must be told: (how often, members)."""
    cases = {(name, int(rank)): (int(begin), int(end), [])
             for name, rank, begin, end in re.findall(r"^CASE (\S+) (\d) (\d+) (\d+)$", log, re.MULTILINE)}
    for name, rank, times, members in re.findall(r"^TOLD (\S+) (\d) (\S) (.*)$", log, re.MULTILINE):
        cases[name, int(rank)][2].append((times, json.loads(members)))
    return cases


def is_of_the_case(record, parts):
    """Cases end with these calls. `parts`: (rank, operation) of what these consist of."""
    is_part = record.get("part") or (record["rank"], record.get("operation")) in parts
    return record["event"] not in NOT_COUNTED and not is_part and not record.get("at", "").startswith(("MPI_Alltoallv at ", "MPI_Barrier at "))


def agrees(record, members):
    """A text may be one of several, separated by |."""
    return all(record.get(name) in (value.split("|") if isinstance(value, str) else [value]) for name, value in members.items())


def shown(record):
    return " ".join(f"{name}={value}" for name, value in record.items() if name not in ("rank", "thread", "site", "context"))


def difference(records, expected):
    """Empty when the records are those expected, in this order."""
    rest = list(records)
    for times, members in expected:
        if times == "~":
            later = next((record for record in rest if agrees(record, members)), None)
            if later is None:
                return f"{shown(members)}: not told"
            rest.remove(later)
            continue
        found = 0
        while rest and agrees(rest[0], members) and (found == 0 or times in "+*"):
            rest.pop(0)
            found += 1
        if found == 0 and times in "1+":
            return f"{shown(members)}: not told, but {shown(rest[0]) if rest else 'nothing'}"
    return f"told besides: {shown(rest[0])}" if rest else ""


def complaints(trace, records, log):
    """One for each case and rank: its name, and what is wrong or nothing."""
    start = start_of(trace)
    parts = {(record["rank"], record["operation"]) for record in records if record["event"] == "part"}
    for (name, rank), (begin, end, expected) in cases_in(log).items():
        here = [record for record in records
                if record["rank"] == rank and begin <= record["time_ns"] + start <= end and is_of_the_case(record, parts)]
        wrong = difference(here, expected)
        yield f"{name}, rank {rank}", wrong and wrong + "\n" + "\n".join(map(shown, here))
