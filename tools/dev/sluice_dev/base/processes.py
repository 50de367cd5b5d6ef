"""Runs a command with a time limit, and leaves none of its processes behind, whatever they do.

Ranks of an MPI job have process groups of their own and lose their parent when mpirun is killed. So this process makes
itself the reaper of its orphaned descendants, and everything that descends from it after a command has ended is killed.
"""

import collections
import ctypes
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time

PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
GRACE_SECONDS = 10.0  # for a command that is asked to end, so that it can end what it started

LAUNCHER_SECONDS = 4.0  # for mpirun to take leave of its ranks

Outcome = collections.namedtuple("Outcome", "returncode output seconds timed_out")

_spared = set()  # pids that go on beside other commands
_awaited = set()  # pids whose status somebody here waits for


def become_reaper():
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def run(command, seconds, env=None, cwd=None, on_line=None):
    """Runs a command, standard error joined to its output; `on_line` sees each line as it comes."""
    started = time.monotonic()
    process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True, cwd=cwd,
                               env={**os.environ, **(env or {})})
    _awaited.add(process.pid)
    lines = []
    reader = threading.Thread(target=_read_lines, args=(process.stdout, lines, on_line), daemon=True)
    reader.start()
    timed_out = not _ends_within(process, seconds)
    if timed_out:
        process.terminate()
        _ends_within(process, GRACE_SECONDS)
    kill_descendants()
    returncode = process.wait()
    _awaited.discard(process.pid)
    reader.join(GRACE_SECONDS)  # whoever held the other end of the pipe is gone
    return Outcome(returncode, "".join(lines), time.monotonic() - started, timed_out)


class Companion:
    """A command that runs beside others, with what processor time they leave. Whoever ends everything starts with `abandon_companions`."""

    def __init__(self, command, cwd):
        self._output = tempfile.TemporaryFile(mode="w+", errors="replace")
        self._started = time.monotonic()
        self._process = subprocess.Popen(["nice", "-n", "19", *map(str, command)], stdin=subprocess.DEVNULL, stdout=self._output,
                                         stderr=subprocess.STDOUT, start_new_session=True, cwd=cwd)
        _spared.add(self._process.pid)
        _awaited.add(self._process.pid)

    def finish(self, seconds):
        timed_out = not _ends_within(self._process, seconds)
        if timed_out:
            self._process.kill()
        returncode = self._process.wait()
        _spared.discard(self._process.pid)
        _awaited.discard(self._process.pid)
        self._output.seek(0)
        return Outcome(returncode, self._output.read(), time.monotonic() - self._started, timed_out)


def abandon_companions():
    _spared.clear()


def kill_descendants():
    """Kills until there is nothing left; what is killed may have started something else just before."""
    while pids := _descendants():
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        _reap_orphans()
        time.sleep(0.02)


def end_descendants():
    """Asks first, so that launchers can remove their files; then kills."""
    for pid in _descendants():
        try:
            os.kill(pid, signal.SIGTERM)
        except ProcessLookupError:
            pass
    end = time.monotonic() + LAUNCHER_SECONDS
    while _descendants() and time.monotonic() < end:
        time.sleep(0.05)
    kill_descendants()


def _read_lines(stream, lines, on_line):
    for line in stream:
        lines.append(line)
        if on_line is not None:
            on_line(line.rstrip("\n"))


def _ends_within(process, seconds):
    try:
        process.wait(max(seconds, 0.1))
        return True
    except subprocess.TimeoutExpired:
        return False


def _processes():
    """Number, state and parent of everything that runs, or has ended and was not waited for."""
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        yield int(path.parent.name), fields[0], int(fields[1])


def _descendants():
    """Living processes that descend from this one."""
    parents = {pid: parent for pid, state, parent in _processes() if state != "Z"}
    found = set()
    while more := {pid for pid, parent in parents.items()
                   if pid not in found and pid not in _spared and (parent in found or parent == os.getpid())}:
        found |= more
    return found


def _reap_orphans():
    """All of them: the first process of a namespace of process numbers does not end before everybody in it was waited for."""
    for pid, state, parent in _processes():
        if state == "Z" and parent == os.getpid() and pid not in _awaited:
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                pass
