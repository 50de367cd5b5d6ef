"""What is measured of the cooperative-rendezvous paper: its patterns, the protocols that are compared, and what the paper says of them."""

import dataclasses
import os
import re

from sluice_dev.jobs.modes import COPY_PROTOCOLS
from sluice_dev.papers.reproduction import HOST, Side

KB = 1024
SIZES = (64 * KB, 256 * KB, 1024 * KB, 4096 * KB)
TRIALS = ("--trials", "100", "--warm-up", "10")


def size_text(count):
    return f"{count // (KB * KB)} MB" if count % (KB * KB) == 0 else f"{count // KB} KB"


def forced(protocol):
    return Side(protocol, protocol, sluice=True, settings=(("SLUICE_RNDV", protocol),))


def in_chunks(side, count):
    """The same with long copies cut into pieces of so many bytes."""
    return dataclasses.replace(side, name=f"{side.name}/{count}", title=f"{side.title}, {size_text(count)}",
                               settings=(*side.settings, ("SLUICE_COPY_CHUNK", str(count))))


def chunk_of(side):
    """None: Sluice's choice, or the host's."""
    return next((int(value) for name, value in side.settings if name == "SLUICE_COPY_CHUNK"), None)


PROTOCOLS = tuple(forced(protocol) for protocol in COPY_PROTOCOLS)
RPUT = next(side for side in PROTOCOLS if side.name == "rput")
AUTO = Side("auto", "auto", sluice=True)
ALONE = Side("auto alone", "auto", sluice=True)  # in jobs of its own, as the host has them
SIDES = (HOST, *PROTOCOLS, AUTO)
OVER_RPUT = tuple(side for side in SIDES if side is not RPUT)


@dataclasses.dataclass(frozen=True)
class Pattern:
    name: str
    title: str
    ranks: tuple  # numbers of them
    jobs: tuple  # program and arguments; each prints the times of one size or several
    paper: str  # what it says, and where
    compared: tuple  # for that: pairs of sides, how much faster the first is
    option: tuple = ("--alternate",)  # before the protocols that take turns in one job, a few trials each

    def command(self, builddir, job, sides=()):
        """`sides`: those that take turns."""
        program, *arguments = job
        turns = (*self.option, ",".join(side.name for side in sides)) if sides else ()
        return [builddir / "apps" / program, *arguments, *turns]


@dataclasses.dataclass(frozen=True)
class Point:
    pattern: Pattern
    ranks: int

    @property
    def name(self):
        return f"{self.pattern.name}, {self.ranks} ranks"


def times_in(output):
    """Microseconds for one message or operation, by its size in bytes."""
    found = {int(size): float(time) for size, time in re.findall(r"^(\d+) bytes (\S+) us$", output, re.MULTILINE)}
    for number, unit, value, measure in re.findall(r"^\w+/(\d+)([KM]) (\S+) (us|MB/s)$", output, re.MULTILINE):
        size = int(number) * (KB if unit == "K" else KB * KB)
        found[size] = float(value) if measure == "us" else size / float(value)  # MB/s are bytes in a microsecond
    return found


def turns_in(output):
    """The same of each turn, by side and size."""
    found = {}
    trials = re.findall(r"^(\d+ bytes) (\S+) (\S+ us)$", output, re.MULTILINE)
    windows = re.findall(r"^(\w+/\d+[KM]) (\S+) (\S+ MB/s)$", output, re.MULTILINE)
    for size, side, time in trials + windows:
        for number, us in times_in(f"{size} {time}").items():
            found.setdefault((side, number), []).append(us)
    return found


def bench(name, seconds):
    sizes = ",".join(size_text(size).replace(" ", "").removesuffix("B") for size in SIZES)
    return (("bench/mpi/sluice_bench", name, sizes, seconds),)


def pattern(name, *more):
    return (("patterns/patterns", "--pattern", name, *TRIALS, *more),)


def program(name, *more):
    """Of section V. A trial is a whole search, or some steps, so there are fewer."""
    return (("patterns/patterns", "--pattern", name, "--trials", "20", "--warm-up", "4", *more),)


