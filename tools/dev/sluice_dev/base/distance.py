"""Runs that are compared are made while the processors are equally far from each other.

A virtual machine's processors are threads that its host moves about: for seconds they are neighbours, then on different chips. On one guest
a cache line went from one to the other and back in 80, 120 or 530 ns, and the same copy of 64 KB took 7 or 37 us. With 80 ns they were
threads of one core, and two copies at once took twice as long as one.
"""

import subprocess
import time

PROGRAM = "apps/bench/micro/processor_distance"
SECONDS = 10
SAMPLES = 29
BETWEEN_SAMPLES = 0.1
ONE_CORE = 1  # ns, of PROGRAM: threads of one core
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

    def is_usual(self, ns):
        return self.usual_ns is None or alike(ns, self.usual_ns)

    def _await_usual(self):
        """What the distance is then."""
        for _ in range(PATIENCE):
            now = self._ask() or 0
            if self.is_usual(now):
                break
            time.sleep(BETWEEN_SAMPLES)
        return now

    def measured(self, measure):
        """What `measure` gives; it is tried again where the distance was another before or after it."""
        value, ns = self.tagged(measure)
        self.runs += 1
        if not self.is_usual(ns):
            self.elsewhere += 1
        return value

    def tagged(self, measure):
        """Likewise, and the distance: another than the usual one where that was not had in several tries; 0 where it is not known, or changed."""
        if self.usual_ns is None:
            return measure(), 0
        for _ in range(TRIES):
            before = self._await_usual()
            value = measure()
            after = self._ask() or 0
            if self.is_usual(before) and self.is_usual(after):
                break
        return value, before if alike(before, after) else 0

    def described(self):
        """For a report; empty where nothing is known."""
        if self.usual_ns is None:
            return ""
        return (f"A cache line takes {self.usual_ns:.0f} ns from one processor to the other and back. Runs during which it took longer or "
                f"shorter were made again ({self.elsewhere} of {self.runs} were so each time).")
