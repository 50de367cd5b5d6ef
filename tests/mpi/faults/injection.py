"""System calls that fail when Sluice makes them for the n-th time (inject.c), while exercise.c sends in every way: right results or
one clear error, never a hang, never wrong bytes."""

import random
import re

LAST_TURN = 200
SAMPLED = 40
HANGS_AFTER = 30
# Call, and settings under which Sluice makes it.
WAYS = (
    ("memfd_create", {}),
    ("mmap", {}),
    ("mprotect", {}),
    ("mprotect", {"SLUICE_SEND_RELEASE": "1"}),
    ("userfaultfd", {"SLUICE_GUARD": "userfaultfd"}),
    ("ioctl", {"SLUICE_GUARD": "userfaultfd"}),
    ("memfd_create", {"SLUICE_GUARD": "userfaultfd"}),
    ("mmap", {"SLUICE_GUARD": "userfaultfd"}),
    ("mprotect", {"SLUICE_GUARD": "userfaultfd"}),
    ("process_vm_readv", {"SLUICE_SHMEM_COPY": "cma"}),
    ("process_vm_writev", {"SLUICE_RNDV": "coop", "SLUICE_RELEASE": "off"}),
    ("process_vm_writev", {"SLUICE_RNDV": "rput", "SLUICE_RELEASE": "off"}),
    ("futex", {}),
    ("futex", {"SLUICE_SHMEM_COPY": "stream"}),
)
# The host's hooks replace the code of mmap and would step over the injection; collective calls are to be carried.
HOST = {"OMPI_MCA_memory": "^patcher", "SLUICE_COLLECTIVES": "auto"}


class Injection:
    def __init__(self, faults, guards):
        self._faults = faults
        self._injector = faults.programs.find("libinject.so", ["inject.c"], ["-D_GNU_SOURCE", "-shared", "-fPIC", "-ldl"], "gcc")
        # Injected into the guard's own calls as well, whichever guards there are.
        self._ways = [(call, settings) for call, settings in WAYS if settings.get("SLUICE_GUARD", "mprotect") in guards]

    def sample(self, seed):
        """Some, chosen by the seed."""
        chosen = list(self._all(self._ways))
        random.Random(seed).shuffle(chosen)
        print(f"     {min(SAMPLED, len(chosen))} of {len(chosen)} injections, seed {seed}", flush=True)
        for case in chosen[:SAMPLED]:
            self._check(*case)

    def everything(self):
        for case in self._all(self._ways):
            self._check(*case)

    def _all(self, ways):
        """Each call's turns as far as the program gets there: failing once in all ranks, once in one rank, or from then on."""
        for call, settings in ways:
            for turn in range(1, min(LAST_TURN, self._made(call, settings)) + 1):
                yield call, settings, str(turn), "1" if turn % 2 else ""
                if turn % 10 == 1:
                    yield call, settings, f"{turn}+", ""

    def _run(self, settings):
        environment = {"LD_PRELOAD": f"{self._faults.library}:{self._injector}", **HOST, **settings}
        return self._faults.run_with(["exercise"], environment, HANGS_AFTER)

    def _made(self, call, settings):
        result = self._run({"INJECT_COUNTS": "1", **settings})
        counts = [int(count) for count in re.findall(rf"inject: {call} (\d+)", result.stderr)]
        if not result.ok or not counts:
            self._faults.tally.fails(f"injection: {call} {settings or ''} undisturbed", result.describe())
        return max(counts, default=0)

    def _check(self, call, settings, turn, rank):
        result = self._run({"INJECT": f"{call}:{turn}", **({"INJECT_RANK": rank} if rank else {}), **settings})
        where = f"in rank {rank}" if rank else "in all ranks"
        way = "".join(f", {value}" for value in settings.values())
        self._faults.expect_exchange(f"{call} fails at call {turn} {where}{way}", result)
