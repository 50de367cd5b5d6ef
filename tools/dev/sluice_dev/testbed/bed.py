"""Several hosts on one machine: a network, UTS, IPC, mount and process namespace for each, links between them.

    with Bed(hosts=2, rate="1gbit") as bed:
        result = bed.run(["./ring", "--long"], ranks=4, env={"LD_PRELOAD": library}, timeout=30)
    if not result.ok: print(result.describe())

Hosts are called n1, n2 and so on, with addresses 10.71.0.1 and fd71::1 and so on at their interface eth0. Two hosts are joined by
one veth pair; more by a switch, a bridge in a namespace of its own. What ranks of different hosts cannot do on a cluster they
cannot do here: they have no shared memory, no process numbers in common, and /tmp only as far as the programs need it (TMPDIR is
private). mpirun runs on n1 and reaches the others by `agent`. The other hosts' process namespaces lie inside that of n1.

Nothing is left behind, however this process ends: each namespace is held by a keeper alone, which ends when its standard input does,
that is when the bed is closed or this process is gone. A keeper is the first process of its process namespace, so that the kernel kills
all others with it.
"""

import os
import pathlib
import shutil
import signal
import subprocess
import time

from sluice_dev.base.builds import ROOT
from sluice_dev.jobs.job import run_job

AGENT = ROOT / "tests" / "testbed" / "agent"

MAX_HOSTS = 16
CARRIER_SECONDS = 10
CLOSE_SECONDS = 10
INTERFACE = "eth0"
SCRATCH = "/run"  # private to each host

# Every daemon is started from n1. The component that Open MPI 4.1.4 prefers for windows cannot make any over tcp.
HOST_SETTINGS = ["--mca", "plm_rsh_no_tree_spawn", "1", "--mca", "osc", "^ucx"]

# A bucket of tokens lets so much pass at full speed after a pause. Less than a message of interest, and more than one packet of
# segments as the sender makes them (GSO_BYTES), which would have to be cut by the shaper otherwise, by what the link takes in
# 90 us: so late the shaper's timer may be where a processor was idle, and tokens that overflow are capacity that a real link
# has. (With 20000, windows of 4 MB got 118.4 to 118.9 MB/s of 119.6 on the host alone, whose processes spin, and 117.4 to 119.2
# under Sluice, whose sleep; with 28000 and an idle machine 119.3 and 119.5.)
BURST_BYTES = 28000
GSO_BYTES = 16384
QUEUE_MILLISECONDS = 20  # of the link's capacity; a sender that overruns it sees loss

# The ignored signal lets the kernel reap orphans.
KEEPER = 'trap "" CHLD && echo ready && exec cat >/dev/null'
HOST_KEEPER = f"""set -e
mount -t proc proc /proc
mount -t tmpfs tmpfs {SCRATCH}
mount -t tmpfs tmpfs /dev/shm
printf '%s' "$2" > {SCRATCH}/hosts
mount --bind {SCRATCH}/hosts /etc/hosts
hostname "$1"
ip link set lo up
{KEEPER}"""


ALL_NAMESPACES = ["--net", "--uts", "--ipc", "--mount", "--pid"]
# The first process in a process namespace must be a child. That of `unshare --fork` and nsenter is waited for by one that stops
# itself, for good, when the child is stopped for a while.
AS_CHILD = ["sh", "-c", 'exec 3<&0; "$@" <&3 3<&- & exec 3<&-; wait $!', "sh"]


class NoBed(Exception):
    """Namespaces cannot be had here; the text says why."""


