"""Watches the ranks of a job that repeats itself: does what they use grow?

A rank is told by a mark in its environment, and from its own children by its parent, the launcher. Its figures are compared between an early
part of its life and a late one, so what is allocated once, or rises and falls, is not growth.
"""

import collections
import os
import pathlib
import statistics
import threading
import uuid

SAMPLES_FOR_VERDICT = 40
PERIOD_SECONDS = 0.5
MEGABYTE = 1 << 20

Figure = collections.namedtuple("Figure", "name typical factor slack unit")
# Memory by its highest value in each part, since it rises and falls with what is received; numbers of things by their usual value.
FIGURES = [
    Figure("resident memory", max, 1.10, 16 * MEGABYTE, MEGABYTE),
    Figure("memory files", max, 1.10, 16 * MEGABYTE, MEGABYTE),
    Figure("descriptors", statistics.median_high, 1.0, 3, 1),
    Figure("mappings", statistics.median_high, 1.15, 60, 1),
]


class Watch:
    def __init__(self):
        self.mark = {"RANDOM_PROGRAM_MARK": uuid.uuid4().hex}
        self._samples = collections.defaultdict(list)  # by pid
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def start(self):
        self._thread.start()

    def stop(self):
        self._end.set()
        self._thread.join()

    def verdict(self):
        """What grew, as a list of complaints, and a line of figures."""
        complaints, shown = [], []
        for pid, samples in sorted(self._samples.items()):
            if len(samples) < SAMPLES_FOR_VERDICT:
                shown.append(f"process {pid} too short-lived to judge ({len(samples)} samples)")
                continue
            late = len(samples) * 2 // 3
            for position, figure in enumerate(FIGURES):
                values = [sample[position] for sample in samples]
                before, after = figure.typical(values[len(samples) // 6:late // 2 + len(samples) // 6]), figure.typical(values[late:])
                text = f"{figure.name} {before // figure.unit} -> {after // figure.unit}{' MB' if figure.unit == MEGABYTE else ''}"
                shown.append(text)
                if after > before * figure.factor + figure.slack:
                    complaints.append(f"process {pid}: {text}")
        return complaints, "; ".join(shown)

    def _look(self):
        (name, value), = self.mark.items()
        wanted = f"{name}={value}".encode()
        while not self._end.wait(PERIOD_SECONDS):
            for pid in _ranks(wanted):
                sample = _sample(pid)
                if sample is not None:
                    self._samples[pid].append(sample)


def _ranks(wanted):
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if wanted not in (path / "environ").read_bytes().split(b"\0"):
                continue
            parent = (path / "stat").read_text(errors="replace").rpartition(")")[2].split()[1]
            launcher = pathlib.Path("/proc", parent, "comm").read_text().strip()
        except OSError:
            continue
        if launcher in ("mpirun", "orterun", "orted"):
            yield int(path.name)


def _sample(pid):
    """The values of FIGURES for one process, or nothing when it is gone."""
    path = pathlib.Path("/proc", str(pid))
    try:
        resident = int(path.joinpath("statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        descriptors = list((path / "fd").iterdir())
        mappings = path.joinpath("maps").read_bytes().count(b"\n")
    except OSError:
        return None
    return resident, sum(_memory_files(descriptors).values()), len(descriptors), mappings


def _memory_files(descriptors):
    """Bytes by file."""
    found = {}
    for descriptor in descriptors:
        try:
            if os.readlink(descriptor).startswith("/memfd:"):
                status = os.stat(descriptor)
                found[status.st_dev, status.st_ino] = status.st_blocks * 512
        except OSError:
            pass
    return found
