"""Checks the guests themselves: that devices carry data, that commands come back as they should, and that nothing is left behind.

    check --builddir build

In the same guests it runs the unit tests that need a device, and prints what they counted: the control messages of each rendezvous
protocol, beside those on the model of an adapter.
"""

import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid

from sluice_dev.jobs.job import MARK, processes_of
from sluice_dev.jobs.runner import Tally
from sluice_dev.softroce.softroce import GuestFailed, NoGuest, SoftRoce

from . import counted

here = pathlib.Path(__file__).resolve().parent

UNIT_TESTS = ["verbs_transport_test", "verbs_loopback_test", "verbs_transport_gather_test", "verbs_transport_ring_test",
              "verbs_transport_end_test", "verbs_transport_faults_test", "verbs_rendezvous_test"]
COUNTED_ON_THE_MODEL = {"runtime_rendezvous_rdma_test": "*number_of_messages*", "runtime_rendezvous_put_test": "*control_message*"}
UNIT_SECONDS = 90
COMMAND_SECONDS = 60
HANG_SECONDS = 10  # with the time that ranks need to start
END_SECONDS = 10  # for everything to be gone after an interruption
NO_GUEST_CODE = 77

DEVICE = "-d rxe0 -g 1"
PINGPONG = f"ibv_rc_pingpong {DEVICE} -n 20 -s 65536 -c"  # -c: check what arrives
LISTENING = "until grep -qi ':4853 ' /proc/net/tcp /proc/net/tcp6; do sleep 0.1; done"  # at the tool's port, 18515


