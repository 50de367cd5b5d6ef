"""Guests with a true verbs stack and no hardware: Debian's kernel in QEMU, with an adapter of its rdma_rxe (soft-RoCE).

    with SoftRoce(builddir) as guests:
        result = guests.run(["./ring"], ranks=2, env={"LD_PRELOAD": library}, timeout=60)       # mpirun, as Bed.run
        result = guests.run_command(["ibv_devinfo"], timeout=10)                                # anything, in the first guest

A guest sees the machine's files, all of them, at the same paths; what it writes is gone with it. One guest has its adapter rxe0 on an
interface of its own and several ranks share it. Two are joined by a wire, eth0 on both, with an adapter on each end; they are called n1 and
n2. GID 0 is the link-local address, 1 is 10.72.0.N, 2 is fd72::N.

Times in a guest mean nothing: every instruction is emulated where the machine has no virtualization.
"""

import pathlib
import socket
import threading
import time

from sluice_dev.base.builds import BUILD
from sluice_dev.jobs.job import JOB_ENVIRONMENT, mpirun_command
from sluice_dev.softroce.guest import FILES, Guest, GuestFailed, Shape, address_of, require_tools  # noqa: F401
from sluice_dev.softroce.kernel import Kernel, NoGuest  # noqa: F401
from sluice_dev.testbed.bed import HOST_SETTINGS, host_arguments

MAX_GUESTS = 2
DEFAULT_LIMIT = 3600


class SoftRoce:
    """Use from one thread, except `run` and `run_command`, which may be called by several at a time."""

    def __init__(self, builddir=None, guests=1, shape=None, limit=DEFAULT_LIMIT):
        """Boots; what guests boot from is kept below `builddir` (default: build of this tree). After `limit` seconds everything in them ends.

        Raises NoGuest where there can be none, GuestFailed where one does not come up.
        """
        if not 1 <= guests <= MAX_GUESTS:
            raise ValueError(f"{guests} guests: expected 1 to {MAX_GUESTS}")
        require_tools()
        shape = shape or (Shape() if guests == 1 else Shape("1024M", 1))
        kernel = Kernel(pathlib.Path(builddir or BUILD) / "softroce")
        self._guests = []
        self._limit = threading.Timer(limit, self._stop, [f"its {limit:.0f} seconds are over"])
        self._limit.daemon = True
        started = time.monotonic()
        try:
            self._start(kernel, guests, shape)
            self._limit.start()
            for guest in self._guests:
                guest.await_ready()
        except BaseException:
            self.close()
            raise
        self.boot_seconds = time.monotonic() - started

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._limit.cancel()
        for guest in self._guests:
            guest.close()
        self._guests.clear()

    def run(self, argv, ranks, env, timeout, cwd=None, mpirun_args=(), slots=None):
        """As jobs.run_job. Over two guests in blocks: `slots` is the number of ranks of each, as even as can be by default."""
        arguments, peers = [], []
        if len(self._guests) > 1:
            hosts = [guest.name for guest in self._guests]
            arguments = ["--mca", "plm_rsh_agent", FILES / "remote", *HOST_SETTINGS, *host_arguments(hosts, ranks, slots)]
            peers = [address_of(number) for number in range(2, len(self._guests) + 1)]
        command = mpirun_command(argv, ranks, env, ["--mca", "mpi_yield_when_idle", "1", *arguments, *mpirun_args])
        return self._guests[0].run(command, JOB_ENVIRONMENT, timeout, cwd, peers)

    def run_command(self, command, timeout, env=None, cwd=None, guest=1):
        return self._guests[guest - 1].run(command, env or {}, timeout, cwd)

    def _start(self, kernel, guests, shape):
        if guests == 1:
            self._guests.append(Guest(kernel, 1, guests, shape))
            return
        for number, end in enumerate(socket.socketpair(), start=1):
            with end:
                self._guests.append(Guest(kernel, number, guests, shape, end.fileno()))

    def _stop(self, why):
        for guest in self._guests:
            guest.stop(why)
