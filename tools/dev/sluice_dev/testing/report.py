"""What the steps of a test run found, step by step and in one last line."""

import dataclasses
import re
import time

TALLY = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", re.MULTILINE)


@dataclasses.dataclass
class Tally:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def tally_in(output):
    """The last tally that a script printed; nothing when it printed none."""
    found = TALLY.findall(output)
    return Tally(*map(int, found[-1])) if found else None


class Report:
    """Runs steps in order until the time is over; a step that breaks counts as one failure and the next one follows."""

    def __init__(self, max_seconds):
        self.total = Tally()
        self._most = max_seconds
        self._started = time.monotonic()

    def remaining(self):
        return self._most - (time.monotonic() - self._started)

    def step(self, name, function):
        print(f"--- {name}", flush=True)
        started = time.monotonic()
        if self.remaining() <= 0:
            print(f"FAIL {name}: not run, the {self._most / 60:.0f} minutes for all steps are over")
            tally = Tally(failed=1)
        else:
            tally = self._guarded(name, function)
        self.total.add(tally)
        print(f"--- {name}: {tally} in {time.monotonic() - started:.1f} s\n", flush=True)

    @staticmethod
    def _guarded(name, function):
        try:
            return function()
        except Exception as error:  # a mistake in a step must not hide what the others find
            print(f"FAIL {name}: {type(error).__name__}: {error}")
            return Tally(failed=1)

    def finish(self):
        """Prints the line that callers read; the exit status."""
        print(f"{time.monotonic() - self._started:.0f} s in all")
        print(self.total, flush=True)
        return 1 if self.total.failed else 0
