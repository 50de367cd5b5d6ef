"""The lists of MPICH's test suite: which program runs with how many ranks, arguments and variables, and what must come of it.

A line is `program ranks key=value ...`. Left out, as they concern MPICH alone: `testlist.cvar`, the same programs with each of its
collective algorithms, its variables, and the directories `ft` and `ckpoint`, which need its launcher. What differs in its variables
only is one test.
"""

import dataclasses

LISTS = ("testlist", "testlist.dtp")
GENERATED = "testlist.dtp"
COMMENTED_OUT = ("perf",)  # in the suite's own list, as its times depend on the machine
OWN_VARIABLES = ("MPIR_", "MPICH_")
USUAL_RANKS = 2
USUAL_SECONDS = 180


@dataclasses.dataclass(frozen=True)
class Test:
    directory: str
    program: str
    ranks: int
    arguments: tuple = ()
    environment: tuple = ()  # pairs
    result: str = ""  # how the suite calls what the program must end with; empty: "No Errors" and code 0
    seconds: int = USUAL_SECONDS
    gigabytes: float = 0
    generated: bool = False  # one of many that differ in datatypes and counts only

    @property
    def name(self):
        variables = [f"{name}={value}" for name, value in self.environment]
        return " ".join([f"{self.directory}/{self.program}", str(self.ranks), *variables, *self.arguments])


def tests_of(built, source):
    """All tests, in the order of the lists. Lists that configure has written lie in `built`, others in `source`."""
    found = {}
    for directory in _directories(built, source, ""):
        for name in LISTS:
            for words in _lines(built, source, directory, name):
                if not (source / directory / words[0]).is_dir():
                    test = dataclasses.replace(parse(directory, words), generated=name == GENERATED)
                    found.setdefault(test.name, test)
    return list(found.values())


def parse(directory, words):
    program, *rest = words
    if "/" in program:
        below, program = program.rsplit("/", 1)
        directory = f"{directory}/{below}"
    ranks = int(rest[0]) if rest and rest[0].isdigit() else USUAL_RANKS
    pairs = [word.split("=", 1) for word in rest if "=" in word]
    values = dict(pairs)
    variables = [tuple(value.split("=", 1)) for key, value in pairs if key == "env" and not value.startswith(OWN_VARIABLES)]
    return Test(directory, program, ranks, tuple(value for key, value in pairs if key == "arg"), tuple(variables),
                values.get("resultTest", ""), int(values.get("timeLimit", USUAL_SECONDS)), float(values.get("mem", 0)))


def _directories(built, source, directory):
    """Those that lists name, below one another."""
    if directory:
        yield directory
    names = [words[0] for words in _lines(built, source, directory, "testlist")]
    for name in [*names, *(COMMENTED_OUT if not directory else ())]:
        below = f"{directory}/{name}" if directory else name
        if (source / below).is_dir():
            yield from _directories(built, source, below)


def _lines(built, source, directory, name):
    for root in (built, source):
        path = root / directory / name
        if path.exists():
            lines = [line.split("#")[0].split() for line in path.read_text().splitlines()]
            return [words for words in lines if words and not words[0].startswith("!")]
    return []
