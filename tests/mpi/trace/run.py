"""A program with known waits (known_waits.c) under a trace: `sluice report` finds them, as long as the program itself measured them and for the right
reasons; `sluice export` writes what `sluice dump` tells, by the rules of each format; `sluice diff` finds nothing between a trace and itself;
the page of `sluice timeline` shows it all in a browser (timeline_page.py).
A program that logs what it does (events*.c), also with releases of sends and over TCP: `sluice dump` tells the same, event for event.
A program whose collective calls have late ranks (late_ranks.c): `sluice report` names them.
A program whose buffers come back a known number of times (reused_buffers.c): `sluice report --buffers` counts the same.
A program that waits far below in a library (call_paths.c): its own lines are told.
Clocks of ranks that differ; a trace that cannot be written.
A long trace (make_trace.cpp): `sluice report` needs little memory, and an export that is interrupted leaves nothing
behind; of 10 million records with --long, of a million otherwise."""

import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import struct
import subprocess
import tempfile
import time

from sluice_dev.jobs.job import run_job
from sluice_dev.jobs.runner import Tally, parse_options

from . import timeline_page, told
from .exports import check_all

LONG = 10_000_000
SHORT = LONG // 10
MEGABYTES = 500  # of a report of a long trace
TURNS = 3
ATTEMPTS = 6
SHARE = 0.05
EACH_NS = 50_000


def near(found, measured):
    """`measured`: a time, or the shortest and the longest that it may have been."""
    least, most = measured if isinstance(measured, tuple) else (measured, measured)
    return least - max(SHARE * least, EACH_NS * TURNS) <= found <= most + max(SHARE * most, EACH_NS * TURNS)


def sluice(options, *arguments):
    command = [options.builddir / "tools" / "sluice", *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=options.timeout)
    if result.returncode != 0:
        raise RuntimeError(f"sluice {' '.join(map(str, arguments))} ended with {result.returncode}:\n{result.stderr}")
    return result.stdout


class Case:
    """What the report says of rank 0's calls in one function of the program, and what the program says."""

    def __init__(self, name, report, output):
        self.name = name
        self.sites = [site for site in report["sites"] if site["place"].endswith(f"({name})")]
        self.in_calls, self.afterwards, entered = self._numbers("MEASURED", output)
        sent, done = self._numbers("PARTNER", output)
        # What a call would have blocked ends at some moment between these two.
        self.late_by = (sent - entered, done - entered)

    def _numbers(self, word, output):
        return [int(number) for number in re.search(rf"^{word} {self.name} (.*)$", output, re.MULTILINE)[1].split()]

    def of(self, call):
        found = [site for site in self.sites if site["call"] == call]
        if len(found) != 1:
            raise RuntimeError(f"{self.name}: {len(found)} sites of {call}: {self.sites}")
        return found[0]


class Complaint(str):
    """Empty when nothing is wrong. `short`: all that is wrong is that the program saw more time go by than the report has."""

    short = False


def as_complaint(said):
    return said if isinstance(said, Complaint) else Complaint(said)


def compare(**pairs):
    """Complaints about pairs of (what the report says, what was measured)."""
    wrong = {name: pair for name, pair in pairs.items() if not near(*pair)}
    complaint = Complaint("; ".join(f"{name}: the report says {found} ns, the program {measured} ns" for name, (found, measured) in wrong.items()))
    complaint.short = all(found < (measured[0] if isinstance(measured, tuple) else measured) for found, measured in wrong.values())
    return complaint


def late_sender(case):
    site = case.of("MPI_Recv")
    return compare(waited=(site["waited_ns"], case.in_calls), for_partner=(site["for_partner_ns"], case.in_calls), hidden=(site["hidden_ns"], 0))


def late_receiver(case):
    site = case.of("MPI_Ssend")
    return compare(waited=(site["waited_ns"], case.in_calls), for_partner=(site["for_partner_ns"], case.in_calls))


