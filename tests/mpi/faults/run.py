"""Bad input and faults: whatever goes wrong, the job ends within seconds and says what was the matter, or its results are right."""

import concurrent.futures
import itertools
import os
import pathlib
import re
import signal
import subprocess
import threading
import time
import uuid

from sluice_dev.jobs.job import run_job
from sluice_dev.jobs.runner import Programs, Tally, parse_options

from . import runners
from .injection import Injection

here = pathlib.Path(__file__).resolve().parent

END_SECONDS = 20  # a job that cannot work must have ended by then
IDLE_SECONDS = 10
IDLE_MILLISECONDS = 5  # of processor time in that sleep beyond what the host uses
HOST_FILES = re.compile(r"vader_segment|osc_rdma|sem\.|psm|ompi|shmem_mmap")
COLLECTIVES = {"SLUICE_COLLECTIVES": "auto"}
CALLS = ("lanes", "messages", "nonblocking", "released")
ENDS = ("kill", "exit", "abort")
BURNED_MILLISECONDS = 250  # of processor time, while a rank is stopped for 500
SKIP_CODE = 77  # a program could not bring about the fault

BAD_VALUES = {
    "SLUICE_ENABLE": "maybe",
    "SLUICE_RELEASE": "sometimes",
    "SLUICE_GUARD": "prayer",
    "SLUICE_EAGER_LIMIT": "12parsecs",
    "SLUICE_TRANSPORTS": "pigeon",
    "SLUICE_SHMEM_COPY": "twice",
    "SLUICE_VERBOSE": "loud",
    "SLUICE_SUMMARY": "-1",
}


