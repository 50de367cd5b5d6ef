"""What is run of the rendezvous paper's programs: problem sizes, ranks, and the sides that are compared over tcp."""

import dataclasses

from sluice_dev.papers.reproduction import HOST, Side


@dataclasses.dataclass(frozen=True)
class Point:
    kernel: str
    size: str  # class
    more: tuple = ()

    @property
    def name(self):
        return " ".join((self.kernel, self.size, *self.more))

    @property
    def arguments(self):
        return ("--kernel", self.kernel, "--class", self.size, *self.more)


EAGER_LIMIT = "4047"  # the paper's; larger messages go by rendezvous
# In a guest every instruction is emulated, hence the class S. There the host carries MPI_Alltoall, hence the written-out one.
COUNTED = (Point("cg", "S", ("--iterations", "4")), Point("ft", "S", ("--iterations", "3", "--transpose", "pairs")),
           Point("lu", "S"))
COUNTED_RANKS = 4

# The paper's class, on two hosts with a rank each, since more ranks would share processors.
TIMED = (Point("cg", "W"), Point("ft", "W"), Point("ft", "W", ("--transpose", "pairs")),
         Point("lu", "W", ("--iterations", "60")))
HOSTS = 2
RATE = "1gbit"
TCP = ("SLUICE_TRANSPORTS", "tcp")
RELEASE_OFF = Side("off", "Sluice, release off", sluice=True, settings=(TCP, ("SLUICE_RELEASE", "off")))
SLUICE = Side("sluice", "Sluice", sluice=True, settings=(TCP,))
SIDES = (HOST, RELEASE_OFF, SLUICE)