class Bed:
    """Use from one thread, except `run`, which may be called by several at a time."""

    def __init__(self, hosts=2, rate=None):
        """`rate` of each link, in the words of tc, such as "1gbit"; without it the links are as fast as the machine."""
        if not 1 <= hosts <= MAX_HOSTS:
            raise ValueError(f"{hosts} hosts: expected 1 to {MAX_HOSTS}")
        _require_privileges()
        self.hosts = [f"n{number}" for number in range(1, hosts + 1)]
        self.rate = rate
        self._keepers = {}
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for keeper in reversed(self._keepers.values()):  # n1 last: it holds the others
            keeper.close()
        self._keepers.clear()

    def run(self, argv, ranks, env, timeout, cwd=None, mpirun_args=(), slots=None, meanwhile=None):
        """As jobs.run_job, spread over the hosts in blocks: `slots` is the number of ranks of each, as even as can be by default."""
        args = ["--mca", "plm_rsh_agent", AGENT, *HOST_SETTINGS, *host_arguments(self.hosts, ranks, slots)]
        if ranks > os.cpu_count():  # Open MPI does not know that the hosts share processors, and would spin
            args += ["--mca", "mpi_yield_when_idle", "1"]
        return run_job(argv, ranks, env, timeout, cwd=cwd, mpirun_args=[*args, *mpirun_args], launch=self._launch, meanwhile=meanwhile)

    def on_host(self, host, command, cwd=None):
        """The command that runs `command` on that host, in this directory."""
        return self._keepers[host].inside([*ALL_NAMESPACES, "--no-fork", f"--wdns={cwd or os.getcwd()}"], [*AS_CHILD, *command])

    def set_link(self, host, up):
        """Pulls the cable of a host, or puts it back. Both ends see it."""
        keeper, interface = self._far_end(host)
        self._ip(keeper, f"link set {interface} {'up' if up else 'down'}")

    def address(self, host):
        return f"10.71.0.{self._number(host)}"

    # --- construction --------------------------------------------------------------------------------------------------

    def _start(self):
        addresses = "127.0.0.1 localhost\n::1 localhost\n"
        addresses += "".join(f"{self.address(host)} {host}\nfd71::{self._number(host)} {host}\n" for host in self.hosts)
        for host in self.hosts:
            command = ["unshare", *ALL_NAMESPACES, *AS_CHILD, "sh", "-c", HOST_KEEPER, "sh", host, addresses]
            if host != self.hosts[0]:
                command = self._keepers[self.hosts[0]].inside(["--mount", "--pid", "--no-fork"], [*AS_CHILD, *command])
            self._keepers[host] = _Keeper(command)
        if len(self.hosts) > 2:
            self._join_by_switch()
        elif len(self.hosts) == 2:
            self._join_two()
        if len(self.hosts) > 1:
            for host in self.hosts:
                self._set_up_interface(host)
            for host in self.hosts:
                self._await_carrier(host)

    def _join_two(self):
        first, second = (self._keepers[host] for host in self.hosts)
        self._ip(first, f"link add {INTERFACE} type veth peer name {INTERFACE} netns {second.pid}")

    def _join_by_switch(self):
        switch = self._keepers["switch"] = _Keeper(["unshare", "--net", "sh", "-c", KEEPER])
        self._ip(switch, "link add switch type bridge")
        self._ip(switch, "link set switch up")
        for host in self.hosts:
            self._ip(switch, f"link add {host} type veth peer name {INTERFACE} netns {self._keepers[host].pid}")
            self._ip(switch, f"link set {host} master switch up")
            self._shape(switch, host)

    def _set_up_interface(self, host):
        keeper = self._keepers[host]
        number = self._number(host)
        self._ip(keeper, f"address add 10.71.0.{number}/24 dev {INTERFACE}")
        self._ip(keeper, f"address add fd71::{number}/64 dev {INTERFACE} nodad")
        # Nobody else can have the addresses, so they are usable at once; and they outlive a pulled cable, as those of IPv4 do.
        settings = f"cd /proc/sys/net/ipv6/conf/{INTERFACE} && echo 0 > accept_dad && echo 1 > keep_addr_on_down"
        _checked(keeper.inside(["--net"], ["sh", "-c", settings]))
        self._shape(keeper, INTERFACE)
        self._ip(keeper, f"link set {INTERFACE} up")

    def _await_carrier(self, host):
        """The kernel looks at links once in a while; Open MPI overlooks an interface before."""
        end = time.monotonic() + CARRIER_SECONDS
        while "LOWER_UP" not in (shown := self._ip(self._keepers[host], f"link show {INTERFACE}")) or "NO-CARRIER" in shown:
            if time.monotonic() > end:
                raise NoBed(f"the link of {host} does not come up: {shown}")
            time.sleep(0.01)

    def _shape(self, keeper, interface):
        if self.rate is None:
            return
        self._ip(keeper, f"link set {interface} gso_max_size {GSO_BYTES}")
        _checked(keeper.inside(["--net"], ["tc", "qdisc", "add", "dev", interface, "root", "tbf", "rate", self.rate, "burst",
                                           str(BURST_BYTES), "latency", f"{QUEUE_MILLISECONDS}ms"]))

    # --- jobs ----------------------------------------------------------------------------------------------------------

    def _launch(self, mpirun):
        """The command and the environment of an mpirun on n1."""
        others = " ".join(f"{host}={self._keepers[host].pid_outside()}" for host in self.hosts[1:])
        return self.on_host(self.hosts[0], mpirun), {"TESTBED_HOSTS": others, "TMPDIR": SCRATCH}

    # --- parts ---------------------------------------------------------------------------------------------------------

    def _number(self, host):
        return self.hosts.index(host) + 1

    def _far_end(self, host):
        """Keeper and interface."""
        if "switch" in self._keepers:
            return self._keepers["switch"], host
        return next(keeper for name, keeper in self._keepers.items() if name != host), INTERFACE

    @staticmethod
    def _ip(keeper, words):
        return _checked(keeper.inside(["--net"], ["ip", *words.split()]))


