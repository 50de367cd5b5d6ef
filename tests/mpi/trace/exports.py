#!/usr/bin/env python3
"""What `sluice export` writes, against the formats' rules and against `sluice dump`.

    exports.py SLUICE TRACE        exports the trace in every format; prints what is wrong, and ends with 1 if something is
    exports.py --events FILE...    checks files of trace events alone, a line for each
"""

import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile
from collections import Counter

KNOWN_PHASES = set("MXBEibesf")
SLICES = {"call", "wait", "release", "fault", "settle", "registration", "migrate", "copy", "helper", "sleep"}
SENT = {"eager", "rts"}
# Times of trace events are microseconds with three digits behind the point.
EPSILON_US = 0.0005
DRIFT = 0.001  # of clocks of different hosts


def thread_of(event):
    return event["pid"], event["tid"]


# --- the trace event format, whoever wrote the file ----------------------------------------------------------------------


def check_events(events):
    """Complaints about trace events: every begin has its end, flows pair up, times of a thread never go back, slices are nested."""
    wrong = [f"unknown phase: {event}" for event in events if event.get("ph") not in KNOWN_PHASES]
    return wrong + _check_names(events) + _check_threads(events) + _check_asynchronous(events) + _check_flows(events)


def _check_names(events):
    named = {name: {thread_of(event) for event in events if event["ph"] == "M" and event["name"] == name}
             for name in ("process_name", "thread_name")}
    processes = {process for process, _ in named["process_name"]}
    used = {thread_of(event) for event in events if event["ph"] != "M"}
    return [f"process {process} has no name" for process in sorted({process for process, _ in used} - processes)] + \
        [f"thread {thread} has no name" for thread in sorted(used - named["thread_name"])]


def _check_threads(events):
    """Slices, whether complete or of begin and end, and instants."""
    wrong = []
    last, opened = {}, {}
    for event in events:
        if event["ph"] not in "XBEi":
            continue
        thread, now = thread_of(event), event["ts"]
        if now < last.get(thread, 0):
            wrong.append(f"time goes back on thread {thread}: {event}")
        last[thread] = now
        stack = opened.setdefault(thread, [])
        while stack and stack[-1] is not None and stack[-1] <= now + EPSILON_US:
            stack.pop()
        if event["ph"] == "X":
            end = now + event["dur"]
            around = next((other for other in reversed(stack) if other is not None), None)
            if event["dur"] < 0 or (around is not None and end > around + EPSILON_US):
                wrong.append(f"does not lie within what is around it: {event}")
            stack.append(end)
        elif event["ph"] == "B":
            stack.append(None)
        elif event["ph"] == "E":
            if None not in stack:
                wrong.append(f"an end without a begin: {event}")
            else:
                while stack.pop() is not None:
                    pass
    return wrong + [f"a begin without an end on thread {thread}" for thread, stack in opened.items() if None in stack]


def _check_asynchronous(events):
    wrong = []
    begun = {}
    for event in events:
        if event["ph"] not in "be":
            continue
        key = event["cat"], event["pid"], json.dumps(event.get("id2", event.get("id")))
        if event["ph"] == "b":
            if key in begun:
                wrong.append(f"begins twice: {event}")
            begun[key] = event
        elif key not in begun:
            wrong.append(f"an end without a begin: {event}")
        else:
            begin = begun.pop(key)
            if begin["name"] != event["name"] or begin["ts"] > event["ts"]:
                wrong.append(f"not a begin and its end: {begin} {event}")
    return wrong + [f"a begin without an end: {event}" for event in begun.values()]


def _check_flows(events):
    """Each flow is one start and one finish, each within a slice of its thread that begins there."""
    wrong = []
    slices = {(*thread_of(event), event["ts"]) for event in events if event["ph"] == "X"}
    ends = {"s": {}, "f": {}}
    for event in events:
        if event["ph"] not in "sf":
            continue
        if event["id"] in ends[event["ph"]]:
            wrong.append(f"a flow with two of its ends: {event}")
        ends[event["ph"]][event["id"]] = event
        if (*thread_of(event), event["ts"]) not in slices:
            wrong.append(f"a flow ends where no slice begins: {event}")
    for number in sorted(ends["s"].keys() ^ ends["f"].keys()):
        wrong.append(f"flow {number} has one end only")
    return wrong


# --- the three formats against the records -------------------------------------------------------------------------------


def check_perfetto(events, records):
    return check_events(events) + _check_arrows(events, records) + _check_complete(events, records)


def ends_of_messages(records):
    """Numbers of messages: those that left, those that were matched."""
    sent, matched = Counter(), Counter()
    for record in records:
        rank, peer, number = record["rank"], record.get("peer"), record.get("message")
        if record.get("part"):
            continue  # of a collective call
        if record["event"] == "match":
            matched[(peer, rank, number, "put" in record["how"])] += 1
        elif (record["event"] == "post_send" and "at once" in record["how"]) or (record["event"] == "message_out" and record["kind"] in SENT):
            sent[(rank, peer, number, False)] += 1
        elif record["event"] == "message_out" and record["kind"] == "put":
            sent[(rank, peer, number, True)] += 1
    return sent, matched