def touched_at_once(case):
    site = case.of("MPI_Recv")
    touched = sum(touch["count"] for touch in site["touched_by"] if "(touched_at_once)" in touch["where"])
    return compare(waited=(site["waited_ns"], case.in_calls), on_pages=(site["on_pages_ns"], case.afterwards),
                   would_block=(site["would_have_blocked_ns"], case.late_by)) or ("" if touched else f"touched by {site['touched_by']}")


def posted_before(case):
    site, post = case.of("MPI_Wait"), case.of("MPI_Irecv")
    return compare(waited=(site["waited_ns"], case.in_calls), on_pages=(site["on_pages_ns"], case.afterwards),
                   would_block=(site["would_have_blocked_ns"], case.late_by)) or \
        ("" if site["released"] == TURNS and post["on_pages_ns"] == 0 else f"{site}, {post}")


def never_touched(case):
    site = case.of("MPI_Recv")
    earliest, _ = case.late_by
    latest = case.in_calls + case.afterwards  # on a busy machine the helper thread may come late
    return compare(waited=(site["waited_ns"], case.in_calls), would_block=(site["would_have_blocked_ns"], (earliest, latest))) or \
        compare(hidden=(site["hidden_ns"], site["would_have_blocked_ns"] - case.in_calls - site["on_pages_ns"])) or \
        ("" if site["touched"] == 0 else "touched")


def unpacked(case):
    site = case.of("MPI_Recv")
    forced = sum(settled["count"] for settled in site["settled_by"] if settled["where"].startswith("MPI_Unpack at known_waits.c:"))
    return compare(waited=(site["waited_ns"], case.in_calls), on_pages=(site["on_pages_ns"], case.afterwards)) or \
        ("" if forced else f"settled by {site['settled_by']}")


def held_send(case):
    site = case.of("MPI_Send")
    receive = case.of("MPI_Recv")
    return compare(waited=(receive["waited_ns"], case.in_calls), held=(site["held_ns"], case.late_by)) or \
        ("" if site["held"] == TURNS else f"held {site['held']} times")


CASES = (late_sender, late_receiver, touched_at_once, posted_before, never_touched, unpacked, held_send)


def job_of(options, name, trace, *arguments, before=(), settings=None, ranks=2):
    program = options.builddir / "tests" / "mpi" / "trace" / name
    environment = {"LD_PRELOAD": str(options.library), "SLUICE_TRACE": str(trace), **(settings or {})}
    return run_job([*before, program, *arguments], ranks, environment, options.timeout)


# Of the cases in events.c, and what they want.
EVENTS = {"usual": {}, "send_release": {"SLUICE_SEND_RELEASE": "1"}, "tcp": {"SLUICE_TRANSPORTS": "tcp"}}


def check_events(options, tally, directory):
    for group, settings in EVENTS.items():
        trace = directory / group
        trace.mkdir(parents=True)
        # Who copies must not depend on what this machine measures. Cases end with calls of the host's, which end all releases.
        fixed = {"SLUICE_CALIBRATION": "off", "SLUICE_COLLECTIVES": "off"}
        job = job_of(options, "events", trace, str(trace), group, settings={**fixed, **settings})
        tally.check(f"events: the job ends well ({group})", "" if job.ok else job.describe())
        if job.ok:
            records = [json.loads(line) for line in sluice(options, "dump", "--json", trace).splitlines()]
            for name, complaint in told.complaints(trace, records, "".join(log.read_text() for log in trace.glob("log.*"))):
                tally.check(f"events: {name}", complaint)


def wait_complaints(options, job, trace):
    report = json.loads(sluice(options, "report", "--json", trace / "rank-000000.trace"))
    return {check.__name__: as_complaint(check(Case(check.__name__, report, job.stdout))) for check in CASES}


COPIED = "  bytes"  # of the summary, below the number of single copies


