"""Makes memory scarce and processors busy, for as long as a `with` block lasts.

Memory: a cgroup (version 2) of our own with a limit where one can be had. Otherwise a process that holds all memory but what is
to be left, gives some back when others need it, and is the first that the kernel kills when memory runs out.
"""

import os
import pathlib
import subprocess
import sys

MEGABYTE = 1 << 20

# Holds memory; argv: megabytes to leave. Looks ten times a second, so that others are not killed for its sake.
BALLAST = r"""
import mmap, re, sys, time
leave = int(sys.argv[1])
open("/proc/self/oom_score_adj", "w").write("1000")
step = 64
held = []
while True:
    with open("/proc/meminfo") as file:
        available = int(re.search(r"MemAvailable: +(\d+)", file.read())[1]) // 1024
    excess = available - leave
    for _ in range(min(excess // step, 8)):
        block = mmap.mmap(-1, step << 20)
        for page in range(0, step << 20, 4096):
            block[page] = 1
        held.append(block)
    for _ in range(min(-(excess // step), len(held)) if excess < 0 else 0):
        held.pop().close()
    time.sleep(0.1)
"""

BUSY = "while True: pass"


class _Processes:
    """Python programs that end with the block."""

    def __init__(self, programs):
        self._programs = programs
        self._running = []

    def __enter__(self):
        self._running = [subprocess.Popen([sys.executable, "-c", *program], stdin=subprocess.DEVNULL, start_new_session=True)
                         for program in self._programs]
        return self

    def __exit__(self, *_):
        for process in self._running:
            process.kill()
            process.wait()


class BusyProcessors(_Processes):
    def __init__(self, count):
        super().__init__([(BUSY,)] * count)


class _Ballast(_Processes):
    def __init__(self, leave):
        super().__init__([(BALLAST, str(leave))])
        self.description = f"a process holds all memory but {leave} MB"


class _Group:
    """A child of our own cgroup with a limit; this process, and so everything it starts, moves there."""

    def __init__(self, parent, megabytes):
        self._parent = parent
        self._path = parent / f"sluice-stress-{os.getpid()}"
        self._limit = megabytes * MEGABYTE
        self.description = f"a memory limit of {megabytes} MB"

    def __enter__(self):
        self._path.mkdir()
        try:
            (self._path / "memory.max").write_text(str(self._limit))
            (self._path / "cgroup.procs").write_text(str(os.getpid()))
        except OSError:
            self._path.rmdir()
            raise
        return self

    def __exit__(self, *_):
        for pid in (self._path / "cgroup.procs").read_text().split():
            try:
                (self._parent / "cgroup.procs").write_text(pid)
            except OSError:
                pass  # it has ended meanwhile
        self._path.rmdir()


class ScarceMemory:
    def __init__(self, megabytes):
        self._megabytes = megabytes
        self._means = None

    def __enter__(self):
        parent = _own_group()
        if parent is not None:
            self._means = _Group(parent, self._megabytes)
            try:
                return self._means.__enter__()
            except OSError:
                pass  # no permission to make one
        self._means = _Ballast(self._megabytes)
        return self._means.__enter__()

    def __exit__(self, *arguments):
        self._means.__exit__(*arguments)


def _own_group():
    """The directory of our cgroup, if its children can have memory limits."""
    try:
        words = pathlib.Path("/proc/self/cgroup").read_text().split()
        path = next(word[3:] for word in words if word.startswith("0::"))
        group = pathlib.Path("/sys/fs/cgroup") / path.lstrip("/")
        return group if "memory" in (group / "cgroup.subtree_control").read_text().split() else None
    except (OSError, StopIteration):
        return None