def host_arguments(hosts, ranks, slots=None):
    """mpirun's: which of the hosts get how many ranks, in blocks; as even as can be without `slots`."""
    if slots is None:
        slots = [ranks // len(hosts) + (index < ranks % len(hosts)) for index in range(len(hosts))]
    if len(slots) != len(hosts) or sum(slots) != ranks:
        raise ValueError(f"slots {slots} for {ranks} ranks on {len(hosts)} hosts")
    return ["--host", ",".join(f"{host}:{count}" for host, count in zip(hosts, slots) if count), "--map-by", "slot"]


class _Keeper:
    """A process that holds namespaces until it is closed or this process ends."""

    def __init__(self, command):
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                         start_new_session=True)
        if self._process.stdout.readline() != b"ready\n":
            self._process.stdin.close()
            error = self._process.stderr.read().decode(errors="replace").strip()
            self._process.wait()
            raise NoBed(error or "a namespace could not be made")
        self.pid = _last_descendant(self._process.pid)

    def inside(self, namespaces, command):
        return ["nsenter", "--target", str(self.pid), *namespaces, "--", *(str(word) for word in command)]

    def pid_outside(self):
        """Its number in the process namespace around its own."""
        for line in pathlib.Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("NSpid:"):
                return int(line.split()[-2])
        raise NoBed("the kernel does not say process numbers in namespaces")

    def close(self):
        self._process.stdin.close()
        try:
            self._process.wait(CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            os.kill(self.pid, signal.SIGKILL)
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._process.stderr.close()


def _last_descendant(pid):
    while children := pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        pid = int(children[0])
    return pid


def _checked(command):
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise NoBed(f"{' '.join(command[command.index('--') + 1:])}: {run.stderr.strip()}")
    return run.stdout


def _require_privileges():
    if os.geteuid() != 0:
        raise NoBed("only root can make network namespaces")
    for tool in ("unshare", "nsenter", "ip", "tc", "mpirun"):
        if shutil.which(tool) is None:
            raise NoBed(f"there is no {tool}")
