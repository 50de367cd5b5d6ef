"""Runs one MPI job so that nothing of it outlives the test, whatever it does.

A job gets a network namespace of its own when the caller is root (Open MPI listens on every interface), a session of its
own, and a mark in its environment. The mark, not the parent's pid, decides which processes belong to the job: Open MPI gives
each rank its own process group, and a rank whose launcher was killed has a new parent.

    result = run_job(["./ring", "--long"], ranks=4, env={"LD_PRELOAD": library}, timeout=30)
    if not result.ok: print(result.describe())
"""

import dataclasses
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import uuid

from sluice_dev.jobs.ending import Running

MARK = "MPI_TEST_JOB"  # environment variable that marks every process of a job
LAUNCHERS = {"mpirun", "orterun", "orted", "sh", "unshare", "nsenter", "busybox"}
GRACE_SECONDS = 2.0  # how long survivors of a finished job may take to go by themselves
GDB_SECONDS = 60
STACK_LINES_PER_RANK = 200

THP_ENABLED = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")

JOB_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    # A warning of the host about a fork in a rank is not a result.
    "OMPI_MCA_mpi_warn_on_fork": "0",
    "OMPI_MCA_btl_base_warn_component_unused": "0",
    # What the host would choose here by itself, after it has opened the libraries of many adapters: half of the time of a short job.
    "OMPI_MCA_pml": "ob1",
}
# Where all memory gets huge pages, programs that do not ask for them are tested as elsewhere: what they receive is released.
if THP_ENABLED.exists() and "[always]" in THP_ENABLED.read_text():
    JOB_ENVIRONMENT["SLUICE_HUGE_PAGES"] = "replace"

_running = Running()


@dataclasses.dataclass
class Result:
    returncode: int
    stdout: str
    stderr: str
    seconds: float
    timed_out: bool = False
    stacks: str = ""  # of all ranks, when the job was killed for its time
    left_behind: list = dataclasses.field(default_factory=list)  # processes that outlived mpirun and were killed

    @property
    def ok(self):
        return self.returncode == 0 and not self.timed_out and not self.left_behind

    def describe(self):
        """What went wrong, in full."""
        if self.timed_out:
            what = f"hung: killed after {self.seconds:.0f} s"
        elif self.left_behind:
            what = f"left processes behind: {', '.join(self.left_behind)}"
        else:
            what = f"ended with code {self.returncode}"
        parts = [what, self.stdout.rstrip(), self.stderr.rstrip(), self.stacks.rstrip()]
        return "\n".join(part for part in parts if part)


def end_jobs_on_signals():
    """For the main thread of a program that runs jobs: a signal that ends it ends them first."""
    _running.end_on_signals(kill_job)


def run_job(argv, ranks, env, timeout, cwd=None, mpirun_args=(), launch=None, meanwhile=None):
    """Runs `mpirun -np ranks argv`, with `env` added to the environment of the ranks only (not to that of mpirun).

    `launch` says where: it turns the mpirun command into the one to start and what is added to its environment. `meanwhile` is
    called in a thread of its own with the job's mark, for those who disturb it (rank_pids).
    """
    command, added = (launch or in_own_network)(mpirun_command(argv, ranks, env, mpirun_args))
    result = run_command(command, {**JOB_ENVIRONMENT, **added}, timeout, cwd, meanwhile)
    if ran_unloaded_code(result):
        print(f"again: {argv[0]} with {ranks} ranks: a thread ran code that had been unloaded", flush=True)
        result = run_command(command, {**JOB_ENVIRONMENT, **added}, timeout, cwd, meanwhile)
    return result


def ran_unloaded_code(result):
    """Open MPI 4.1 unloads components at the end while a thread of its own may be in one: one job in some thousands dies, with and
    without Sluice, which unloads nothing. Its handler prints no frame then, as it cannot read the code where the thread was."""
    crashed = re.findall(r"^\[(\S+)\] Failing at address:", result.stderr, re.MULTILINE)
    return result.returncode == 128 + signal.SIGSEGV and any(f"[{process}] [ 0]" not in result.stderr for process in crashed)