def copies_complaint(options, trace):
    """Each byte that a processor copied from one memory to the other is told of by one record."""
    counted = {counter["name"]: counter["value"] for counter in json.loads(sluice(options, "report", "--json", trace))["counters"]}
    copies = [json.loads(line) for line in sluice(options, "dump", "--json", "--kind", "copy", trace).splitlines()]
    told_bytes = sum(copy["bytes"] for copy in copies)
    if not copies or told_bytes != counted[COPIED]:
        return f"{len(copies)} copies of {told_bytes} bytes are told, and {counted[COPIED]} bytes were copied"
    timeless = [copy for copy in copies if copy["duration_ns"] <= 0]
    return f"{len(timeless)} of {len(copies)} took no time" if timeless else ""


def check_waits(options, tally, trace):
    """A processor that is taken away between a wait's end and the program's look at its clock lets the program see more than there
    was to report. A report that says too little for another reason does so in every run, and one that says too much at once."""
    job = job_of(options, "known_waits", trace)
    tally.check("waits: the job ends well", "" if job.ok else job.describe())
    if job.ok:
        complaints = wait_complaints(options, job, trace)
        for attempt in range(1, ATTEMPTS):
            if not any(complaint.short for complaint in complaints.values() if complaint):
                break
            again = trace.with_name(f"{trace.name}-{attempt}")
            other = job_of(options, "known_waits", again)
            later = wait_complaints(options, other, again) if other.ok else {}
            complaints = {name: later.get(name, complaint) if complaint and complaint.short else complaint
                          for name, complaint in complaints.items()}
        for name, complaint in complaints.items():
            tally.check(f"waits: {name}", complaint)
        for kind, complaints in check_all(options.builddir / "tools" / "sluice", trace).items():
            tally.check(f"export: {kind}", "\n".join(complaints))
        tally.check("copies: all bytes are told of", copies_complaint(options, trace))
        same = json.loads(sluice(options, "diff", "--json", trace, trace))
        changes = [site for table in ("sites", "peers", "protocols") for site in same[table] if site["change"] != "same"]
        tally.check("diff with itself", "" if same["sites"] and not changes else f"changes: {changes}")
        page = trace.with_suffix(".html")
        sluice(options, "timeline", trace, "--output", page)
        timeline_page.check(tally, page, [(int(rank), int(thread)) for rank, thread in threads_in(options, trace)], job.stdout)
        if options.picture:
            timeline_page.save_picture(page, options.picture)


PATH_TURNS = 8
LATE_MS = 20


OWN_LINE = re.compile(r"call_paths\.c:\d+ \((in_time|too_late)\) through path_layers\.c:\d+ \(inner\)")


def paths_cut_short(report, depth):
    """Fewer callers than there are between the program and the call: none of the program's lines is reached."""
    places = {site["place"]: site["calls"] for site in report["sites"] if site["call"] == "MPI_Recv"}
    lengths = {len(path["path"]) for path in report["paths"]}
    if len(places) != 1 or any(map(OWN_LINE.match, places)):
        return f"places: {places}"
    return "" if lengths == ({depth + 1} if depth else set()) else f"paths of {lengths}"


def paths_to_main(report):
    sites = {OWN_LINE.match(site["place"])[1]: site for site in report["sites"] if OWN_LINE.match(site["place"])}
    names = [[re.search(r"\((\w+)\)$", place)[1] for place in path["path"][:-1]] for path in report["paths"] if path["path"][-1] == "MPI_Recv"]
    if {name: site["calls"] for name, site in sites.items()} != {"in_time": PATH_TURNS, "too_late": PATH_TURNS}:
        return f"sites: {report['sites']}"
    if sites["too_late"]["waited_ns"] < 0.9 * PATH_TURNS * LATE_MS * 1_000_000:
        return f"waited: {sites['too_late']}"
    return "" if sorted(names) == [["main", line, "outer", "middle", "inner"] for line in sorted(sites)] else f"paths: {names}"


