"""One guest: the emulator's process, and the line to the agent inside (agent.py), by which it is asked to run commands.

Nothing of it lies in the file system: what the emulator needs is handed over as open descriptors. It dies with the thread that started it
(setpriv --pdeathsig), whatever becomes of the process.
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

from sluice_dev.base.builds import ROOT
from sluice_dev.jobs.job import Result
from sluice_dev.softroce import tsc
from sluice_dev.softroce.kernel import NoGuest

FILES = ROOT / "tests" / "testbed" / "softroce"  # scripts that run inside
EMULATOR = "qemu-system-x86_64"
BOOT_SECONDS = 120  # of processor time it takes 8 without virtualization
STACKS_SECONDS = 180  # that a guest gets beyond a command's own time, to say where it hangs
SHOWN_CONSOLE_LINES = 60  # a crash of the kernel takes so many
MTU = 9000

# Emulation does `rep movsb` byte by byte: memcpy is 4 times, memset 16 times faster in a processor that does not recommend it.
ACCELERATORS = {"kvm": ["-accel", "kvm", "-cpu", "max"], "tcg": ["-accel", "tcg,thread=multi", "-cpu", "max,-erms,-fsrm"]}

KERNEL_ARGUMENTS = [
    "console=ttyS0", "quiet", "panic=-1",
    # What an emulated machine on a busy one only loses time or nerves with.
    "mitigations=off", "tsc=reliable", "no_timer_check", "random.trust_cpu=on", "nokaslr", "nowatchdog", "cryptomgr.notests", "audit=0",
    "rcupdate.rcu_expedited=1",
]


class GuestFailed(Exception):
    """There could be a guest, but it does not come up."""


@dataclasses.dataclass(frozen=True)
class Shape:
    """What a guest is given."""
    memory: str = "2048M"
    processors: int = 2


class Guest:
    """`run` may be called by several threads at a time."""

    def __init__(self, kernel, number, hosts, shape, wire=None):
        """`wire` is the descriptor of a stream socket to the other guest's; without it the adapter is on an interface of its own."""
        self.name = f"n{number}"
        self._answers, self._waiting = {}, threading.Condition()
        self._ended = ""  # why no answer will come any more
        self._console = tempfile.TemporaryFile()
        ours, theirs = socket.socketpair()
        settings = _settings(self.name, number, hosts, "eth0" if wire is not None else "dummy0")
        with contextlib.closing(theirs), _memory_file(kernel.initramfs((FILES / "init").read_text(), settings)) as initramfs:
            passed = [theirs.fileno(), initramfs.fileno(), *([] if wire is None else [wire])]
            command = _emulator(kernel.image, f"/proc/self/fd/{initramfs.fileno()}", shape, theirs.fileno(), number, wire)
            self._process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *command], stdin=subprocess.DEVNULL, stdout=self._console,
                                             stderr=subprocess.STDOUT, pass_fds=passed)
        self._line = ours
        self._sending = threading.Lock()
        self._numbers = 0
        self._reader = threading.Thread(target=self._read_answers, daemon=True)
        self._reader.start()

    def await_ready(self, seconds=BOOT_SECONDS):
        """How many seconds the guest itself counts since its start."""
        answer = self._await(0, time.monotonic() + seconds)
        if answer is None:
            raise GuestFailed(f"guest {self.name} did not come up: {self.why()}")
        if not answer["adapters"]:
            raise GuestFailed(f"guest {self.name} has no adapter: {self.why()}")
        return answer["seconds"]

    def run(self, command, env, seconds, cwd=None, peers=()):
        """Result of a command inside. `peers` are the addresses of other guests in which it starts processes as well."""
        with self._sending:
            self._numbers += 1
            number = self._numbers
            request = {"id": number, "command": [str(word) for word in command], "environment": env, "seconds": seconds,
                       "directory": str(cwd or os.getcwd()), "peers": list(peers)}
            with contextlib.suppress(OSError):  # the reader says why
                self._line.sendall(json.dumps(request).encode() + b"\n")
        started = time.monotonic()
        answer = self._await(number, started + seconds + STACKS_SECONDS)
        if answer is None:
            return Result(255, "", f"guest {self.name}: {self.why()}", time.monotonic() - started)
        return Result(**answer["result"])

    def stop(self, why):
        """Ends it, and every command in it."""
        with self._waiting:
            self._ended = self._ended or why
            self._waiting.notify_all()
        self._process.kill()

    def close(self):
        self.stop("closed")
        self._process.wait()
        self._reader.join()
        self._line.close()
        self._console.close()

    def why(self):
        """Why the guest does not answer, and the last that was seen on its console."""
        self._console.seek(0)
        lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1bc|\r", "", self._console.read().decode(errors="replace")).splitlines()
        shown = [line for line in lines if line.strip()][-SHOWN_CONSOLE_LINES:]
        return "\n    ".join([self._ended or "no answer in time", *shown])

    def _await(self, number, deadline):
        with self._waiting:
            self._waiting.wait_for(lambda: number in self._answers or self._ended, max(0, deadline - time.monotonic()))
            return self._answers.pop(number, None)

    def _read_answers(self):
        with self._line.makefile("rb") as lines, contextlib.suppress(OSError):
            for line in lines:
                answer = json.loads(line)
                with self._waiting:
                    self._answers[answer["id"]] = answer
                    self._waiting.notify_all()
        self._process.wait()
        with self._waiting:
            self._ended = self._ended or f"{EMULATOR} ended with code {self._process.returncode}"
            self._waiting.notify_all()