def stencil(variables):
    """A face has so many KB as a cell has variables, times two."""
    return ("stencil/stencil", "--cells", "16", "--variables", str(variables), *TRIALS)


PAIR = (2,)
ALL = (2, 4, 8)
PATTERNS = (
    Pattern("latency", "a message and the same back, blocking calls; time of both", PAIR, pattern("echo"),
            "COOP-p2p up to 2 times as fast as RPUT and RGET (figure 13)", (("coop", "rput"), ("coop", "rget"))),
    Pattern("bandwidth", "windows of messages one way, nonblocking calls", PAIR, bench("bandwidth", "0.2"),
            "COOP-p2p up to 2 times RPUT and RGET from 32 KB on (figure 7)", (("coop", "rput"), ("coop", "rget")), ()),
    Pattern("windows both ways", "windows of messages each way at once, nonblocking calls; time of one, of all that go either way", PAIR,
            bench("bidirectional", "0.2"), "COOP-p2p like RGET, as both sides copy anyhow (section II-A)", (("coop", "rget"),), ()),
    Pattern("both ways", "one message each way at once, nonblocking calls", PAIR, pattern("exchange"),
            "(as above)", (("coop", "rget"),)),
    Pattern("both ways, by pages", "the same, written before a trial begins, and of which only a byte of each page is read", PAIR,
            pattern("exchange", "--look", "pages", "--write", "before"),
            "(as above)", (("coop", "rget"),)),
    Pattern("scatter", "one to all", ALL, pattern("scatter"), "RGET far ahead of RPUT, COOP-coll with RGET (figure 14)",
            (("rget", "rput"), ("coop-coll", "rput"))),
    Pattern("gather", "all to one", ALL, pattern("gather"), "RPUT ahead of RGET, COOP-coll with RPUT (figure 15)",
            (("rput", "rget"), ("coop-coll", "rget"))),
    Pattern("reduce", "reduce-scatter, then gather", ALL, pattern("reduce"), "COOP-coll ahead of both RPUT and RGET (figure 16)",
            (("coop-coll", "rput"), ("coop-coll", "rget"))),
    Pattern("broadcast", "a pipeline along the ranks, 256 KB at a time", ALL, pattern("broadcast"),
            "(figure 10 is about chunks, below)", (("coop", "rput"),)),
    Pattern("stencil", "faces of a block to six neighbours, nonblocking calls", ALL, tuple(map(stencil, (32, 128, 512))),
            "COOP-load up to 10 % faster than RPUT with 1 MB (figure 17a)", (("coop-load", "rput"),)),
)

# The exchanges of the three programs of section V. Long messages have 16 KB to 160 KB. Who waits polls by tests in one of them: with more
# ranks than processors its time says what the scheduler does.
GRAPH_PAPER = "up to 19 % less time than MVAPICH2 (figure 18)"
COMD_PAPER = "{} % less time than MVAPICH2 (figure 19)"
GHOST_PAPER = "{} % less time than MVAPICH2 (figure 20)"
AGAINST = (("auto", "rput"), ("auto", "host"))


def scaled(name, title, paper, weak, strong):
    """Two patterns: sizes of each rank's part, and of the whole."""
    return (Pattern(f"{name}, weak", f"{title}, a problem of one size for each rank", PAIR,
                    program(name, "--scaling", "weak", *weak), paper[0], AGAINST),
            Pattern(f"{name}, strong", f"{title}, one problem for all ranks", PAIR,
                    program(name, "--scaling", "strong", *strong), paper[1], AGAINST))