def check_paths(options, tally, directory):
    """A wait far below in a library is told under the line of the program, with SLUICE_TRACE_PATHS; without it, under the library's."""
    directory.mkdir()
    for depth in (0, 2, 24):
        trace = directory / str(depth)
        job = job_of(options, "call_paths", trace, settings={"SLUICE_TRACE_PATHS": str(depth)})
        tally.check(f"paths: the job ends well ({depth})", "" if job.ok and not job.stdout else job.describe())
        if job.ok:
            report = json.loads(sluice(options, "report", "--json", trace / "rank-000000.trace"))
            tally.check(f"paths: of {depth} callers", paths_cut_short(report, depth) if depth < 24 else paths_to_main(report))


LATE_SHARE = 0.5  # of what the others waited in all; ranks that lose their processor are late, too


def late_rank_complaint(name, late, late_ns, report):
    """`sluice report` names the rank that was late, and how long the others waited for it."""
    found = [calls for calls in report["collectives"] if calls["place"].endswith(f"({name})")]
    if len(found) != 1:
        return f"{len(found)} sites: {found}"
    calls = found[0]
    waited = {each["rank"]: each["waited_ns"] for each in calls["late"]}
    if name == "wait_later":
        hidden = 2 * late_ns  # of each of two ranks that came in time
        return "" if calls["hidden_ns"] > LATE_SHARE * hidden else f"hidden: {calls}"
    if not waited or max(waited, key=waited.get) != late:
        return f"not rank {late}: {calls}"
    return "" if waited[late] > LATE_SHARE * late_ns else f"waited: {calls}"


def parts_complaint(records, report):
    """What collective calls consist of is none of the program's own messages, of which it has none."""
    if report["peers"] or report["protocols"]:
        return f"{report['peers']} {report['protocols']}"
    own = [record for record in records if record["event"] in ("post_send", "post_receive") or record.get("part") == 0]
    parts = {(record["rank"], record["operation"]) for record in records if record["event"] == "part"}
    calls = {(record["rank"], record["operation"]) for record in records if record["event"] == "collective"}
    ends = {(record["rank"], record["operation"]) for record in records if record["event"] == "collective_end"}
    unknown = [record for record in records if record["event"] == "part" and (record["rank"], record["collective"]) not in calls]
    if own or unknown or calls != ends or not parts:
        return f"own: {own[:3]}; parts of no call: {unknown[:3]}; {len(calls)} calls, {len(ends)} ends, {len(parts)} parts"
    return ""


def check_late_ranks(options, tally, trace):
    # What is released early waits for nobody.
    job = job_of(options, "late_ranks", trace, ranks=3, settings={"SLUICE_COLLECTIVES": "all", "SLUICE_RELEASE": "off"})
    tally.check("late ranks: the job ends well", "" if job.ok else job.describe())
    if not job.ok:
        return
    report = json.loads(sluice(options, "report", "--json", trace))
    for name, late, late_ns in re.findall(r"^LATE (\w+) (\d) (\d+)$", job.stdout, re.MULTILINE):
        tally.check(f"late ranks: {name}", late_rank_complaint(name, int(late), int(late_ns), report))
    records = [json.loads(line) for line in sluice(options, "dump", "--json", trace).splitlines()]
    tally.check("late ranks: parts of calls are no messages", parts_complaint(records, report))
    for kind, complaints in check_all(options.builddir / "tools" / "sluice", trace).items():
        tally.check(f"late ranks: export, {kind}", "\n".join(complaints))
    sluice(options, "timeline", trace, "--output", trace.with_suffix(".html"))


# Of reused_buffers.c: messages, of these from buffers used before, distinct buffers; and the copies that could be saved.
SMALL_ONES, SMALL_AGAIN, SMALL_BUFFERS = 40 + 10 + 20 + 7 + 3, 39 + 9 + 6 + 2, 1 + 1 + 20 + 1 + 1
LARGE_ONES = 5
COPIES = {"messages": 40 + 10 + 20, "buffers": 22, "saved": 0}
WOULD_SAVE = {2: 39 + 9, 8: 33 + 3, 32: 9, 128: 0, 512: 0, 2048: 0}


