"""What a hostile program is, for the tables of this directory (kernel.py, memory.py, ...)."""

import dataclasses
import typing


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    source_binary: str = ""  # the program built from the source file of that name; its own name when empty
    ranks: tuple = (2, 4)
    alone: bool = True  # with one rank as well, unless others judge it or stand beside it: that is about messages of two
    env: dict = dataclasses.field(default_factory=dict)
    arguments: tuple = ()
    # Judges a job under Sluice (jobs.Result) and its reference on the host: a complaint, or an empty string. None: both end
    # well and note the same.
    expect: typing.Callable | None = None
    lacks: typing.Callable = lambda: ""  # what the machine has to have for it and has not
    beside: str = ""  # a library preloaded as well, on the host too
    beside_first: bool = False  # in front of Sluice
    guards: tuple = ("mprotect", "userfaultfd")
    released: str = "receives released early"  # what the summary must count
    busy: bool = False  # communicates throughout, so that another job would take the processors away from it
    releases: bool = True  # something must have been released, or the program shows nothing
    # On a machine that is busy with other things, messages may all come before a release pays.
    attempts: int = 4

    @property
    def binary(self):
        return self.source_binary or self.name
