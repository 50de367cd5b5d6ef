"""The ways in which the suites run a program: on the host alone, and under Sluice with each choice that changes its path."""

# Who copies a large message inside a node, as SLUICE_RNDV names it.
COPY_PROTOCOLS = ("rput", "rget", "coop", "coop-coll", "coop-load")

# Name of the mode: what is added to the environment of the ranks besides LD_PRELOAD; None means that Sluice is not there.
MODES = {
    "host": None,
    "release": {},
    "userfaultfd": {"SLUICE_GUARD": "userfaultfd"},
    "off": {"SLUICE_RELEASE": "off"},  # no alias blocks either
    "blocks": {"SLUICE_RELEASE": "off", "SLUICE_BLOCKS": "on"},
    "matched": {"SLUICE_RELEASE": "matched"},
    "stream": {"SLUICE_SHMEM_COPY": "stream"},
    "cma": {"SLUICE_SHMEM_COPY": "cma"},
    "tcp": {"SLUICE_TRANSPORTS": "tcp"},
    "again": {"SLUICE_SINGLE_COPY": "16K"},
    "sends": {"SLUICE_SEND_RELEASE": "1"},
    "host-collectives": {"SLUICE_COLLECTIVES": "off"},
    "all-collectives": {"SLUICE_COLLECTIVES": "all"},
    "host-onesided": {"SLUICE_ONESIDED": "off"},
    "all-onesided": {"SLUICE_ONESIDED": "all"},
    "tcp-onesided": {"SLUICE_TRANSPORTS": "tcp", "SLUICE_ONESIDED": "all"},  # as between nodes
    # Of short messages, too, so that more of what a program sends goes by the protocol.
    **{protocol: {"SLUICE_RNDV": protocol, "SLUICE_EAGER_LIMIT": "1K"} for protocol in COPY_PROTOCOLS},
    # And without blocks.
    **{f"{protocol}-off": {"SLUICE_RNDV": protocol, "SLUICE_EAGER_LIMIT": "1K", "SLUICE_RELEASE": "off"} for protocol in COPY_PROTOCOLS},
    "older": {},
    "disabled": {"SLUICE_ENABLE": "0"},
}
# As on kernels before 6.11 (older_kernel.c): what is mapped where is not to be had by ioctl.
ON_OLDER_KERNEL = ("older",)

# The rendezvous protocols over RDMA, as SLUICE_RNDV names them.
RDMA_PROTOCOLS = ("rput", "getcqe", "get", "rdrp", "putnr", "put")


def _over_verbs(transports="verbs", **settings):
    """With the summary, which says how many messages went by RDMA."""
    return {"SLUICE_TRANSPORTS": transports, "SLUICE_SUMMARY": "1", **settings}


# Those that need a verbs device, and so a guest (--softroce); they run with the ranks of `release`. Every protocol is forced in turn.
GUEST_MODES = {"verbs": _over_verbs(), "verbs-off": _over_verbs(SLUICE_RELEASE="off"), "verbs-sent": _over_verbs(SLUICE_VERBS_RINGS="0"),
               "verbs-sends": _over_verbs(SLUICE_SEND_RELEASE="1"),
               "verbs-frequent": _over_verbs(SLUICE_FREQUENT_SENDS="all", SLUICE_FREQUENT_SHARE="0")}
for _protocol in RDMA_PROTOCOLS:
    # Receivers that speak first are slow to do so where instructions are emulated; without patience they would hardly ever be first.
    _forced = {"SLUICE_RNDV": _protocol, **({"SLUICE_RTR_WAIT": "20000"} if _protocol.startswith("put") else {})}
    GUEST_MODES[f"verbs-{_protocol}"] = _over_verbs(**_forced)
    GUEST_MODES[f"verbs-{_protocol}-off"] = _over_verbs(**_forced, SLUICE_RELEASE="off")
# The adapter beside shared memory; of shorter messages than usual, so that more programs have it take part.
NEAR_MODES = {"coop-hca": _over_verbs("shmem,verbs", SLUICE_RNDV="coop-hca", SLUICE_HCA_BYTES="64K"),
              "coop-hca-off": _over_verbs("shmem,verbs", SLUICE_RNDV="coop-hca", SLUICE_HCA_BYTES="64K", SLUICE_RELEASE="off")}
GUEST_MODES |= NEAR_MODES
# Between two guests, with several ranks on one of them.
MIXED_MODES = {"verbs-shmem": _over_verbs("shmem,verbs")}
GUEST_MODES |= MIXED_MODES
ALL_MODES = {**MODES, **GUEST_MODES}


def environment(mode, library):
    """What run_job adds to the environment of the ranks in this mode."""
    choice = ALL_MODES[mode]
    if choice is None:
        return {}
    preloaded = [library]
    if mode in ON_OLDER_KERNEL:
        preloaded.append(library.resolve().parents[1] / "tests/mpi/libolder_kernel.so")
        if not preloaded[-1].exists():
            raise FileNotFoundError(f"mode {mode} needs {preloaded[-1]}: a library in its build directory")
    return {"LD_PRELOAD": ":".join(map(str, preloaded)), **choice}


def modes_in_guests(guests):
    return [mode for mode in GUEST_MODES if mode not in (NEAR_MODES if guests > 1 else MIXED_MODES)]