def _check_arrows(events, records):
    """There is an arrow for each message of which both ends are known, from that send to that match."""
    ranks = {event["pid"]: int(event["args"]["name"].split()[1]) for event in events if event["ph"] == "M" and event["name"] == "process_name"}
    slices = {(*thread_of(event), event["ts"]): event for event in events if event["ph"] == "X" and event["cat"] == "message"}
    flows = {}
    for event in events:
        if event["ph"] in "sf":
            flows.setdefault(event["id"], {})[event["ph"]] = slices.get((*thread_of(event), event["ts"]))
    drawn, wrong = Counter(), []
    for number, flow in flows.items():
        start, finish = flow.get("s"), flow.get("f")
        if not start or not finish:
            wrong.append(f"flow {number} joins no messages: {flow}")
            continue
        key = ranks[start["pid"]], start["args"]["peer"], start["args"]["message"]
        if key != (finish["args"]["peer"], ranks[finish["pid"]], finish["args"]["message"]):
            wrong.append(f"flow {number} joins another message: {start} {finish}")
        drawn[(*key, "put" in finish["args"]["how"])] += 1
    sent, matched = ends_of_messages(records)
    if drawn != sent & matched:
        wrong.append(f"arrows: {drawn}\nmessages: {sent & matched}")
    return wrong


def _check_complete(events, records):
    """Each record is told. Closing pages is told as a slice, and their being closed as an asynchronous event; waits of one call that began
    together are one slice."""
    told = Counter(event["args"]["event"] for event in events if "event" in event.get("args", {})
                   and not (event["ph"] == "b" and event["cat"] == "release"))
    expected = Counter(record["event"] for record in records if record["event"] != "wait")
    expected["wait"] = len({(record["rank"], record["thread"], record["call"], record["time_ns"] - duration_of(record))
                            for record in records if record["event"] == "wait"})
    return [f"{told[kind]} events tell of {kind}, of which there are {expected[kind]}"
            for kind in sorted(told.keys() | expected.keys()) if told[kind] != expected[kind]]


def duration_of(record):
    return record.get("duration_ns", record.get("duration", 0))


def check_csv(path, records):
    """The same as dump, member for member; an empty field stands for a member that a record does not have."""
    text = path.read_bytes().decode()
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, strict=True))
    found = [{name: value for name, value in row.items() if value != ""} for row in rows]
    expected = [{name: str(value) for name, value in record.items() if value != ""} for record in records]
    wrong = [] if text.count("\n") == text.count("\r\n") else ["lines do not end as RFC 4180 has it"]
    wrong += [f"csv: {row}\ndump: {record}" for row, record in zip(found, expected) if row != record][:3]
    return wrong + ([] if len(found) == len(expected) else [f"{len(found)} rows, {len(expected)} records"])


class Otf2:
    """An archive as otf2-print reads it."""

    def __init__(self, directory):
        anchor = directory / "traces.otf2"
        self.wrong = []
        self.events = []  # name, location, time, the rest
        for line in self._print(anchor):
            found = re.match(r"^([A-Z][A-Z_0-9]+) +(\d+) +(\d+)  ?(.*)$", line)
            if found:
                self.events.append((found[1], int(found[2]), int(found[3]), found[4]))
        self.rank_of = {}
        for line in self._print(anchor, "-G"):
            found = re.match(r'^LOCATION +(\d+) .*Group: "rank (-?\d+)"', line)
            if found:
                self.rank_of[int(found[1])] = int(found[2])

    def _print(self, anchor, *options):
        result = subprocess.run(["otf2-print", "-Werror", *options, anchor], capture_output=True, text=True,
                                errors="replace", check=False, timeout=60)
        if result.returncode != 0 or result.stderr:
            self.wrong.append(f"otf2-print ended with {result.returncode}: {result.stderr}")
        return result.stdout.splitlines()

    def messages(self, *kinds):
        """(kind, rank, time, the other rank, tag, bytes)"""
        found = []
        for kind, location, time, rest in self.events:
            if kind in kinds:
                other = re.search(r"(?:Receiver|Sender): (\d+)", rest)
                found.append((kind, self.rank_of[location], time, int(other[1]),
                              int(re.search(r"Tag: (\d+)", rest)[1]), int(re.search(r"Length: (\d+)", rest)[1])))
        return Counter(found)

    def regions(self):
        """Counter of (rank, region, begin, end), and complaints about what is not nested."""
        found, wrong, opened = Counter(), [], {}
        for kind, location, time, rest in self.events:
            if kind not in ("ENTER", "LEAVE"):
                continue
            name = re.search(r'Region: "(.*)" <\d+>', rest)[1]
            stack = opened.setdefault(location, [])
            if kind == "ENTER":
                stack.append((name, time))
            elif not stack or stack[-1][0] != name:
                wrong.append(f"location {location} leaves {name} at {time} within {stack[-1:]}")
            else:
                found[(self.rank_of[location], name, stack.pop()[1], time)] += 1
        return found, wrong + [f"location {location} never leaves {stack}" for location, stack in opened.items() if stack]


