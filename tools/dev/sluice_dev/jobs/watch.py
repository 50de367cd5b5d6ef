"""What the ranks of a job need, looked at from outside while it runs: address space and resident memory, at most."""

import contextlib
import pathlib
import re
import threading

from sluice_dev.jobs.job import rank_pids

SAMPLING_SECONDS = 0.05


class Watch:
    """`meanwhile` of run_job. The kernel keeps the peaks, so that only what grows in the last moments is missed."""

    def __init__(self):
        self._peaks = {}  # pid -> (address space, resident memory), bytes
        self._over = threading.Event()

    def __call__(self, mark):
        while not self._over.wait(SAMPLING_SECONDS):
            for pid in rank_pids(mark).values():
                with contextlib.suppress(OSError):
                    status = pathlib.Path(f"/proc/{pid}/status").read_text()
                    found = [int(number) * 1024 for number in re.findall(r"^(?:VmPeak|VmHWM):\s+(\d+)", status, re.MULTILINE)]
                    if len(found) == 2:
                        self._peaks[pid] = tuple(found)

    def end(self):
        self._over.set()

    @property
    def address_space(self):
        """The largest of a rank."""
        return max((space for space, _ in self._peaks.values()), default=0)

    @property
    def resident(self):
        """Of all ranks."""
        return sum(resident for _, resident in self._peaks.values())