def require_tools():
    for tool, package in ((EMULATOR, "qemu-system-x86"), ("setpriv", "util-linux"), ("rdma", "iproute2"), ("ibv_devinfo", "ibverbs-utils")):
        if shutil.which(tool) is None and not pathlib.Path("/usr/sbin", tool).exists():
            raise NoGuest(f"there is no {tool} (package {package})")


def accelerator():
    """`kvm` where it can run any kernel: /dev/kvm may be there and take only kernels that know of it (pvm)."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "tcg"
    flags = re.search(r"^flags\s*:(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return "kvm" if flags and {"vmx", "svm"} & set(flags[1].split()) else "tcg"


def address_of(number):
    return f"10.72.0.{number}"


def _emulator(image, initramfs, shape, line, number, wire):
    chosen = accelerator()
    frequency = tsc.kilohertz() if chosen == "tcg" else None
    arguments = KERNEL_ARGUMENTS + ([f"tsc_early_khz={frequency}"] if frequency else [])
    command = [EMULATOR, *ACCELERATORS[chosen], "-smp", str(shape.processors),
               "-m", shape.memory, "-machine", "q35", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-serial", "stdio",
               "-kernel", str(image), "-initrd", initramfs, "-append", " ".join(arguments),
               "-fsdev", "local,id=root,path=/,security_model=none,readonly=on,multidevs=remap",
               "-device", "virtio-9p-pci,fsdev=root,mount_tag=root",
               "-chardev", f"socket,id=line,fd={line}", "-device", "virtio-serial-pci", "-device", "virtserialport,chardev=line,name=agent"]
    if wire is not None:
        command += ["-netdev", f"stream,id=wire,server=off,addr.type=fd,addr.str={wire}",
                    "-device", f"virtio-net-pci,netdev=wire,mac=52:54:00:72:00:{number:02x},host_mtu={MTU},romfile="]
    return command


def _settings(name, number, hosts, interface):
    lines = "127.0.0.1 localhost\n::1 localhost\n" + "".join(f"{address_of(host)} n{host}\n" for host in range(1, hosts + 1))
    values = {"GUEST_NAME": name, "GUEST_INTERFACE": interface, "GUEST_MTU": str(MTU), "GUEST_HOSTS": lines,
              "GUEST_ADDRESSES": f"{address_of(number)}/24 fd72::{number}/64", "GUEST_DIRECTORY": str(FILES),
              "GUEST_PYTHON": os.path.realpath(sys.executable), "HOME": os.path.expanduser("~"),
              "PATH": f"{os.environ.get('PATH', '')}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
    return "".join(f"export {key}={shlex.quote(value)}\n" for key, value in values.items())


@contextlib.contextmanager
def _memory_file(contents):
    with open(os.memfd_create("initramfs"), "w+b") as file:
        file.write(contents)
        file.flush()
        yield file
