"""A filter of system calls refuses one that Sluice makes, as those of containers do (limits.md, Filters of system calls)."""

from .program import Program

REFUSED = ("eventfd", "fallocate", "get_robust_list", "membarrier", "memfd_create", "process_vm_readv", "process_vm_writev", "set_mempolicy",
           "timerfd_create", "userfaultfd")

# Both sides copy, so that writes by address are tried.
COOP = {"SLUICE_RNDV": "coop"}

# The host does not find out that it may not read the memory of its peers, and its messages would fail.
PROGRAMS = [Program(f"filters_{call}", "filters", arguments=(call,), releases=False,
                    env={"OMPI_MCA_btl_vader_single_copy_mechanism": "none", **(COOP if call == "process_vm_writev" else {})})
            for call in REFUSED]
