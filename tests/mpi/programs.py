"""The programs of the conformance suite: where each runs, with how many ranks, and in which modes."""

import dataclasses

from sluice_dev.jobs.modes import COPY_PROTOCOLS, GUEST_MODES, MIXED_MODES

# Ranks in each mode. The host runs with every number that some mode needs, as the reference.
USUAL_RANKS = {
    "release": (1, 2, 3, 4),
    "host-collectives": (3,),
    "userfaultfd": (1, 2, 4),
    "off": (1, 2, 4),
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

# Of programs about collective calls. Of some of these the host gets cases wrong, so they run where it has none of them.
COLLECTIVE_RANKS = {"release": (1, 2, 3, 4, 5, 8), "userfaultfd": (2,), "off": (3,), "tcp": (3,)}
ALL_COLLECTIVE_RANKS = {"all-collectives": (1, 2, 3, 4, 5, 8)}
BLOCK_RANKS = ALL_COLLECTIVE_RANKS | {"release": (2, 3)}


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
    on_one_node: bool = False  # the host does not do between nodes what it needs
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


# Of a program about memory that is no block: each way to copy it, with and without releases.
PLAIN_RANKS = {"release": (1, 2, 5), "off": (3,), "userfaultfd": (2,), "cma": (2,), "stream": (2,),
               **{protocol: (1, 2, 5) for protocol in COPY_PROTOCOLS}, **{f"{protocol}-off": (2, 3, 4) for protocol in COPY_PROTOCOLS}}

# Of programs in which every case needs a second rank.
TWO_OR_MORE = {mode: tuple(count for count in counts if count > 1) for mode, counts in USUAL_RANKS.items()}


def and_eight(ranks):
    return {**ranks, "release": (*ranks["release"], 8)}


def and_reused(ranks):
    """Buffers are used again after they have been sent."""
    return {**ranks, "sends": (2, 4), "again": (2, 4)}


def only_with(*counts):
    return {mode: counts for mode in USUAL_RANKS}


def and_alone(ranks):
    return {**ranks, "release": (1, *ranks["release"])}


# Each ends in an MPI_Finalize of its own.
FINALIZE_CASES = ("pending_sends", "buffered_sends", "never_read", "inactive_requests_and_open_communicators", "messages_inside",
                  "messages_from_before", "one_rank_is_late", "never_received")
FINALIZE_CASES_OF_ONE = FINALIZE_CASES[-5:]

SLUICE_ONLY = {mode: (2,) for mode in USUAL_RANKS if mode != "disabled"}

PROGRAMS = [
    Program("large", ranks={"release": (2,), "rget": (1,), "rput": (2,), "stream": (2,), "cma": (2,)}, gigabytes=8, seconds=240),
    Program("self_messages", ranks={**only_with(1, 2), "release": (1, 2, 3), "tcp": (1, 3), "sends": (1, 2), "again": (1, 2)}),
    Program("send_modes", ranks={**and_eight(USUAL_RANKS), "sends": (2,)}),
    Program("wildcards", ranks=and_eight(TWO_OR_MORE)),
    Program("ordering", ranks=and_reused(TWO_OR_MORE)),
    Program("probes", ranks=TWO_OR_MORE),
    Program("matched_probe"),
    Program("plain_memory", ranks=PLAIN_RANKS),
    Program("persistent", ranks=and_reused(USUAL_RANKS)),
    Program("wait_family"),
    Program("request_arrays", ranks={mode: USUAL_RANKS[mode] for mode in ("release", "userfaultfd", "off", "disabled")}),
    Program("request_windows", ranks={mode: USUAL_RANKS[mode] for mode in ("release", "userfaultfd", "off", "disabled")}),
    Program("reused_addresses", ranks={"release": (2,), "off": (2,), "tcp": (2,)}),
    Program("cancel"),
    Program("proc_null"),
    Program("datatypes", ranks=only_with(2)),
    Program("derived_requests"),
    Program("descriptors"),
    Program("errors"),
    Program("late_errors", ranks=TWO_OR_MORE),
    Program("buffered"),
    Program("sendrecv", ranks={**and_eight(USUAL_RANKS), "sends": (2, 3)}),
    Program("interfaces", ranks=and_alone(only_with(2))),
    Program("communicators"),
    Program("by_name"),
    Program("callbacks"),
    Program("type_callbacks", ranks=and_alone(SLUICE_ONLY), host_is_right=False),
    Program("intercomm", ranks=TWO_OR_MORE),
    Program("spawn", ranks=only_with(2), mpirun_arguments=("--mca", "btl_tcp_if_include", "lo")),
    Program("threads"),
    Program("coll_short", ranks=COLLECTIVE_RANKS | {"host-collectives": (2,)}),
    Program("coll_messages", ranks=COLLECTIVE_RANKS, host_is_right=False, seconds=240),
    Program("coll_blocks", ranks=BLOCK_RANKS, host_is_right=False, seconds=240),
    Program("coll_block_cases", ranks=BLOCK_RANKS, host_is_right=False, seconds=240),
    Program("coll_neighbours", ranks=ALL_COLLECTIVE_RANKS | {**COLLECTIVE_RANKS, "release": (2, 3, 4, 5, 8)}, host_is_right=False, seconds=240),
    Program("coll_open", ranks=COLLECTIVE_RANKS | {"all-collectives": (2, 4)}, host_is_right=False, seconds=240),
    Program("coll_operations", ranks=COLLECTIVE_RANKS, host_is_right=False, seconds=240),
    Program("coll_persistent", ranks=COLLECTIVE_RANKS | {"all-collectives": (2, 3)}, seconds=240),
    Program("coll_persistent_kinds", ranks=ALL_COLLECTIVE_RANKS, host_is_right=False, seconds=240),
    Program("coll_scans", ranks=BLOCK_RANKS, host_is_right=False, seconds=240),
    Program("coll_threads", ranks={"release": (2, 3, 4), "host-collectives": (2,)}),
    *(Program(name, ranks={"all-onesided": (2, 3, 4, 5, 8), "tcp-onesided": (2, 3, 4)}, host_is_right=False, seconds=240)
      for name in ("rma_accumulates", "rma_copies", "rma_dynamic", "rma_epochs", "rma_progress", "rma_windows")),
    # With MPI_THREAD_MULTIPLE the host makes no windows over TCP (osc/pt2pt).
    Program("rma_threads", ranks={"all-onesided": (2, 3, 4, 5, 8), "tcp-onesided": (2, 3, 4)}, host_is_right=False, on_one_node=True),
    Program("mixed_requests", shares_files=True),
    Program("settling", ranks=and_reused(TWO_OR_MORE), shares_files=True),
    Program("host_progress", ranks=TWO_OR_MORE),
    Program("causality", ranks=and_reused(TWO_OR_MORE)),
    Program("release_touch", ranks=and_eight(TWO_OR_MORE)),
    Program("release_datatypes", ranks=TWO_OR_MORE),
    Program("release_memory", ranks=and_reused(TWO_OR_MORE)),
    Program("release_pages", ranks=TWO_OR_MORE),
    Program("release_requests", ranks=TWO_OR_MORE),
    Program("memory_returned", ranks=and_reused(TWO_OR_MORE)),
    Program("memory_moved", ranks=only_with(2)),
    Program("processes", ranks=TWO_OR_MORE),
    Program("beyond_host", ranks=and_alone(SLUICE_ONLY), host_is_right=False),
    *(Program("thread_levels", ranks=only_with(2), arguments=level) for level in ((), ("0",), ("1",), ("2",), ("3",))),
    *(Program("finalize", ranks={**only_with(2), "sends": (2,)}, arguments=(case,)) for case in FINALIZE_CASES
      if case not in FINALIZE_CASES_OF_ONE),
    *(Program("finalize", ranks=and_alone({**only_with(2), "sends": (2,)}), arguments=(case,)) for case in FINALIZE_CASES_OF_ONE),
    Program("f08_messages", ranks=TWO_OR_MORE, language="fortran"),
    Program("f08_requests", ranks=TWO_OR_MORE, language="fortran"),
    Program("f08_windows", ranks={"release": (2, 3), "all-onesided": (2, 3, 5), "host-onesided": (4,)}, language="fortran"),
    Program("use_mpi", ranks=TWO_OR_MORE, language="fortran"),
    Program("mpif_h", ranks=TWO_OR_MORE, language="fortran"),
    Program("mixed_operations", language="python"),
]
