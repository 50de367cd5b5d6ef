"""Hostile programs: each on the host alone, then under Sluice with every guard; the same notes, and something was released.

    run --builddir DIR                        everything
    run --builddir DIR --only kernel_stdio    programs whose name contains this
"""

import concurrent.futures
import dataclasses
import importlib
import pathlib
import re

from sluice_dev.jobs.job import run_job
from sluice_dev.jobs.runner import Programs, Tally, parse_options

here = pathlib.Path(__file__).resolve().parent

THEMES = ("kernel", "memory", "signals", "exits", "filters", "processes", "threads", "sends", "held", "footprint", "hints", "host_calls", "huge",
          "limits", "waits")
CASE_LINE = re.compile(r"^CASE .*$", re.MULTILINE)
NOT_WORTH = re.compile(r"not released: rest arrives sooner than a release costs +[1-9]")
SHOWN_DIFFERENCES = 5


def all_programs():
    return [program for theme in THEMES for program in importlib.import_module(f".{theme}", __package__).PROGRAMS]


def preload(program, library):
    parts = [str(library)] if library else []
    if program.beside:
        parts.insert(0 if program.beside_first else len(parts), program.beside)
    return {"LD_PRELOAD": ":".join(parts)} if parts else {}


def notes_of(result):
    return sorted(CASE_LINE.findall(result.stdout))


def difference(reference, result):
    expected, found = notes_of(reference), notes_of(result)
    lines = [f"host:   {line}" for line in expected if line not in found]
    lines += [f"Sluice: {line}" for line in found if line not in expected]
    return "\n".join(lines[:SHOWN_DIFFERENCES])


def released_in(result, what):
    found = re.search(rf"{what} +(\d+)", result.stderr)
    return int(found[1]) if found else 0


def must_release(program, ranks):
    """A rank alone has nobody to wait for."""
    return program.releases and ranks > 1


def run_under_sluice(program, command, ranks, env, timeout):
    for _ in range(program.attempts):
        result = run_job(command, ranks, env, timeout)
        if program.expect or not must_release(program, ranks) or not result.ok or released_in(result, program.released):
            break
        if env["SLUICE_GUARD"] == "userfaultfd" and NOT_WORTH.search(result.stderr):
            break
    return result


def complaint_about(program, ranks, result, reference):
    if program.expect:
        complaint = program.expect(result, reference)
        return f"{complaint}\n{result.describe()}" if complaint else ""
    if not result.ok:
        # Of the notes only where they stopped.
        return dataclasses.replace(result, stdout="\n".join(notes_of(result)[-3:])).describe()
    if must_release(program, ranks) and not released_in(result, program.released):
        return "nothing was released\n" + result.describe()
    return difference(reference, result)


def costs_too_much(program, ranks, guard, result, reference):
    """Closing pages takes longer with userfaultfd: longer than the message, on some machines. All else must be right."""
    return (guard == "userfaultfd" and must_release(program, ranks) and not program.expect and result.ok
            and not released_in(result, program.released) and NOT_WORTH.search(result.stderr) and not difference(reference, result))


def ranks_of(program):
    return (1, *program.ranks) if program.alone and not program.expect and not program.beside else program.ranks


def guards_of(program, ranks, everything):
    """A rank alone has nothing under guard, so one will do."""
    return program.guards if everything or ranks > 1 else program.guards[:1]


def is_due(program, ranks):
    """Unless everything is wanted: alone, with two ranks where it can, and another allocator behind Sluice."""
    return (ranks <= 2 or ranks == min(program.ranks)) and not program.beside_first


def check(built, program, ranks, options):
    """Outcomes: (Tally's method, name, text). Runs in several threads at once."""
    if program.beside and not pathlib.Path(program.beside).exists():
        return [(Tally.skips, f"{program.name} np={ranks}", f"there is no {program.beside}")]
    if why_not := program.lacks():
        return [(Tally.skips, f"{program.name} np={ranks}", why_not)]
    outcomes = []
    sources = [f"{program.binary}.c"]
    command = [built.find(program.binary, sources, ["-D_GNU_SOURCE", f"-I{here.parent / 'support'}"]), *program.arguments]
    reference = run_job(command, ranks, {**preload(program, None), **program.env}, options.timeout)
    if not program.expect:
        outcomes.append((Tally.check, f"{program.name} np={ranks} host", "" if reference.ok else reference.describe()))
    for guard in guards_of(program, ranks, options.all) if options.library else ():
        env = {**preload(program, options.library), "SLUICE_SUMMARY": "1", "SLUICE_GUARD": guard, **program.env}
        result = run_under_sluice(program, command, ranks, env, options.timeout)
        name = f"{program.name} np={ranks} {guard}"
        if costs_too_much(program, ranks, guard, result, reference):
            outcomes.append((Tally.skips, name, "a release costs more on this machine than it would hide"))
        else:
            outcomes.append((Tally.check, name, complaint_about(program, ranks, result, reference)))
    return outcomes


def add_options(parser):
    parser.add_argument("--only", help="programs whose name contains this")
    parser.add_argument("--all", action="store_true", help="every number of ranks, every order of libraries")


def main():
    options = parse_options(__doc__, 60, add_options)
    built = Programs(here, options.builddir, "tests/mpi/hostile")
    tally = Tally()
    wanted = [program for program in all_programs() if (options.only or "") in program.name]
    jobs = [(program, ranks) for program in wanted for ranks in ranks_of(program) if options.all or is_due(program, ranks)]
    # Most jobs of two ranks start, end and wait for most of their time; two of them side by side take the time of one.
    shared = [(program, ranks) for program, ranks in jobs if ranks <= 2 and not program.busy]
    alone = [job for job in jobs if job not in shared]
    for chosen, workers in ((shared, 2), (alone, 1)):
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            for outcomes in pool.map(lambda job: check(built, *job, options), chosen):
                for method, name, text in outcomes:
                    method(tally, name, text)
    tally.finish()