class Faults:
    def __init__(self, options, tally):
        self.library = options.library
        self.options = options
        self.timeout = options.timeout
        self.programs = Programs(here, options.builddir, "tests/mpi/faults")
        self.tally = tally

    def run(self, argv, ranks=2, sluice=None, timeout=None, mpirun_args=()):
        """`sluice`: settings under Sluice, None for the host alone. The first word of argv is a program of this directory."""
        environment = {} if sluice is None else {"LD_PRELOAD": str(self.library), **sluice}
        return self.run_with(argv, environment, timeout or self.timeout, ranks, mpirun_args)

    def run_with(self, argv, environment, timeout, ranks=2, mpirun_args=()):
        command = [self.programs.find(argv[0]), *argv[1:]]
        return run_job(command, ranks, environment, timeout, mpirun_args=mpirun_args)

    def expect(self, name, result, *complaints):
        """Fails with the first true complaint (a pair of condition and text) or when the job hung."""
        if result.timed_out:
            return self.tally.fails(name, result.describe())
        for wrong, text in complaints:
            if wrong:
                return self.tally.fails(name, f"{text}\n{result.describe()}")
        self.tally.passes(name)

    def expect_exchange(self, name, result):
        if result.returncode == SKIP_CODE:
            return self.tally.skips(name, "this machine does not let the program bring about the fault")
        clear_error = result.returncode != 0 and "sluice:" in result.stderr and "WRONG DATA" not in result.stderr
        self.expect(name, result, (not clear_error and (not result.ok or "exchange ok" not in result.stdout),
                                   "neither right results nor a clear error"))

    # --- environment ---------------------------------------------------------------------------------------------------

    def bad_values(self):
        for variable, value in BAD_VALUES.items():
            result = self.run(["exchange", "2", "1000"], sluice={variable: value}, timeout=END_SECONDS)
            self.expect(f"bad value of {variable}", result,
                        (result.returncode == 0, "the job went on"),
                        (f"{variable}={value}" not in result.stderr, "the message does not name variable and value"),
                        ("expected" not in result.stderr, "the message does not say what is expected"))

    def unknown_names(self):
        result = self.run(["exchange", "2", "1000"], sluice={"SLUICE_RELAESE": "off"}, timeout=END_SECONDS)
        self.expect("unknown name warns with the nearest known one", result,
                    (result.returncode != 0 or "exchange ok" not in result.stdout, "the job did not go on"),
                    ("SLUICE_RELAESE" not in result.stderr, "no warning"),
                    ("did you mean SLUICE_RELEASE?" not in result.stderr, "the nearest name is not suggested"))

    # --- ranks that differ ---------------------------------------------------------------------------------------------

    def preloaded_in_some(self):
        program = self.programs.find("exchange")
        with_library = ["env", f"LD_PRELOAD={self.library}", program, "4", "100000"]
        without = [program, "4", "100000"]
        for name, parts, ranks in (("first rank only", (with_library, without), 2), ("last rank only", (without, with_library), 2),
                                   ("all but one of four", (with_library, without), 4)):
            command = [*parts[0], ":", "-np", "1", *parts[1]]
            result = run_job(command, ranks - 1, {}, END_SECONDS)
            self.expect(f"preloaded: {name}", result,
                        (result.returncode == 0, "the job went on"),
                        ("sluice" not in result.stderr or "preload" not in result.stderr.lower(), "no message says what is the matter"))

    def differing_settings(self):
        program = self.programs.find("exchange")
        preload = f"LD_PRELOAD={self.library}"
        for setting in ("SLUICE_ENABLE=0", "SLUICE_RELEASE=off", "SLUICE_SHMEM_COPY=stream", "SLUICE_EAGER_LIMIT=1K"):
            command = ["env", preload, program, "4", "100000", ":", "-np", "1", "env", preload, setting, program, "4", "100000"]
            self.expect_exchange(f"one rank has {setting}", run_job(command, 1, {}, END_SECONDS))
        collective = [self.programs.find("collective"), "plain"]
        for with_lanes, without in ((1, 2), (2, 1)):
            command = ["env", preload, *collective, ":", "-np", str(without), "env", preload, "SLUICE_COLLECTIVES=off", *collective]
            result = run_job(command, with_lanes, {}, END_SECONDS)
            self.expect(f"{without} of 3 ranks have SLUICE_COLLECTIVES=off", result, (not result.ok, "the job failed"))

    # --- processors that a container or a launcher does not grant ----------------------------------------------------------

    def fewer_processors(self):
        """Who shares a processor must not wait for the other by keeping it."""
        allowed = sorted(os.sched_getaffinity(0))
        if len(allowed) < 2:
            return self.tally.skips("ranks bound to processors", "there is one only")
        environment = ["env", f"LD_PRELOAD={self.library}", "SLUICE_VERBOSE=1"]
        program = [self.programs.find("exchange"), "20", "1000000"]
        for name, processors, expected in (("both on one", allowed[:1] * 2, " with 1 of its processors"), ("one on each", allowed[:2], "")):
            first, second = ([*environment, "taskset", "-c", str(processor), *program] for processor in processors)
            result = run_job([*first, ":", "-np", "1", *second], 1, {}, self.timeout)
            self.expect(f"two ranks bound to processors, {name}", result,
                        (not result.ok or "exchange ok" not in result.stdout, "not the right result"),
                        (f"2 on this node{expected}\n" not in result.stderr, "not what the ranks share"))

    # --- a kernel that refuses -----------------------------------------------------------------------------------------

    def refusals(self):
        for what in ("memory_files", "protection", "fixed_mappings", "peer_memory", "peer_writes", "map_query", "mappings"):
            protocol = {"SLUICE_RNDV": "coop"} if what == "peer_writes" else {}
            for from_round, when in ((0, "from the start"), (8, "later on")):
                for copy in ("auto", "cma") if what.startswith("peer") else ("auto",):
                    result = self.run(["refused", what, str(from_round)], sluice={"SLUICE_SHMEM_COPY": copy, **protocol})
                    self.expect_exchange(f"kernel refuses {what.replace('_', ' ')} {when}, copy {copy}", result)

    def user_namespaces(self):
        program = self.programs.find("exchange")
        if subprocess.run(["unshare", "-U", "-r", "true"], capture_output=True).returncode != 0:
            return self.tally.skips("every rank in a user namespace of its own", "unshare -U is not permitted")
        for copy in ("auto", "alias", "cma", "stream"):
            for ranks in (2, 4):
                environment = {"LD_PRELOAD": str(self.library), "SLUICE_SHMEM_COPY": copy}
                result = run_job(["unshare", "-U", "-r", program, "10", "1000000"], ranks, environment, self.timeout)
                self.expect_exchange(f"every rank in a user namespace of its own, copy {copy}, {ranks} ranks", result)

    def injection(self):
        injection = Injection(self, GUARDS)
        injection.everything() if self.options.inject_all else injection.sample(self.options.seed)

    # --- a rank that dies ----------------------------------------------------------------------------------------------

    def vanished_peer(self):
        for when in ("receiving", "sending", "announced", "released", "silent"):
            for ranks in (2, 3):
                result = self.run(["vanishes", when], ranks, sluice={}, timeout=END_SECONDS)
                self.expect(f"rank 1 killed while {when}, {ranks} ranks: job ends", result,
                            (result.returncode == 0, "the job ended with 0"), ("went on" in result.stdout, "the survivor went on"))
            # mpirun does not end the others here: they must find out by themselves.
            result = self.run(["vanishes", when], sluice={}, timeout=END_SECONDS, mpirun_args=["--enable-recovery"])
            self.expect(f"rank 1 killed while {when}: survivor ends by itself", result,
                        ("went on" in result.stdout, "the survivor went on"),
                        (not re.search(r"sluice:.*rank 1\b.*", result.stderr), "the survivor does not say who vanished"))

    def vanished_in_a_copy_by_address(self):
        """Into and out of memory that is no block, by the sender and by both."""
        for protocol in ("rput", "coop"):
            for when in ("receiving", "sending", "announced"):
                result = self.run(["vanishes", when], sluice={"SLUICE_RNDV": protocol, "SLUICE_RELEASE": "off"}, timeout=END_SECONDS,
                                  mpirun_args=["--enable-recovery"])
                self.expect(f"rank 1 killed while {when}, {protocol} by address: survivor ends by itself", result,
                            ("went on" in result.stdout, "the survivor went on"),
                            (not re.search(r"sluice:.*rank 1\b.*", result.stderr), "the survivor does not say who vanished"))

    # --- collective calls --------------------------------------------------------------------------------------------------

    def collectives(self):
        for how in ("barrier", "bcast", "reduce", "allreduce", "full", "long_bcast", "long_allreduce", "ibarrier", "iallreduce"):
            result = self.run(["collective", how], 3, sluice={}, timeout=END_SECONDS)
            self.expect(f"rank 1 killed before {how}: job ends", result, (result.returncode == 0, "the job ended with 0"))
            result = self.run(["collective", how], sluice={}, timeout=END_SECONDS,
                              mpirun_args=["--enable-recovery"])
            self.expect(f"rank 1 killed before {how}: survivor ends by itself", result,
                        ("rank 0 went on" in result.stdout, "the survivor went on"),
                        (not re.search(r"sluice:.*rank 1\b.*", result.stderr), "the survivor does not say who vanished"))
        result = self.run(["collective", "stopped"], 3, sluice={}, timeout=END_SECONDS)
        self.expect("rank 1 stopped for a while before MPI_Allreduce", result, (not result.ok, "the job failed"))
        for how, words in (("kinds", ("MPI_Bcast", "MPI_Allreduce")), ("lengths", ("16 bytes", "160 bytes")),
                           ("long_lengths", ("MPI_Bcast", "another length")), ("long_kinds", ("another collective call",)),
                           ("nonblocking_kinds", ("MPI_I", "another collective call")), ("block_lengths", ("MPI_Alltoall", "another length"))):
            result = self.run(["collective", how], 3, sluice={}, timeout=END_SECONDS)
            missing = [word for word in words if word not in result.stderr]
            self.expect(f"ranks in collective calls of different {how}", result,
                        (result.returncode == 0, "the job ended with 0"), (missing, f"the message does not say {missing}"))
        for how in ("polled_kinds", "long_polled_kinds"):
            result = self.run(["collective", how], 2, sluice={}, timeout=END_SECONDS)
            self.expect(f"ranks that poll for collective calls of different {how}", result,
                        (result.returncode == 0, "the job ended with 0"),
                        ("another collective call" not in result.stderr, "nobody is told"))
        result = self.run(["collective", "own_lengths"], 3, sluice={}, timeout=END_SECONDS)
        self.expect("a rank whose own block has two lengths", result, (not result.ok, "the job failed"),
                    ("WRONG CLASS" in result.stderr, "another error class"))

    def collective_ends(self):
        """In the middle of calls, others released among them: what the launcher says, a line from each survivor, and nothing is left."""
        before = set(os.listdir("/dev/shm"))
        codes = {how: self.run(["collective_ends", "messages", how, "1"], 3, timeout=END_SECONDS).returncode for how in ENDS}
        for i, (kind, how) in enumerate(itertools.product(CALLS, ENDS)):
            rank = (i + i // len(ENDS)) % 3  # each rank in each kind
            result = self.run(["collective_ends", kind, how, str(rank)], 3, sluice=COLLECTIVES, timeout=END_SECONDS)
            self.expect(f"rank {rank} ends by {how} in collective calls, {kind}", result,
                        (result.returncode != codes[how], f"the host's code is {codes[how]}"),
                        ("went on" in result.stdout, "a survivor went on"),
                        (has_lines_too_many(result), "a survivor says more than one line"))
        for kind in ("nonblocking", "released"):
            result = self.run(["collective_ends", kind, "kill", "1"], 3, sluice=COLLECTIVES, timeout=END_SECONDS,
                              mpirun_args=["--enable-recovery"])
            self.expect(f"rank 1 killed in collective calls, {kind}: survivors end by themselves", result,
                        ("went on" in result.stdout, "a survivor went on"), (has_lines_too_many(result), "a survivor says more than one line"),
                        (not re.search(r"sluice:.*rank 1\b.*", result.stderr), "the survivors do not say who vanished"))
        self._no_names("nothing left in /dev/shm after ends in collective calls", before)

    def collective_waits(self):
        """A rank that is stopped, and communicators without lanes."""
        for kind in CALLS:
            result = self.run(["collective_ends", kind, "stop", "1"], 3, sluice=COLLECTIVES, timeout=END_SECONDS)
            burned = [float(value) for value in re.findall(r"^burned ([0-9.]+)$", result.stdout, re.MULTILINE)]
            self.expect(f"rank 1 stopped in collective calls, {kind}: nobody burns", result,
                        (not result.ok or len(burned) != 2, "the job failed"),
                        (max(burned, default=0) > BURNED_MILLISECONDS, f"processor time: {burned} ms"))
        result = self.run(["collective_ends", "exhausted"], 3, sluice=COLLECTIVES, timeout=END_SECONDS)
        self.expect("more communicators than lanes", result, (not result.ok or result.stdout.count("sums ok") != 3, "the job failed"))

    # --- messages longer than the buffer -------------------------------------------------------------------------------

    def truncation(self):
        # The host, where it copies across processes, writes beyond the buffer; that much is not expected of Sluice.
        def answers(result):
            return [line for line in result.stdout.splitlines() if "beyond the buffer" not in line]

        host = self.run(["truncated"])
        for mode in ({}, {"SLUICE_RELEASE": "off"}, {"SLUICE_SHMEM_COPY": "cma"}, {"SLUICE_SHMEM_COPY": "stream"}):
            result = self.run(["truncated"], sluice=mode)
            differing = [f"host: {a} | sluice: {b}" for a, b in zip(answers(host), answers(result)) if a != b]
            self.expect(f"message longer than the buffer {mode or ''}", result,
                        (not result.ok, "the job failed"), (differing, "\n".join(differing)),
                        (len(answers(host)) != len(answers(result)), "output of another length than the host's"),
                        ("beyond the buffer" in result.stdout, "bytes beyond the buffer were changed"))
        result = self.run(["truncated_late"], sluice={}, timeout=END_SECONDS)
        self.expect("message longer than a buffer already released", result,
                    (result.returncode == 0 or "went on" in result.stdout, "the error was lost"),
                    ("MPI_Recv" not in result.stderr, "the message does not name the call"),
                    (not re.search(r"sluice:.*\brank 1\b", result.stderr), "the message does not name the peer"),
                    ("4711" not in result.stderr, "the message does not name the tag"))

    # --- endings -------------------------------------------------------------------------------------------------------

    def endings(self):
        for how in ("finalize", "return", "exit", "quick_exit", "abort", "wild", "signal", "other_exit"):
            host = self.run(["endings", how], timeout=END_SECONDS)
            result = self.run(["endings", how], sluice={}, timeout=END_SECONDS)
            self.expect(f"ends by {how} as under the host", result,
                        (result.returncode != host.returncode, f"the host's code is {host.returncode}"),
                        (bool(result.left_behind) != bool(host.left_behind), "processes were left behind"))

    def abort_over_sockets(self):
        """Who aborts says goodbye: nobody reports it as vanished, in any of several runs, as it is a race with the launcher."""
        said = ""
        for _ in range(5):
            result = self.run(["endings", "abort"], sluice={"SLUICE_TRANSPORTS": "tcp"}, timeout=END_SECONDS)
            said += "".join(line + "\n" for line in result.stderr.splitlines() if "vanished" in line)
        self.expect("MPI_Abort over tcp is not reported as a vanished peer", result,
                    (said, said), (result.returncode != 42, "the job did not end with the code of MPI_Abort"))

    def shared_memory_names(self):
        for how in ("finalize", "exit", "abort", "wild"):
            before = set(os.listdir("/dev/shm"))
            self.run(["endings", how], sluice={}, timeout=END_SECONDS)
            self._no_names(f"nothing left in /dev/shm after {how}", before)
        before = set(os.listdir("/dev/shm"))
        mark = uuid.uuid4().hex
        job = threading.Thread(target=self.run, args=(["exchange", "100000", "1000000"],), kwargs={"sluice": {"JOB_TO_KILL": mark}})
        job.start()
        time.sleep(3)
        kill_all(mark)
        job.join()
        self._no_names("nothing left in /dev/shm after kill -9 of every rank and of mpirun", before)

    def _no_names(self, name, before):
        left = [entry for entry in set(os.listdir("/dev/shm")) - before if not HOST_FILES.search(entry)]
        self.tally.check(name, f"left: {left}" if left else "")

    # --- costs of being there ------------------------------------------------------------------------------------------

    def idle(self):
        """Side by side: they sleep, and each rank's own processor time is what counts."""
        with concurrent.futures.ThreadPoolExecutor() as pool:
            alone = pool.submit(self.run, ["idle", "posted", str(IDLE_SECONDS)])
            ways = ("posted", "nothing", "released")
            loaded = {way: pool.submit(self.run, ["idle", way, str(IDLE_SECONDS)], sluice={}) for way in ways}
        host = idle_times(alone.result())
        for way in ways:
            result = loaded[way].result()
            used = idle_times(result)
            self.expect(f"idle process uses no processor time, {way}", result, (not result.ok or len(used) != 2, "the job failed"),
                        (max(used, default=0) > max(host, default=0) + IDLE_MILLISECONDS, f"{used} ms, host {host} ms"))

    def other_programs(self):
        commands = (["ls", "/"], ["sh", "-c", "echo $((6 * 7)) | cat; ls / | wc -l; exit 5"],
                    ["bash", "-c", "x=$(ls / | sort); echo $x; (exit 3)"],
                    ["python3", "-c", "import subprocess, threading\nt = threading.Thread(target=print, args=(1,)); t.start(); t.join()\n"
                     "print(subprocess.run(['ls', '/'], capture_output=True).stdout)"])
        for settings in ({}, {"SLUICE_RELEASE": "nonsense", "SLUICE_SUMMARY": "1"}):
            for command in commands:
                plain = subprocess.run(command, capture_output=True)
                loaded = subprocess.run(command, capture_output=True, env={**os.environ, "LD_PRELOAD": str(self.library), **settings})
                same = (plain.returncode, plain.stdout, plain.stderr) == (loaded.returncode, loaded.stdout, loaded.stderr)
                self.tally.check(f"inert in {command[0]} {settings or ''}", "" if same else f"{plain}\n{loaded}")

    def ended_runner(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self.tally.check(f"a suite's runner leaves nothing after {number.name}", runners.left_by(number, self.options))

    def preloaded_launcher(self):
        """LD_PRELOAD in front of mpirun rather than passed on by it."""
        os.environ["LD_PRELOAD"] = str(self.library)
        try:
            result = run_job([self.programs.find("exchange"), "4", "100000"], 2, {}, self.timeout)
        finally:
            del os.environ["LD_PRELOAD"]
        self.expect("preloaded into mpirun and all its children", result, (not result.ok, "the job failed"))


def has_lines_too_many(result):
    said = re.findall(r"^sluice: (rank \d+)", result.stderr, re.MULTILINE)
    return len(said) != len(set(said))


def idle_times(result):
    return [float(value) for value in re.findall(r"(?:sender|receiver) idle ([0-9.]+)", result.stdout)]


def kill_all(mark):
    """kill -9 of every process that carries the mark on its command line or in its environment, mpirun first."""
    def carries(pid):
        for name in ("cmdline", "environ"):
            try:
                if mark.encode() in pathlib.Path(f"/proc/{pid}/{name}").read_bytes():
                    return True
            except OSError:
                pass
        return False

    pids = [int(entry) for entry in os.listdir("/proc") if entry.isdigit() and int(entry) != os.getpid() and carries(int(entry))]
    for pid in sorted(pids):
        try:
            os.kill(pid, 9)
        except ProcessLookupError:
            pass


GUARDS = ("mprotect", "userfaultfd")
GROUPS = ("bad_values", "unknown_names", "preloaded_in_some", "differing_settings", "fewer_processors", "refusals",
          "injection", "user_namespaces", "vanished_peer", "vanished_in_a_copy_by_address", "collectives", "collective_ends", "collective_waits",
          "truncation", "endings", "abort_over_sockets", "shared_memory_names", "idle", "other_programs", "ended_runner", "preloaded_launcher")

SIDE_BY_SIDE = 3
ALONE = ("preloaded_launcher",)  # changes the environment of this process


def add_options(parser):
    parser.add_argument("--only", nargs="+", choices=GROUPS)
    parser.add_argument("--inject-all", action="store_true", help="every injected failure, not a sample")
    parser.add_argument("--seed", type=int, default=1, help="chooses the sample (default %(default)s)")


def main():
    options = parse_options(__doc__, 60, add_options)
    tally = Tally()
    if options.library is None:
        tally.skips("all", "no --library")
        tally.finish()
    faults = Faults(options, tally)
    wanted = options.only or GROUPS
    # Most jobs start, end and wait for most of their time.
    with concurrent.futures.ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        for done in [pool.submit(getattr(faults, group)) for group in wanted if group not in ALONE]:
            done.result()
    for group in ALONE:
        if group in wanted:
            getattr(faults, group)()
    tally.finish()
