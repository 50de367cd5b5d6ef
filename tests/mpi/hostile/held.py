"""Programs with memory that others hold: the kernel, a driver, peers, the program itself. Its pages stay where they are."""

from .program import Program

# What Open MPI says when the kernel refuses to write to a peer's memory (EFAULT).
REFUSED = "errno = 14"
COPY_PROTOCOLS = ("auto", "rput", "rget", "coop", "coop-coll", "coop-load")


def settings(who, protocol):
    return Program(f"held_settings ({who}, {protocol})", "held_settings", ranks=(2,), guards=("mprotect",), releases=False,
                   env={"HELD_SETTINGS": who, "SLUICE_RNDV": protocol})


def without_refusals(result, reference):
    if not (result.ok and reference.ok):
        return "it failed"
    return f"{result.stderr.count(REFUSED)} accesses of peers were refused" if REFUSED in result.stderr else ""


PROGRAMS = [settings("even", protocol) for protocol in COPY_PROTOCOLS] + [settings("all", "auto")]
# Open MPI's one-sided component that writes straight into the peers' memory.
PROGRAMS += [Program("held_windows", ranks=(3, 4), env={"OMPI_MCA_osc": "rdma"}, expect=without_refusals)]
# Peers reach it without the host.
PROGRAMS += [Program("held_windows (carried)", "held_windows", ranks=(3, 4), env={"SLUICE_ONESIDED": "all"}, expect=without_refusals)]
# With a stand-in for the library of a GPU's driver, loaded before MPI_Init and after.
PROGRAMS += [Program(f"held_device ({when})", "held_device", ranks=(2,), releases=False, env={"HELD_DEVICE": when})
             for when in ("before", "after")]
# Nothing of it may be released, but for what was a block before.
PROGRAMS += [Program("held_pages"), Program("held_mappings")]