def start_run(builddir, *arguments, path=None):
    """`run` in a directory for temporary files of its own, with a mark on all that it starts."""
    mark, scratch = uuid.uuid4().hex, tempfile.TemporaryDirectory(prefix="softroce-check-")
    environment = {**os.environ, MARK: mark, "TMPDIR": scratch.name, **({"PATH": path} if path else {})}
    process = subprocess.Popen([here / "run", "--builddir", builddir, *arguments], env=environment, text=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    return process, mark, scratch


# --- where there is no guest --------------------------------------------------------------------------------------------


def refuses(builddir, path, reason):
    process, _, scratch = start_run(builddir, "--", "true", path=path)
    with scratch:
        output = process.communicate()[0]
    if process.returncode != NO_GUEST_CODE or not re.search(reason, output):
        return f"ended with code {process.returncode}, expected {NO_GUEST_CODE} and {reason!r}:\n{output}"
    return ""


def tools_without(directory, *missing):
    """A PATH in which some tools are missing, with all others that `run` needs."""
    for tool in {"qemu-system-x86_64", "setpriv", "rdma", "ibv_devinfo", "apt-get", "apt-cache", "dpkg-deb", "tar"} - set(missing):
        (directory / tool).symlink_to("/bin/true")
    for tool, real in (("dirname", shutil.which("dirname")), ("python3", sys.executable)):  # of the command itself
        (directory / tool).symlink_to(real)
    return str(directory)


def says_what_is_missing(builddir, tally):
    with tempfile.TemporaryDirectory(prefix="softroce-check-") as scratch:
        scratch = pathlib.Path(scratch)
        (scratch / "a").mkdir()
        path = tools_without(scratch / "a", "qemu-system-x86_64")
        tally.check("without the emulator the reason is said", refuses(builddir, path, "no qemu-system-x86_64"))
        (scratch / "b").mkdir()
        path = tools_without(scratch / "b")  # an apt-cache that knows nothing
        tally.check("without the kernel package the reason is said", refuses(scratch / "build", path, "no package linux-image-amd64"))
        left = [item.name for item in (scratch / "build" / "softroce").iterdir() if item.name != "lock"]
        tally.check("a failed download leaves nothing", f"left: {left}" if left else "")


# --- an end before the end ------------------------------------------------------------------------------------------------


def interrupted(builddir, number):
    """Why something is left when `run` gets this signal while the guest starts; empty when nothing is."""
    process, mark, scratch = start_run(builddir, "--", "sleep", "1000")
    with scratch:
        if not awaited(lambda: "qemu" in names_of(mark)):
            process.kill()
            return f"no emulator was started: {process.communicate()[0]}"
        process.send_signal(number)
        try:
            process.communicate(timeout=END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            return f"it did not end within {END_SECONDS} s"
        if not awaited(lambda: not processes_of(mark)):
            return f"still running: {names_of(mark)}"
        left = os.listdir(scratch.name)
        return f"temporary files: {left}" if left else ""


def awaited(condition):
    end = time.monotonic() + END_SECONDS
    while not (met := condition()) and time.monotonic() < end:
        time.sleep(0.05)
    return met


def names_of(mark):
    names = []
    for pid in processes_of(mark):
        try:
            names.append(pathlib.Path(f"/proc/{pid}/comm").read_text().strip())
        except OSError:  # it has just ended
            pass
    return " ".join(names)


def leaves_nothing(builddir, tally):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        tally.check(f"nothing is left after {number.name}", interrupted(builddir, number))


# --- inside ----------------------------------------------------------------------------------------------------------------


def unlike(result, code, pattern, error=""):
    if result.returncode != code or result.timed_out or not re.search(pattern, result.stdout) or error not in result.stderr:
        return f"expected code {code}, {pattern!r} and {error!r}: {result.describe()}"
    return ""


def devices_work(guests, tally):
    for guest in (1, 2):
        result = guests.run_command(["ibv_devinfo", "-d", "rxe0"], COMMAND_SECONDS, guest=guest)
        tally.check(f"guest {guest} has an active port", unlike(result, 0, "PORT_ACTIVE"))
    within = f"{PINGPONG} >/dev/null & {LISTENING}; {PINGPONG} localhost && wait $!"
    tally.check("data between two processes of a guest", unlike(shell(guests, within), 0, "20 iters"))
    tally.check("a server in one guest", unlike(shell(guests, f"setsid -f env -u {MARK} sh -c '{PINGPONG}'; {LISTENING}", guest=2), 0, ""))
    tally.check("data between guests", unlike(shell(guests, f"{PINGPONG} n2"), 0, "20 iters"))


def shell(guests, line, seconds=COMMAND_SECONDS, guest=1):
    return guests.run_command(["sh", "-c", line], seconds, guest=guest)


def commands_come_back(guests, tally):
    tally.check("output, errors and status", unlike(shell(guests, "echo out; echo err >&2; exit 3"), 3, "^out$", "err"))
    tally.check("a program that is not there", unlike(guests.run_command(["no-such-program"], COMMAND_SECONDS), 127, "", "no-such-program"))
    result = guests.run(["hostname"], 2, {}, COMMAND_SECONDS)
    tally.check("a job over both guests", "" if result.ok and sorted(result.stdout.split()) == ["n1", "n2"] else result.describe())
    result = guests.run([sys.executable, "-c", "import time; time.sleep(1000)"], 2, {}, HANG_SECONDS)
    ranks = re.findall(r"^--- rank (\d) .*\n#0|^--- rank (\d) .*\nThread", result.stacks, re.MULTILINE)
    tally.check("a job that hangs is killed, with stacks from both guests", "" if result.timed_out and len(ranks) == 2 else result.describe())
    result = shell(guests, "sleep 1000 & echo started")
    tally.check("what outlives its command is killed", "" if result.left_behind else result.describe())
    tally.check("nothing of it goes on", unlike(shell(guests, "! pidof sleep"), 0, ""))


def unit_tests(guests, builddir, tally):
    said = on_the_model(builddir)
    for program in UNIT_TESTS:
        path = (builddir / "tests" / "unit" / program).resolve()
        if not path.exists():
            tally.fails(program, "not built")
            continue
        result = guests.run_command([path], UNIT_SECONDS)
        said += result.stdout
        outcomes = re.findall(r"^\[ +(OK|FAILED|SKIPPED) +\] (\S+) \(\d+ ms\)$", result.stdout, re.MULTILINE)
        for outcome, name in outcomes:
            if outcome == "OK":
                tally.passes(name)
            else:  # there is a device, and no other reason to skip one
                tally.fails(name, f"{outcome}\n{_said_by(name, result.stdout)}")
        if not outcomes or not result.ok and all(outcome == "OK" for outcome, _ in outcomes):
            tally.fails(program, result.describe())
    print("\n    ".join(["table of control messages, counted where they are sent:", *counted.table(said)]))


def on_the_model(builddir):
    """What the model of an adapter counts, which needs no guest."""
    said = ""
    for program, tests in COUNTED_ON_THE_MODEL.items():
        path = (builddir / "tests" / "unit" / program).resolve()
        said += subprocess.run([path, f"--gtest_filter={tests}"], capture_output=True, text=True, timeout=UNIT_SECONDS, check=False).stdout
    return said


def _said_by(test, output):
    return output.partition(f"[ RUN      ] {test}\n")[2].partition(f"] {test} (")[0].rpartition("\n")[0]


def its_end_is_reported(guests, tally):
    result = shell(guests, "echo 1 >/proc/sys/kernel/sysrq; echo c >/proc/sysrq-trigger; sleep 1000")
    why = "" if "qemu-system-x86_64 ended" in result.stderr and "sysrq" in result.stderr else result.describe()
    tally.check("a crash of the guest is reported, with its console", why)
    tally.check("what is asked of a guest that is gone fails", unlike(shell(guests, "true"), 255, "", "ended"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--builddir", type=pathlib.Path, required=True)
    options, _ = parser.parse_known_args()  # scripts/test names the library as well
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # through `finally`
    tally = Tally()
    says_what_is_missing(options.builddir, tally)
    try:
        with SoftRoce(options.builddir, guests=2) as guests:
            tally.passes("two guests", f"up after {guests.boot_seconds:.1f} s")
            devices_work(guests, tally)
            commands_come_back(guests, tally)
            unit_tests(guests, options.builddir, tally)
            its_end_is_reported(guests, tally)
    except NoGuest as why:
        tally.skips("everything else", f"no guest: {why}")
        tally.finish()
    except GuestFailed as why:
        tally.fails("two guests", str(why))
    leaves_nothing(options.builddir, tally)
    tally.finish()