def run_command(command, env, timeout, cwd=None, meanwhile=None, mark=None, stacks=None):
    """Runs any command with `env` added to the environment of this process, and ends all that came of it.

    `stacks` takes the place of stacks_of where some of the processes are elsewhere.
    """
    mark = mark or uuid.uuid4().hex
    environment = {**os.environ, **env, MARK: mark}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        started = time.monotonic()
        process = _running.start(mark, lambda: subprocess.Popen(command, env=environment, cwd=cwd, stdin=subprocess.DEVNULL, stdout=out,
                                                                stderr=err, start_new_session=True))
        companion = threading.Thread(target=meanwhile, args=(mark,), daemon=True) if meanwhile else None
        try:
            if companion:
                companion.start()
            result = _watch(process, mark, timeout, started, stacks or stacks_of)
        finally:
            kill_job(mark)
            process.wait()
            _running.forget(mark)
        if companion:
            companion.join(GRACE_SECONDS)
        result.stdout, result.stderr = _text(out), _text(err)
        return result


def processes_of(mark):
    """Pids of the living processes whose environment carries the mark."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid() and wanted in _environment_of(int(entry)):
            found.append(int(entry))
    return found


def rank_pids(mark):
    """Rank to pid, of the ranks that live. A program that forks has several processes for a rank: the first is taken."""
    pids = {}
    for pid in sorted(processes_of(mark), reverse=True):
        rank = _rank_of(pid)
        if rank is not None and _name_of(pid) not in LAUNCHERS:
            pids[rank] = pid
    return pids


def kill_job(mark):
    """Kills every process of the job, also those that are being born meanwhile."""
    while pids := processes_of(mark):
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.01)


def stacks_of(mark):
    """Stacks of all threads of every rank of the job."""
    parts = []
    for pid in sorted(processes_of(mark)):
        if _name_of(pid) not in LAUNCHERS:
            lines = _stack(pid).splitlines()[:STACK_LINES_PER_RANK]
            parts.append(f"--- {_label(pid)}\n" + "\n".join(lines))
    return "\n".join(parts)


def _watch(process, mark, timeout, started, take_stacks):
    try:
        returncode = process.wait(timeout)
    except subprocess.TimeoutExpired:
        stacks = take_stacks(mark)
        _end_politely(process)
        kill_job(mark)
        return Result(process.wait(), "", "", time.monotonic() - started, timed_out=True, stacks=stacks)
    seconds = time.monotonic() - started
    return Result(returncode, "", "", seconds, left_behind=survivors(mark))


def _end_politely(process):
    """Lets mpirun remove the host's files in /tmp and /dev/shm before it is killed too."""
    process.terminate()
    try:
        process.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        pass


def survivors(mark):
    """Processes of the job that do not go by themselves in a moment."""
    deadline = time.monotonic() + GRACE_SECONDS
    while pids := processes_of(mark):
        if time.monotonic() > deadline:
            return [_label(pid) for pid in pids]
        time.sleep(0.02)
    return []


def mpirun_command(argv, ranks, env, extra=()):
    # --bind-to none: jobs run side by side, and a rank's threads must be free to use both cores.
    command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-np", str(ranks), *extra]
    for name, value in env.items():
        command += ["-x", f"{name}={value}"]
    return command + [str(word) for word in argv]


def in_own_network(command):
    if os.geteuid() == 0 and shutil.which("unshare") and shutil.which("ip"):
        command = ["unshare", "-n", "sh", "-c", 'ip link set lo up; exec "$@"', "sh", *command]
    return command, {}


def _text(file):
    file.seek(0)
    return file.read().decode(errors="replace")


def _read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _environment_of(pid):
    return _read(f"/proc/{pid}/environ").split(b"\0")


def _name_of(pid):
    return _read(f"/proc/{pid}/comm").decode(errors="replace").strip()


def _rank_of(pid):
    for entry in _environment_of(pid):
        if entry.startswith(b"OMPI_COMM_WORLD_RANK="):
            return int(entry.split(b"=")[1])
    return None


def _label(pid):
    rank = _rank_of(pid)
    return f"{_name_of(pid)}, pid {pid}" if rank is None else f"rank {rank} ({_name_of(pid)}, pid {pid})"


def _stack(pid):
    if shutil.which("gdb"):
        gdb = ["gdb", "-batch", "-nx", "-p", str(pid), "-ex", "thread apply all bt"]
        try:
            run = subprocess.run(gdb, capture_output=True, text=True, errors="replace", timeout=GDB_SECONDS,
                                 env={**os.environ, "DEBUGINFOD_URLS": ""})
            kept = [line for line in run.stdout.splitlines() if line.startswith(("#", "Thread"))]
            if kept:
                return "\n".join(kept)
        except subprocess.TimeoutExpired:
            pass
    return _read(f"/proc/{pid}/stack").decode(errors="replace")
