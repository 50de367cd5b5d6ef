"""The programs of the conformance suite: where each runs, with how many ranks, and in which modes."""

import dataclasses

from modes import GUEST_MODES, MIXED_MODES

# Ranks in each mode. The host runs with every number that some mode needs, as the reference.
USUAL_RANKS = {
    "release": (2, 3, 4),
    "userfaultfd": (2, 4),
    "off": (2, 4),
    "blocks": (2,),
    "matched": (2, 3),
    "stream": (2, 4),
    "cma": (2, 3),
    "tcp": (3,),
    "rput": (2,),
    "rget": (3,),
    "coop": (4,),
    "coop-coll": (2,),
    "coop-load": (3,),
    "older": (2,),
    "disabled": (2,),
}


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    language: str = "c"  # c, fortran or python
    ranks: dict = dataclasses.field(default_factory=lambda: USUAL_RANKS)
    host_is_right: bool = True  # False: the host gets these cases wrong, so they run under Sluice only and check themselves
    arguments: tuple = ()
    gigabytes: int = 0  # memory that must be available
    seconds: int = 0  # time limit of a job, when it needs a longer one than the others
    mpirun_arguments: tuple = ()
    shares_files: bool = False  # its ranks open a file together
    not_yet: str = ""  # what Sluice does not do yet; the program is skipped unless --not-yet is given

    @property
    def title(self):
        return " ".join((self.name, *self.arguments))

    def ranks_in(self, mode):
        counts = self.ranks.get("release" if mode in GUEST_MODES else mode, ())
        return tuple(count for count in counts if count > 2) if mode in MIXED_MODES else counts

    def source(self):
        return {"c": f"c/{self.name}.c", "fortran": f"fortran/{self.name}.f90", "python": f"python/{self.name}.py"}[self.language]

    def host_ranks(self):
        return sorted({count for counts in self.ranks.values() for count in counts}) if self.host_is_right else []


def with_eight():
    return {**USUAL_RANKS, "release": (2, 3, 4, 8)}


def and_reused():
    """Buffers are used again after they have been sent."""
    return {**USUAL_RANKS, "sends": (2, 4), "again": (2, 4)}


def only_with(*counts):
    return {mode: counts for mode in USUAL_RANKS}


# Each ends in an MPI_Finalize of its own.
FINALIZE_CASES = ("pending_sends", "buffered_sends", "never_read", "inactive_requests_and_open_communicators", "messages_inside",
                  "messages_from_before", "one_rank_is_late")

SLUICE_ONLY = {mode: (2,) for mode in USUAL_RANKS if mode != "disabled"}

PROGRAMS = [
    Program("large", ranks={"release": (2,), "rput": (2,), "stream": (2,), "cma": (2,)}, gigabytes=8, seconds=240),
    Program("send_modes", ranks={**with_eight(), "sends": (2,)}),
    Program("wildcards", ranks=with_eight()),
    Program("ordering", ranks=and_reused()),
    Program("probes"),
    Program("matched_probe"),
    Program("persistent", ranks=and_reused()),
    Program("wait_family"),
    Program("cancel"),
    Program("proc_null"),
    Program("datatypes", ranks=only_with(2)),
    Program("derived_requests"),
    Program("descriptors"),
    Program("errors"),
    Program("buffered"),
    Program("sendrecv", ranks={**with_eight(), "sends": (2, 3)}),
    Program("interfaces", ranks=only_with(2)),
    Program("communicators"),
    Program("by_name"),
    Program("callbacks"),
    Program("intercomm"),
    Program("spawn", ranks=only_with(2), mpirun_arguments=("--mca", "btl_tcp_if_include", "lo")),
    Program("threads"),
    Program("mixed_requests", shares_files=True),
    Program("settling", ranks=and_reused(), shares_files=True),
    Program("host_progress"),
    Program("causality", ranks=and_reused()),
    Program("release_touch", ranks=with_eight()),
    Program("release_datatypes"),
    Program("release_memory", ranks=and_reused()),
    Program("release_pages"),
    Program("release_requests"),
    Program("memory_returned", ranks=and_reused()),
    Program("memory_moved", ranks=only_with(2)),
    Program("processes"),
    Program("beyond_host", ranks=SLUICE_ONLY, host_is_right=False),
    *(Program("thread_levels", ranks=only_with(2), arguments=level) for level in ((), ("0",), ("1",), ("2",), ("3",))),
    *(Program("finalize", ranks={**only_with(2), "sends": (2,)}, arguments=(case,)) for case in FINALIZE_CASES),
    Program("f08_messages", language="fortran"),
    Program("f08_requests", language="fortran"),
    Program("use_mpi", language="fortran"),
    Program("mpif_h", language="fortran"),
    Program("mixed_operations", language="python"),
]
