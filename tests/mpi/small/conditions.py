"""Small and odd machines, made of limits on the ranks of one job.

A condition turns the command of a rank into another, or places the job in a memory cgroup. Limits of memory are those that the same
program needs on the host alone, and a part more.
"""

import dataclasses
import os
import pathlib
import shutil
import time
import typing
import uuid

MEGABYTE = 1 << 20
ADDRESS_SPACE_SHARE = 1.25  # of what the host needs
ADDRESS_SPACE_MORE = 256 * MEGABYTE
MEMORY_SHARE = 1.1


@dataclasses.dataclass
class Need:
    """What a job on the host alone had at most."""
    address_space: int = 0  # of one rank
    memory: int = 0  # of all of it, files that it has read included


@dataclasses.dataclass(frozen=True)
class Condition:
    """`rank`: from command and need, the command of a rank. `memory`: from need, bytes for the whole job. `why_not`: of the machine.
    `environment`: what the host needs there."""
    rank: typing.Callable = lambda command, need: command
    memory: typing.Callable | None = None
    why_not: typing.Callable = lambda: ""
    environment: dict = dataclasses.field(default_factory=dict)


def limited(options):
    """By the shell's ulimit; `options` of the need."""
    return lambda command, need: ["sh", "-c", f'ulimit {options(need)} && exec "$@"', "sh", *command]


def address_space(need):
    return f"-v {int(need.address_space * ADDRESS_SPACE_SHARE + ADDRESS_SPACE_MORE) // 1024}"


def one_processor(command, _):
    return ["taskset", "-c", str(min(os.sched_getaffinity(0))), *command]


def conditions(contained):
    """Name and condition. `contained`: the program that runs another one under a container's filter."""
    return {
        "as it is": Condition(),
        "ulimit -v": Condition(limited(address_space)),
        "ulimit -n 64": Condition(limited(lambda _: "-n 64")),
        "ulimit -l 64": Condition(limited(lambda _: "-l 64")),
        "memory cgroup": Condition(memory=lambda need: int(need.memory * MEMORY_SHARE), why_not=why_no_cgroup),
        # The host waits for ever for copies that the filter refuses, unless it is told to make none, as containers' images do.
        "seccomp of a container": Condition(lambda command, _: [contained, *command],
                                            environment={"OMPI_MCA_btl_vader_single_copy_mechanism": "none"}),
        "one processor": Condition(one_processor, why_not=lambda: "" if shutil.which("taskset") else "there is no taskset"),
    }


class MemoryGroup:
    """A memory cgroup of our own, of version 1 or 2, for a job to be started in; `limit` in bytes, None for none."""

    def __init__(self, limit=None):
        parent, self._version = memory_controller()
        self._path = parent / f"sluice-small-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self._limit = limit

    def __enter__(self):
        self._path.mkdir()
        if self._limit is not None:
            (self._path / ("memory.max" if self._version == 2 else "memory.limit_in_bytes")).write_text(str(self._limit))
        return self

    def __exit__(self, *_):
        for _ in range(100):  # what was killed is still leaving
            try:
                return self._path.rmdir()
            except OSError:
                time.sleep(0.02)

    def entering(self, command):
        return ["sh", "-c", f'echo $$ >"{self._path}/cgroup.procs" && exec "$@"', "sh", *command]

    @property
    def peak(self):
        return int((self._path / ("memory.peak" if self._version == 2 else "memory.max_usage_in_bytes")).read_text())


def memory_controller():
    """Where a group can be made, and the version."""
    lines = [line.split(":", 2) for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines()]
    for _, controllers, path in lines:
        if "memory" in controllers.split(","):
            return pathlib.Path("/sys/fs/cgroup/memory") / path.lstrip("/"), 1
    group = pathlib.Path("/sys/fs/cgroup") / next(path for _, controllers, path in lines if not controllers).lstrip("/")
    if "memory" not in (group / "cgroup.subtree_control").read_text().split():
        raise OSError(f"{group} gives its children no memory limits")
    return group, 2


def why_no_cgroup():
    try:
        with MemoryGroup() as group:
            return "" if group.peak >= 0 else "no peak"
    except (OSError, StopIteration) as why:
        return f"no memory cgroup can be made: {why}"
