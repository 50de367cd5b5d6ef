"""Runs the Poisson solver of the early-release paper on this machine, with and without Sluice.

The program (apps/pes) is plain MPI and knows nothing of Sluice. One rank at a time does more work than the others, and the
ranks exchange ghost rows by blocking receives. Runs alternate, so that whatever else the machine does meets both; times are
medians. The final fields must be equal, bit for bit.
"""

import os
import re
import shutil
import statistics
import subprocess
import sys

from sluice_dev.base import builds
from sluice_dev.base.processes import become_reaper, kill_descendants
from sluice_dev.jobs.job import end_jobs_on_signals, run_job

BUILD_SECONDS = 900
JOB_SECONDS = 120
ROUNDS = 5
PROGRAM = ["--size", "402", "--columns", "32768", "--iterations", "60", "--imbalance", "60", "--check"]
TARGETS = ["apps/pes/pes", "tools/sluice", "interpose/libsluice.so"]


class Differs(Exception):
    pass


def pes():
    return [builds.BUILD / "apps" / "pes" / "pes", *PROGRAM]


def job(command, ranks):
    result = run_job(command, ranks, {}, JOB_SECONDS)
    if not result.ok:
        raise Differs(result.describe())
    time = re.search(r"^time ([0-9.]+) s$", result.stdout, re.MULTILINE)
    field = re.search(r"^check ([0-9a-f]+)$", result.stdout, re.MULTILINE)
    return float(time[1]), field[1], result


def compare(ranks):
    """Both times, alternating; the ratio of their medians."""
    sluice = [builds.BUILD / "tools" / "sluice", "run"]
    print(f"\n== {ranks} ranks: mpirun -np {ranks} [sluice run] pes {' '.join(PROGRAM)}")
    alone, under = [], []
    for number in range(1, ROUNDS + 1):
        host_time, host_field, _ = job(pes(), ranks)
        sluice_time, sluice_field, _ = job([*sluice, "--", *pes()], ranks)
        same = host_field == sluice_field
        print(f"   round {number}: host {host_time:.3f} s, Sluice {sluice_time:.3f} s, "
              f"fields {host_field} {'equal' if same else f'and {sluice_field} DIFFER'}", flush=True)
        if not same:
            raise Differs(f"with {ranks} ranks the final fields differ")
        alone.append(host_time)
        under.append(sluice_time)
    host, ours = statistics.median(alone), statistics.median(under)
    print(f"   median: host {host:.3f} s, Sluice {ours:.3f} s, ratio {ours / host:.2f}")
    summary(sluice, ranks)
    return f"{ranks} ranks: {ours / host:.2f} times the host's time ({host:.3f} s to {ours:.3f} s), equal fields"


def summary(sluice, ranks):
    _, _, result = job([*sluice, "--summary", "--", *pes()], ranks)
    ours = ("time ", "check ", "pes:")
    lines = [line for line in (result.stdout + result.stderr).splitlines() if line.strip() and not line.startswith(ours)]
    print("   what `sluice run --summary` says of such a run:")
    print("\n".join(f"      {line}" for line in lines))


def report(ranks):
    """Where a run waited, from its trace; the report and a page to look at are kept beside the trace."""
    directory = builds.BUILD / "demo" / f"trace-{ranks}"
    shutil.rmtree(directory, ignore_errors=True)
    directory.parent.mkdir(exist_ok=True)
    command = builds.BUILD / "tools" / "sluice"
    job([command, "run", "--trace", directory, "--", *pes()], ranks)
    text, page = directory / "report.txt", directory / "timeline.html"
    text.write_text(told_by([command, "report", directory]))
    told_by([command, "timeline", directory, "--output", page])
    return directory, text, page


def told_by(command):
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=JOB_SECONDS)
    if result.returncode != 0:
        raise Differs(f"sluice {command[1]} failed: {result.stderr}")
    return result.stdout


def main():
    become_reaper()
    end_jobs_on_signals()
    # There would be nothing to show.
    if os.environ.pop("SLUICE_ENABLE", "1") == "0":
        print("== SLUICE_ENABLE=0 is not passed on: Sluice is shown here")
    try:
        print("== building", flush=True)
        builds.build(builds.BUILD, BUILD_SECONDS, TARGETS)
        shown = [compare(ranks) for ranks in (2, 4)]
        trace, text, page = report(4)
    except (builds.BuildFailed, Differs) as error:
        sys.exit(f"demo failed: {error}")
    finally:
        kill_descendants()
    print("\n== where such a run waits: `sluice report`\n" + text.read_text())
    print("\n== shown: the same program, unchanged, with the same result bit for bit\n   " + "\n   ".join(shown))
    print(f"   trace: {trace} (sluice dump prints its records)\n   report: {text}\n   timeline: {page} (for any browser)")
