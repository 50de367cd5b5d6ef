"""What keeps the runtime's files and classes small enough to be read alone (docs/architecture.md).

    scripts/check-shape             complains of files that call each other in a circle, and of classes with too many public functions
    scripts/check-shape --circles   prints the circles

Circles are found in the objects of a build: a file calls another when it uses a symbol that the other defines. Calls of virtual functions
lead nowhere, as who is called is not named.

The preloaded library destroys nothing when the process ends: threads may outlive the exit handlers, and MPI may be called in them. So none
of its objects registers a destructor.
"""

import collections
import json
import re
import subprocess
import sys

from sluice_dev.base import builds
from sluice_dev.testing.report import Tally

ROOT = builds.ROOT
MAX_PUBLIC_FUNCTIONS = 25

# What is still to be taken apart (issue 42): files in circles, and classes.
FILES_TO_MEND = ()
CLASSES_TO_MEND = ()

COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
CLASS = re.compile(r"\b(class|struct)\s+(?:alignas\([^)]*\)\s*)?((?:\w+::)*\w+)(?:\s+final)?(?:\s*:[^{;]*)?\s*\{")
PRELOADED = re.compile(r"(?:interpose|runtime|net|shmem|tcp|verbs)/(?:\w+/)*lib\w+\.(?:a|so)\.p/.")
ACCESS = re.compile(r"\b(public|protected|private)\s*:")
NO_FUNCTION = re.compile(r"^(?:using|friend|static_assert|typedef|enum|class|struct|template\s*<[^>]*>\s*(?:class|struct|friend))\b")


def objects_with_destructors(build):
    """Those of the preloaded library's that have something destroyed when the process or a thread ends"""
    outputs = [command["output"] for command in json.loads((build / "compile_commands.json").read_text())]
    library = [output for output in outputs if PRELOADED.match(output) and (build / output).exists()]
    listing = subprocess.run(["nm", "--portability", "--print-file-name", "--undefined-only", *library],
                             cwd=build, capture_output=True, text=True, check=True).stdout
    return sorted(set(re.findall(r"^(.*?):\s+__cxa(?:_thread)?_atexit\b", listing, re.MULTILINE)))


def objects(build):
    """(source file, object file) of everything in the runtime's library"""
    for command in json.loads((build / "compile_commands.json").read_text()):
        source = (build / command["file"]).resolve()
        if source.is_relative_to(ROOT / "runtime") and "libruntime.a.p" in command["output"]:
            yield source.relative_to(ROOT).as_posix(), build / command["output"]


def calls(build):
    """Of each source file, the others whose symbols it uses."""
    sources = {str(built): source for source, built in objects(build)}
    listing = subprocess.run(["nm", "--portability", "--print-file-name", *sources], capture_output=True, text=True, check=True).stdout
    symbols = [re.match(r"(.*?):\s+(\S+)\s+(\S)", line).groups() for line in listing.splitlines()]
    defined = {name: sources[file] for file, name, kind in symbols if kind in "TDBR"}
    edges = collections.defaultdict(set)
    for file, name, kind in symbols:
        if kind == "U" and name in defined and defined[name] != sources[file]:
            edges[sources[file]].add(defined[name])
    return edges


def circles(edges):
    """Files that reach each other, each set sorted (Tarjan)."""
    numbers, lowest, stack, found = {}, {}, [], []

    def visit(file):
        numbers[file] = lowest[file] = len(numbers)
        stack.append(file)
        for other in sorted(edges.get(file, ())):
            if other not in numbers:
                visit(other)
                lowest[file] = min(lowest[file], lowest[other])
            elif other in stack:
                lowest[file] = min(lowest[file], numbers[other])
        if lowest[file] == numbers[file]:
            at = stack.index(file)
            if len(stack) - at > 1:
                found.append(tuple(sorted(stack[at:])))
            del stack[at:]

    for file in sorted(edges):
        if file not in numbers:
            visit(file)
    return sorted(found)


def end_of_body(text, begin):
    depth = 0
    for at in range(begin, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return at
    return len(text)


def statements(body):
    """What stands in a class, without what stands in braces in it."""
    depth, statement = 0, ""
    for letter in body:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if depth == 0:
            statement += letter
        if depth == 0 and letter in ";}":
            yield statement.strip()
            statement = ""


def public_functions(kind, name, body):
    access, count = "private" if kind == "class" else "public", 0
    for statement in statements(body):
        for label in ACCESS.findall(statement):
            access = label
        code = ACCESS.sub("", statement).strip()
        code = re.sub(r"\[\[.*?\]\]|^template\s*<.*?>\s*|alignas\([^)]*\)", "", code).strip()
        is_own = re.match(rf"(?:explicit |constexpr |virtual |inline )*~?{name}\s*\(", code) or "operator=" in code or "= delete" in code
        if access == "public" and "(" in code.split("=")[0] and not NO_FUNCTION.match(code) and not is_own:
            count += 1
    return count


def classes():
    """(header, class, number of public functions); constructors and assignments are not counted"""
    for path in sorted((ROOT / "runtime").rglob("*.hpp")):
        text = COMMENT.sub("", path.read_text())
        for match in CLASS.finditer(text):
            begin = match.end() - 1
            yield (path.relative_to(ROOT).as_posix(), match[2],
                   public_functions(match[1], match[2].split("::")[-1], text[begin + 1:end_of_body(text, begin)]))


def complaints_of(what, found, to_mend):
    yield from (f"{one} {what}" for one in sorted(set(found) - set(to_mend)))
    yield from (f"{one} does not so any more: take it out of the list" for one in sorted(set(to_mend) - set(found)))


def shape(_seconds=None):
    in_circles = [file for circle in circles(calls(builds.BUILD)) for file in circle]
    wide = [f"{file}: {name}" for file, name, count in classes() if count > MAX_PUBLIC_FUNCTIONS]
    complaints = [*complaints_of("calls others that call it", in_circles, FILES_TO_MEND),
                  *complaints_of(f"has more than {MAX_PUBLIC_FUNCTIONS} public functions", wide, CLASSES_TO_MEND),
                  *(f"{name} has something destroyed at the end" for name in objects_with_destructors(builds.BUILD))]
    if complaints:
        print("FAIL shape (shape.py):\n    " + "\n    ".join(complaints))
    return Tally(failed=1) if complaints else Tally(passed=1)


def main():
    if "--circles" in sys.argv[1:]:
        for circle in circles(calls(builds.BUILD)):
            print(" ".join(circle))
        return
    sys.exit(shape().failed)