def buffers_complaint(report, output):
    """`sluice report --buffers` counts what the program says, and what follows from its text."""
    said = {(int(rank), int(address)): (int(sent), int(received), int(size))
            for rank, address, sent, received, size in re.findall(r"^BUFFER (\d) \S+ (\d+) (\d+) (\d+) (\d+)$", output, re.MULTILINE)}
    found = {(buffer["rank"], buffer["address"]): (buffer["sent"], buffer["received"], buffer["bytes"])
             for buffer in report["buffers"] if buffer["sent"] + buffer["received"] > 1}
    if found != said or len(said) != 10:
        return f"buffers: {found}, and {said} were used"
    numbers = {direction["messages"]: (direction["number"], direction["again"], direction["buffers"] and direction["buffers"]["most"])
               for direction in report["directions"]}
    small, large = (SMALL_ONES, SMALL_AGAIN, SMALL_BUFFERS), (LARGE_ONES, LARGE_ONES - 1, 1)
    if numbers != {"sent, small": small, "received, small": small, "sent, large": large, "received, large": large}:
        return f"directions: {numbers}"
    copies = report["copies"]
    would = {each["from_use"]: each["copies"] for each in copies["would_save"]}
    return "" if {name: copies[name] for name in COPIES} == COPIES and would == WOULD_SAVE else f"copies: {copies}"


def check_buffers(options, tally, trace):
    job = job_of(options, "reused_buffers", trace, settings={"SLUICE_CALIBRATION": "off"})
    tally.check("buffers: the job ends well", "" if job.ok else job.describe())
    if job.ok:
        report = json.loads(sluice(options, "report", "--buffers", "--json", trace))
        tally.check("buffers: uses and copies are those of the program", buffers_complaint(report, job.stdout))


OTHER_CLOCK = ["unshare", "--time", "--monotonic=1000", "--fork"]
RANK_1_HAS_IT = ["sh", "-c", f'[ $OMPI_COMM_WORLD_RANK = 0 ] || set -- {" ".join(OTHER_CLOCK)} "$@"; exec "$@"', "sh"]
CLOCK_POINTS = struct.Struct("<1024xQqQ40xQqQ")  # of a file: docs/trace-format.md
LATE_RECORD_NS = 100_000
QUICK_NS = 50_000_000  # on a busy machine; a clock that is wrong the one way shows in messages that go the other way


def messages_took(records):
    """For each direction, how long messages were under way: (sender, receiver) -> nanoseconds."""
    left = {(record["rank"], record["peer"], record["message"]): record["time_ns"] for record in records
            if record["event"] != "match" and record["message"] != 0}
    took = {}
    for record in records:
        sent = left.get((record["peer"], record["rank"], record["message"])) if record["event"] == "match" else None
        if sent is not None:
            took.setdefault((record["peer"], record["rank"]), []).append(record["time_ns"] - sent)
    return took


def clock_error_ns(file):
    """By how much its times may be off, as it says itself: more on a busy machine."""
    _, _, at_start, _, _, at_end = CLOCK_POINTS.unpack_from(file.read_bytes()[:CLOCK_POINTS.size])
    return max(at_start, at_end)


def check_clocks(options, tally, trace):
    """Rank 1 has another clock, 1000 s ahead, as on another host."""
    if subprocess.run([*OTHER_CLOCK, "true"], capture_output=True, check=False).returncode != 0:
        tally.skips("clocks", "no time namespaces here")
        return
    job = job_of(options, "known_waits", trace, before=RANK_1_HAS_IT)
    tally.check("clocks: the job ends well", "" if job.ok else job.describe())
    if job.ok:
        earliest = -LATE_RECORD_NS - clock_error_ns(trace / "rank-000001.trace")
        lines = sluice(options, "dump", "--json", "--kind", "post_send,message_out,match", trace).splitlines()
        for (sender, receiver), took in messages_took([json.loads(line) for line in lines]).items():
            # A record is written when the message has left, so some may seem to have left too late.
            tally.check(f"clocks: messages from rank {sender} to {receiver} come when they have left",
                        "" if earliest < statistics.median(took) < QUICK_NS else f"they took {sorted(took)} ns, and {earliest} were right")


