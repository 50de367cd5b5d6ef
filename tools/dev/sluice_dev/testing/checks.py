"""A tally of checks that explain themselves when they fail."""

from sluice_dev.testing.report import Tally


class Checks:
    def __init__(self):
        self.tally = Tally()

    def check(self, name, good, explanation=""):
        if good:
            self.tally.passed += 1
        else:
            self.tally.failed += 1
            print(f"FAIL {name}\n" + "\n".join(f"    {line}" for line in explanation.splitlines()))
