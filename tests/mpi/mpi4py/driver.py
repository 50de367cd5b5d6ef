"""Runs mpi4py's tests in one rank of a job, by unittest as its own runtests.py does, and writes a line for each: its name and what became of it.

    driver.py DIRECTORY_OF_TESTS RESULTS MODULES [LEFT_OUT]

RESULTS: a file for each rank, with its number behind it. MODULES, LEFT_OUT: names, separated by commas; the latter of tests.
"""

import os
import sys
import unittest


class Result(unittest.TestResult):
    """A test that has begun and has no other line is one in which the rank hung or died."""

    def __init__(self, path):
        super().__init__()
        self._file = open(path, "w", encoding="utf-8")

    def _say(self, test, outcome, detail=""):
        self._file.write(f"{test.id()}\t{outcome}\t{detail[-400:]!r}\n")
        self._file.flush()

    def startTest(self, test):
        super().startTest(test)
        self._say(test, "begun")

    def addSuccess(self, test):
        self._say(test, "passed")

    def addSkip(self, test, reason):
        self._say(test, "skipped", reason)

    def addExpectedFailure(self, test, err):
        self._say(test, "passed")

    def addUnexpectedSuccess(self, test):
        self._say(test, "failed", "unexpected success")

    def addError(self, test, err):
        super().addError(test, err)
        self._say(test, "failed", self.errors[-1][1])

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._say(test, "failed", self.failures[-1][1])


def cases(suite):
    for one in suite:
        if isinstance(one, unittest.TestSuite):
            yield from cases(one)
        else:
            yield one


def main():
    directory, results, modules, *left_out = sys.argv[1:]
    excluded = set(left_out[0].split(",")) if left_out else set()
    sys.dont_write_bytecode = True
    sys.path.insert(0, directory)
    # Packages that need a device, as its own runtests.py leaves them out.
    sys.modules["cupy"] = sys.modules["numba"] = None
    from mpi4py import MPI
    result = Result(f"{results}.{MPI.COMM_WORLD.Get_rank()}")
    for module in modules.split(","):
        loaded = unittest.defaultTestLoader.loadTestsFromModule(__import__(module))
        unittest.TestSuite(test for test in cases(loaded) if test.id() not in excluded).run(result)


if __name__ == "__main__":
    os.chdir(os.path.dirname(os.path.abspath(sys.argv[2])))
    main()
