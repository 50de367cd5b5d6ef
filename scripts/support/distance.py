"""Runs that are compared are made while the processors are equally far from each other.

A virtual machine's processors are threads that its host moves about: for seconds they are neighbours, then on different chips. On one guest
a cache line went from one to the other and back in 80, 150 or 530 ns, and the same copy of 64 KB took 7 or 37 us.
"""

import subprocess
import time

PROGRAM = "tests/bench/processor_distance"
SECONDS = 10
SAMPLES = 29
BETWEEN_SAMPLES = 0.1
ALIKE = 1.5  # distances that differ by less than this factor
TRIES = 4
PATIENCE = 30  # looks for the usual distance before a run


def alike(first, second):
    return first < second * ALIKE and second < first * ALIKE


class Distance:
    """What is usual on this machine. Without the program in the build directory, or with one processor, every run counts."""

    def __init__(self, builddir):
        self._program = builddir / PROGRAM if builddir else None
        self.usual_ns = None
        self.runs = self.elsewhere = 0
        first = self._ask()
        if first is not None:
            samples = [first, *(self._later() for _ in range(SAMPLES))]
            self.usual_ns = max(samples, key=lambda one: sum(alike(one, other) for other in samples))

    def _later(self):
        time.sleep(BETWEEN_SAMPLES)
        return self._ask() or 0

    def _ask(self):
        if self._program is None or not self._program.exists():
            return None
        found = subprocess.run([self._program], capture_output=True, text=True, timeout=SECONDS, stdin=subprocess.DEVNULL)
        return float(found.stdout.split()[0]) if found.stdout else None

    def _is_usual(self):
        return alike(self._ask() or 0, self.usual_ns)

    def _await_usual(self):
        for _ in range(PATIENCE):
            if self._is_usual():
                return
            time.sleep(BETWEEN_SAMPLES)

    def measured(self, measure):
        """What `measure` gives; it is tried again where the distance was another before or after it."""
        self.runs += 1
        if self.usual_ns is None:
            return measure()
        for _ in range(TRIES):
            self._await_usual()
            value = measure()
            if self._is_usual():
                return value
        self.elsewhere += 1
        return value

    def tagged(self, measure):
        """What `measure` gives, and the distance, whichever it was; 0 where it is not known, or changed each time."""
        for _ in range(TRIES):
            before = self._ask() or 0
            value = measure()
            if before == 0 or alike(before, self._ask() or 0):
                return value, before
        return value, 0

    def described(self):
        """For a report; empty where nothing is known."""
        if self.usual_ns is None:
            return ""
        return (f"A cache line takes {self.usual_ns:.0f} ns from one processor to the other and back; runs during which it took longer or "
                f"shorter were made again ({self.elsewhere} of {self.runs} were so each time).")
