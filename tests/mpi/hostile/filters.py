"""A filter of system calls refuses one that Sluice makes, as those of containers do (limits.md, Filters of system calls)."""

from .program import Program

REFUSED = ("eventfd", "fallocate", "get_robust_list", "membarrier", "memfd_create", "process_vm_readv", "set_mempolicy", "timerfd_create",
           "userfaultfd")

# The host does not find out that it may not read the memory of its peers, and its messages would fail.
PROGRAMS = [Program(f"filters_{call}", "filters", arguments=(call,), releases=False,
                    env={"OMPI_MCA_btl_vader_single_copy_mechanism": "none"}) for call in REFUSED]
