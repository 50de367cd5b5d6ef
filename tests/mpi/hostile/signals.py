"""Programs with a SIGSEGV handler of their own, that block SIGSEGV, or that die of it (page-guard rule 10)."""

import re
import shutil

from .program import Program


def ends_as_on_the_host(result, reference):
    """The same exit code and the same notes; nothing hangs or stays behind."""
    if result.timed_out or result.left_behind:
        return "it did not end"
    if result.returncode != reference.returncode:
        return f"the host's exit code is {reference.returncode}"
    if "sluice:" in re.sub(r"sluice: .*summary.*|sluice:  .*", "", result.stderr):
        return "an error of Sluice's"
    return differing_notes(result, reference)


def dies_as_on_the_host(result, reference):
    """Likewise, where a rank is killed by a signal: its peer may report that it vanished."""
    if result.timed_out or result.left_behind or result.returncode != reference.returncode:
        return f"the host's exit code is {reference.returncode}"
    return differing_notes(result, reference)


def differing_notes(result, reference):
    notes = [sorted(line for line in job.stdout.splitlines() if line.startswith("CASE ")) for job in (reference, result)]
    return "" if notes[0] == notes[1] else "host:\n" + "\n".join(notes[0]) + "\nSluice:\n" + "\n".join(notes[1])


def reports_its_fault(result, reference):
    """Python's own report, with the line of the program that did it."""
    reports = [re.findall(r"Fatal Python error.*|File .*", job.stderr) for job in (reference, result)]
    if not reports[0] or reports[0] != reports[1]:
        return f"reports: {reports}"
    return dies_as_on_the_host(result, reference)


PROGRAMS = [
    Program("signals"),
    Program("signals_timer"),
    Program("signals_before_init", "signals", env={"SIGSEGV_BEFORE_INIT": "1"}),
    *(Program(f"signals_wild_{how}", "signals_wild", arguments=(how,), expect=dies_as_on_the_host)
      for how in ("default", "blocked", "sent")),
    *(Program(f"signals_faulthandler_{when}", "signals_faulthandler.py", arguments=(when,), expect=reports_its_fault,
              env={"SLUICE_RELEASE": "early"})  # mpi4py has errors return
      for when in ("before", "after")),
    *([Program("signals_java", alone=False)] if shutil.which("javac") else []),
]
