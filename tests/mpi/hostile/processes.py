"""Programs that make processes, become others, or end, right after a receive (page-guard rule 11)."""

import re

from .program import Program
from .signals import dies_as_on_the_host, ends_as_on_the_host


def sender_was_done(result, reference):
    """The receiver had its message before it ended, so the sender's call returned."""
    if result.stdout.count("sent\n") != reference.stdout.count("sent\n"):
        return "a sender's message had nowhere to go"
    return dies_as_on_the_host(result, reference)


def blocks_beside_arenas(result, _):
    """All its buffers begin in the first page of a thread's heap: a block, or fork has nothing to spoil, and never released."""
    if not result.ok:
        return "it did not end well"
    blocks = re.search(r"alias blocks made +(\d+)", result.stderr)
    if not blocks or blocks[1] == "0":
        return "no buffer became a block"
    released = re.search(r"receives released early +(\d+)", result.stderr)
    return "" if released and released[1] == "0" else "the first page of a thread's heap was closed"


PROGRAMS = [
    Program("processes"),
    Program("processes_handlers"),
    Program("processes_locks", expect=blocks_beside_arenas),
    *(Program(f"processes_{how}", "processes_endings", arguments=(how,), expect=sender_was_done)
      for how in ("return", "exit", "_exit", "quick_exit", "exec")),
    *(Program(f"processes_{how}", "processes_endings", arguments=(how,), expect=ends_as_on_the_host)
      for how in ("alarm_exit", "alarm__exit")),
    # Over sockets a peer's end is noticed before the launcher acts.
    Program("processes_abort", "processes_endings", arguments=("abort",), env={"SLUICE_TRANSPORTS": "tcp"}, expect=ends_as_on_the_host),
    Program("processes_exception", expect=dies_as_on_the_host),
]
