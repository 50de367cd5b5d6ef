"""The ways in which the suites run a program: on the host alone, and under Sluice with each choice that changes its path."""

# Name of the mode: what is added to the environment of the ranks besides LD_PRELOAD; None means that Sluice is not there.
MODES = {
    "host": None,
    "release": {},
    "userfaultfd": {"SLUICE_GUARD": "userfaultfd"},
    "off": {"SLUICE_RELEASE": "off"},
    "matched": {"SLUICE_RELEASE": "matched"},
    "stream": {"SLUICE_SHMEM_COPY": "stream"},
    "cma": {"SLUICE_SHMEM_COPY": "cma"},
    "tcp": {"SLUICE_TRANSPORTS": "tcp"},
    "sends": {"SLUICE_SEND_RELEASE": "1"},
    "rput": {"SLUICE_RNDV": "rput"},
    "coop": {"SLUICE_RNDV": "coop"},
    "disabled": {"SLUICE_ENABLE": "0"},
}

# Those that need a verbs device, and so a guest (--softroce); they run with the ranks of `release`.
GUEST_MODES = {
    "verbs": {"SLUICE_TRANSPORTS": "verbs"},
    "verbs-off": {"SLUICE_TRANSPORTS": "verbs", "SLUICE_RELEASE": "off"},
}
ALL_MODES = {**MODES, **GUEST_MODES}


def environment(mode, library):
    """What run_job adds to the environment of the ranks in this mode."""
    choice = ALL_MODES[mode]
    return {} if choice is None else {"LD_PRELOAD": str(library), **choice}