def some_of(many):
    return list(many)[:5]


def check_calls(regions, records):
    """Calls are regions. Where clocks drift, a call's duration is its own clock's, and its begin that of rank 0's clock."""
    calls = {(record["rank"], record["at"].split(" at ")[0], record["time_ns"]): record["time_ns"] - duration_of(record)
             for record in records if record["event"] == "call" and " at " in record.get("at", "")}
    names = {name for _, name, _ in calls}
    found = {(rank, name, end): begin for rank, name, begin, end in regions if name in names}
    wrong = [] if calls.keys() == found.keys() else [f"calls: {some_of(calls.keys() ^ found.keys())}"]
    return wrong + [f"call {call} begins at {found[call]}, not at {begin}" for call, begin in calls.items()
                    if call in found and abs(found[call] - begin) > DRIFT * (call[2] - begin)]


def check_otf2(directory, records):
    archive = Otf2(directory)
    regions, wrong = archive.regions()
    wrong += check_calls(regions, records)
    sends = Counter(("MPI_SEND" if "at once" in record["how"] else "MPI_ISEND", record["rank"],
                     record["time_ns"], record["peer"], record["tag"], record["bytes"])
                    for record in records if record["event"] == "post_send")
    received = {(record["rank"], record["operation"]) for record in records if record["event"] == "post_receive"}
    receives = Counter(("MPI_IRECV", record["rank"], record["time_ns"], record["peer"], record["tag"], record["bytes"])
                       for record in records if record["event"] == "complete" and (record["rank"], record["operation"]) in received)
    wrong += archive.wrong
    for what, found, expected in (("sends", archive.messages("MPI_SEND", "MPI_ISEND"), sends),
                                  ("receives", archive.messages("MPI_IRECV"), receives)):
        if found != expected:
            wrong.append(f"{what}: not in the trace: {some_of((found - expected).items())}\n"
                         f"not in the archive: {some_of((expected - found).items())}")
    ends = Counter(kind for kind, _, _, _ in archive.events)
    parts = {(record["rank"], record["operation"]) for record in records if record["event"] == "part"}
    completed = [record for record in records if record["event"] == "complete" and (record["rank"], record["operation"]) not in parts]
    if ends["MPI_ISEND_COMPLETE"] != len(completed) - sum(receives.values()):
        wrong.append(f"ends of sends: {ends}")
    return wrong + check_collectives(ends, records)


def check_collectives(ends, records):
    """Begins and ends of blocking calls, and of the others."""
    expected = Counter()
    for record in records:
        if record["event"] in ("collective", "collective_end"):
            is_end = record["event"] == "collective_end"
            expected[("NON_BLOCKING_COLLECTIVE_" + ("COMPLETE" if is_end else "REQUEST")) if "nonblocking" in record["how"]
                     else ("MPI_COLLECTIVE_" + ("END" if is_end else "BEGIN"))] += 1
    found = Counter({kind: times for kind, times in ends.items() if "COLLECTIVE" in kind})
    return [] if found == expected else [f"collective calls: {found}, in the trace: {expected}"]


def check_all(sluice, trace):
    """Complaints by format."""
    def run(*arguments):
        result = subprocess.run([sluice, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=60)
        if result.returncode not in (0, 3):
            raise RuntimeError(f"sluice {' '.join(map(str, arguments))} ended with {result.returncode}: {result.stderr}")
        return result.stdout

    records = [json.loads(line) for line in run("dump", "--json", trace).splitlines()]
    with tempfile.TemporaryDirectory(prefix="sluice-exports-") as name:
        out = pathlib.Path(name)
        for kind, target in (("perfetto", "t.json"), ("csv", "t.csv"), ("otf2", "archive")):
            run("export", trace, "--format", kind, "--output", out / target)
        left = sorted(path.name for path in out.iterdir())
        return {"perfetto": check_perfetto(json.loads((out / "t.json").read_text())["traceEvents"], records),
                "csv": check_csv(out / "t.csv", records),
                "otf2": check_otf2(out / "archive", records),
                "files": [] if left == ["archive", "t.csv", "t.json"] else [f"left behind: {left}"],
                "records": [] if records else ["there is none"]}


def main():
    if sys.argv[1] == "--events":
        found = [check_events(json.loads(pathlib.Path(name).read_text())["traceEvents"]) for name in sys.argv[2:]]
    else:
        found = [[f"{kind}: {each}" for kind, complaints in check_all(*sys.argv[1:3]).items() for each in complaints]]
    for wrong in found:
        print("; ".join(wrong) or "as it should be")
    sys.exit(1 if any(found) else 0)


if __name__ == "__main__":
    main()