def check_refusal(options, tally):
    """Nothing but the trace is missing."""
    job = job_of(options, "known_waits", "/proc/nowhere")
    warnings = [line for line in job.stderr.splitlines() if "SLUICE_TRACE" in line]
    tally.check("a trace that cannot be written costs one warning",
                "" if job.ok and len(warnings) == 1 and "/proc/nowhere" in warnings[0] else job.describe())


def measured(command):
    """What it prints, how long it took, and the most memory that it had, in megabytes."""
    begin = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{command} ended with {process.returncode}")
    return output, time.monotonic() - begin, usage.ru_maxrss / 1024


def check_interruptions(options, tally, trace):
    """Ctrl-C while an output is half-written: nothing of it is left, and the command has ended by the signal."""
    formats = [["export", "--format", name] for name in ("csv", "perfetto", "otf2")]
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in what a shell runs in the background
    with tempfile.TemporaryDirectory(prefix="sluice-trace-") as name:
        directory = pathlib.Path(name)
        for arguments, number in zip([*formats, ["timeline"]], itertools.cycle((signal.SIGINT, signal.SIGTERM))):
            command = [options.builddir / "tools" / "sluice", *arguments, trace, "--output", directory / "output"]
            with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
                while process.poll() is None and not any(directory.glob("output.partial-*")):
                    time.sleep(0.001)
                process.send_signal(number)
                _, told = process.communicate(timeout=options.timeout)
            left = sorted(path.name for path in directory.iterdir())
            tally.check(f"interrupted: {' '.join(arguments)}",
                        "" if process.returncode == -number and not left else f"ended with {process.returncode}, {left} are left; {told}")
            for path in left:
                shutil.rmtree(directory / path) if (directory / path).is_dir() else (directory / path).unlink()


def check_long(options, tally, trace):
    wanted = LONG if options.long else SHORT
    output, *_ = measured([options.builddir / "tests" / "mpi" / "trace" / "make_trace", trace, "4", str(wanted)])
    made = int(output)
    output, seconds, megabytes = measured([options.builddir / "tools" / "sluice", "report", "--json", trace])
    told_of = json.loads(output)["records"]
    tally.check(f"long: all of {wanted} records are counted", "" if told_of == made >= wanted else f"{told_of} of {made}")
    tally.check(f"long: the report, in {seconds:.1f} s, needed {megabytes:.0f} MB", "" if megabytes < MEGABYTES else f"more than {MEGABYTES} MB")
    check_interruptions(options, tally, trace)
    if options.long:
        page = trace / "timeline.html"
        sluice(options, "timeline", trace, "--output", page)
        timeline_page.check_long(tally, page, [(rank, thread) for rank in range(4) for thread in (0, 1)])


def add_options(parser):
    parser.add_argument("--long", action="store_true", help=f"the long trace has {LONG} records, and its timeline is looked at as well")
    parser.add_argument("--picture", type=pathlib.Path, help="save a picture of the timeline, as it is in docs/results/timeline.png")


def threads_in(options, trace):
    """(rank, thread) of all records."""
    return set(re.findall(r"^ *[0-9.]+  rank (\d+) thread (\d+) ", sluice(options, "dump", trace), re.MULTILINE))


def main():
    options = parse_options(__doc__, 60, add_options)
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="sluice-trace-") as name:
        check_waits(options, tally, pathlib.Path(name) / "waits")
        check_events(options, tally, pathlib.Path(name) / "events")
        check_late_ranks(options, tally, pathlib.Path(name) / "late_ranks")
        check_paths(options, tally, pathlib.Path(name) / "paths")
        check_buffers(options, tally, pathlib.Path(name) / "buffers")
        check_clocks(options, tally, pathlib.Path(name) / "clocks")
        check_refusal(options, tally)
        check_long(options, tally, pathlib.Path(name) / "long")
    tally.finish()
