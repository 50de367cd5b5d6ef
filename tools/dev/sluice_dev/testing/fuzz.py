"""The libFuzzer targets of tests/fuzz, each for a minute, beside a step that waits more than it computes."""

import re
import tempfile

from sluice_dev.base import builds
from sluice_dev.base.processes import Companion
from sluice_dev.testing.report import Tally

TARGETS = ("frame_fuzz", "handshake_fuzz")
FUZZING_SECONDS = 60
ENDING_SECONDS = 30
DONE = re.compile(r"^Done (\d+) runs", re.MULTILINE)


class Fuzzing:
    def __init__(self):
        self._running = {}
        self._directory = None
        self._skip = None

    def start(self, seconds):
        if self._running or self._skip:
            return
        builds.configure(builds.BUILD, seconds)
        if "tests/fuzz/frame_fuzz:" not in builds.targets():
            self._skip = "clang++ cannot link with -fsanitize=fuzzer (libclang-rt-14-dev)"
            return
        builds.build(builds.BUILD, seconds, [f"tests/fuzz/{target}" for target in TARGETS])
        self._directory = tempfile.TemporaryDirectory(prefix="sluice-fuzz-")  # what breaks a target is written here, and shown
        for target in TARGETS:
            command = [builds.BUILD / "tests" / "fuzz" / target, f"-max_total_time={FUZZING_SECONDS}", "-timeout=10"]
            self._running[target] = Companion(command, self._directory.name)

    def results(self, seconds):
        self.start(seconds)
        if self._skip:
            print(f"skip fuzz: {self._skip}")
            return Tally(skipped=len(TARGETS))
        tally = Tally()
        for target, companion in self._running.items():
            outcome = companion.finish(min(seconds, FUZZING_SECONDS + ENDING_SECONDS))
            done = DONE.search(outcome.output)
            if outcome.returncode == 0 and done and int(done[1]) > 0:
                print(f"{target}: {done[1]} inputs in {outcome.seconds:.0f} s")
                tally.passed += 1
            else:
                print(f"FAIL {target}:\n" + "\n".join(f"    {line}" for line in outcome.output.splitlines()[-60:]))
                tally.failed += 1
        return tally
