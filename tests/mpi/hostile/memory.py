"""Programs that give memory back, or change what it is, right after a receive (page-guard rule 12); with several allocators."""

from .program import Program

NAMES = (
    "memory_free",
    "memory_realloc",
    "memory_munmap",
    "memory_mprotect",
    "memory_advice",
    "memory_brk_trim",
    "memory_arena",
    "memory_huge_mlock",
    "memory_mappings",
)
ALLOCATORS = {"jemalloc": "libjemalloc.so.2", "tcmalloc": "libtcmalloc_minimal.so.4", "mimalloc": "libmimalloc.so.2.0"}
# What these do does not depend on the allocator.
ANY_ALLOCATOR = ("memory_free", "memory_realloc", "memory_arena", "memory_brk_trim")


# What an allocator does to a block does not depend on how its pages are closed, so one guard will do.
def beside(name, allocator, first):
    order = f"{allocator}, Sluice" if first else f"Sluice, {allocator}"
    return Program(f"{name} ({order})", name, ranks=(2,), beside=f"/usr/lib/x86_64-linux-gnu/{ALLOCATORS[allocator]}",
                   beside_first=first, guards=("mprotect",))


PROGRAMS = [Program(name) for name in NAMES]
PROGRAMS += [Program(name, releases=False) for name in ("memory_stack_tls", "memory_locked_first")]
PROGRAMS += [beside(name, allocator, first) for name in ANY_ALLOCATOR for allocator in ALLOCATORS for first in (False, True)]
