"""A program that is told to end takes its jobs with it. They have sessions of their own, so no signal to it reaches them."""

import signal
import subprocess
import sys
import threading

SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
POLITE_SECONDS = 2.0  # for launchers to remove their files


class Running:
    """The commands that this process runs, by their marks. [any thread]"""

    def __init__(self):
        self._lock = threading.RLock()  # a signal may interrupt the thread that holds it
        self._processes = {}  # None until the process has started
        self._code = None  # once no more is started

    def start(self, mark, start):
        """What `start` returns; nothing starts once this process ends."""
        with self._lock:
            if self._code is not None:
                raise SystemExit(self._code)
            self._processes[mark] = None
            self._processes[mark] = start()
            return self._processes[mark]

    def forget(self, mark):
        with self._lock:
            self._processes.pop(mark, None)

    def end_on_signals(self, kill):
        """Called in the main thread. `kill` ends all processes of a mark."""
        for number in SIGNALS:
            signal.signal(number, lambda number, _: self._end(number, kill))

    def _end(self, number, kill):
        """Then the main thread goes on through its `finally`; another signal ends it at once."""
        for one in SIGNALS:
            signal.signal(one, signal.SIG_DFL)
        with self._lock:
            self._code = 128 + number
            processes = dict(self._processes)
        started = [process for process in processes.values() if process is not None]
        for process in started:
            process.terminate()
        for process in started:
            try:
                process.wait(POLITE_SECONDS)
            except subprocess.TimeoutExpired:
                pass
        for mark in processes:
            kill(mark)
        sys.exit(self._code)
