"""A suite's runner that is told to end leaves nothing behind: no process of its jobs, and no file."""

import os
import pathlib
import subprocess
import tempfile
import time
import uuid

here = pathlib.Path(__file__).resolve().parent

JOBS = ("--only", "idle")  # some at a time, of two ranks that sleep
RANKS = 2  # of at least one of them
SECONDS = 60  # for jobs to start, and for everything to be gone
MARK = "ENDED_RUNNER"


def processes_of(mark):
    wanted = f"{MARK}={mark}".encode()
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            if wanted in path.read_bytes().split(b"\0"):
                found.append(path.with_name("comm").read_text().strip())
        except OSError:  # it has just ended
            pass
    return found


def awaited(condition):
    end = time.monotonic() + SECONDS
    while not (met := condition()) and time.monotonic() < end:
        time.sleep(0.05)
    return met


def left_by(number, options):
    """Why something is left after this signal; empty when nothing is."""
    mark = uuid.uuid4().hex
    with tempfile.TemporaryDirectory(prefix="sluice-runner-") as scratch:
        command = [here / "run", "--library", options.library, *(("--builddir", options.builddir) if options.builddir else ()), *JOBS]
        runner = subprocess.Popen(command, env={**os.environ, MARK: mark, "TMPDIR": scratch}, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
        try:
            if not awaited(lambda: processes_of(mark).count("idle") >= RANKS):
                return f"its jobs did not start: {processes_of(mark)}"
            runner.send_signal(number)
            output = runner.communicate(timeout=SECONDS)[0]
        except subprocess.TimeoutExpired:
            return f"it did not end within {SECONDS} s"
        finally:
            runner.kill()
        if not awaited(lambda: not processes_of(mark)):
            return f"still running: {processes_of(mark)}"
        if runner.returncode != 128 + number:
            return f"it ended with code {runner.returncode}:\n{output}"
        left = os.listdir(scratch)
        return f"files: {left}" if left else ""