PROGRAM_PATTERNS = (
    *scaled("graph", "Graph500: a search level by level, 4096 pairs of vertices in a message", (GRAPH_PAPER, GRAPH_PAPER),
            ("--pairs", "4096", "--size", "13"), ("--pairs", "4096", "--size", "14")),
    *scaled("comd", "CoMD: a step of embedded atoms", (COMD_PAPER.format(16), COMD_PAPER.format(11)), ("--steps", "1", "--size", "8"),
            ("--steps", "1", "--size", "12")),
    *scaled("ghost", "MiniGhost: ten steps of five points on 20 variables, BSPMA", (GHOST_PAPER.format(10), GHOST_PAPER.format(12)),
            ("--stencil", "5", "--sums", "0", "--size", "24"), ("--stencil", "5", "--sums", "0", "--size", "32")),
)
POINTS = tuple(Point(one, ranks) for one in PATTERNS for ranks in one.ranks)
PROGRAM_POINTS = tuple(Point(one, ranks) for one in PROGRAM_PATTERNS for ranks in one.ranks)

# The pipeline with copies cut into pieces of several sizes; the last is as long as any message.
WHOLE = 4096 * KB
CHUNK_SIDES = (AUTO, *(in_chunks(AUTO, count) for count in (64 * KB, 256 * KB, WHOLE)))
CHUNKS = Point(Pattern("chunks", "the pipeline, 1 MB at a time, copies in chunks of several sizes", (4,),
                       (("patterns/patterns", "--pattern", "broadcast", "--segment", str(1024 * KB), *TRIALS),),
                       "copies in chunks gain from 4 MB on, and cost below (figure 10)", ()), 4)


# Copies by rank: a stencil whose ranks have partners on the same host and on the other one, in unequal parts.
@dataclasses.dataclass(frozen=True)
class Copies:
    name: str = "copies"
    slots: tuple = (5, 3)  # ranks on each host
    trials: int = 40

    @property
    def ranks(self):
        return sum(self.slots)

    def host_of(self, rank):
        return next(number for number in range(len(self.slots)) if rank < sum(self.slots[:number + 1]))

    def command(self, builddir):
        return [builddir / "apps" / "stencil" / "stencil", "--cells", "16", "--variables", "128", "--trials", str(self.trials), "--warm-up", "10"]


COPIES = Copies()
COPIES_SIDES = (*PROTOCOLS, AUTO)


# What processors do on either side of a message: of ordinary blocks of which nothing is released, in blocking calls on both sides.
@dataclasses.dataclass(frozen=True)
class Use:
    size: int
    ranks: int = 2
    trials: int = 500
    warm_up: int = 10
    settings: tuple = (("SLUICE_RELEASE", "off"), ("SLUICE_BLOCKS", "on"))

    @property
    def name(self):
        return f"use, {size_text(self.size)}"

    def command(self, builddir):
        return [builddir / "apps" / "patterns" / "patterns", "--pattern", "echo", "--bytes", str(self.size), "--trials", str(self.trials),
                "--warm-up", str(self.warm_up)]


USE = tuple(map(Use, SIZES))
USE_SIDES = tuple(side for side in PROTOCOLS if side.name in ("rput", "rget", "coop"))


# Small messages at a rank that has long ones: those that it receives, and those that it sends.
@dataclasses.dataclass(frozen=True)
class Beside:
    name: str
    options: tuple
    sides: tuple
    copies_alone: tuple = ()  # sides of which the first rank copies all pieces of long messages, and its trace tells when

    @property
    def ranks(self):
        """A process more than processors would measure the scheduler."""
        return 3 if os.cpu_count() > 2 else 2

    def command(self, builddir):
        return [builddir / "apps" / "beside" / "beside", "--rounds", "60", *self.options]


def copying(protocol):
    """A rank that copies everything by itself: Sluice's chunks, short ones, and none."""
    return (forced(protocol), *(in_chunks(forced(protocol), count) for count in (64 * KB, WHOLE)))


RGET = copying("rget")
RPUT_IN_CHUNKS = copying("rput")
BESIDE = (
    Beside("beside nothing", ("--bytes", "0", "--pings", "50"), (HOST, AUTO)),
    Beside("beside long receives", ("--bytes", str(WHOLE)), (HOST, *RGET, AUTO), RGET[:2]),
    Beside("beside long sends", ("--bytes", str(WHOLE), "--outward"), (HOST, *RPUT_IN_CHUNKS, AUTO), RPUT_IN_CHUNKS[:2]),
)
