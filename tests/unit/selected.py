#!/usr/bin/env python3
"""Prints the names of some unit tests, by what their sources say, or what they include from here.

    selected.py threads   those that may have more than one thread
    selected.py plain     those that are, or test, something else where a sanitizer is
"""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
THREADED = re.compile(r"thread|\bEngine\b|Calibration|CopyPair|Sweeper", re.IGNORECASE)
SANITIZER = re.compile(r"sanitize", re.IGNORECASE)
# Memory and signals, which a sanitizer has its own ways with.
PLAIN_ROOMS = ("runtime/alias/", "runtime/guard/", "runtime/process/")
# What runs in guests as well, as it was built here (tests/testbed/softroce/check.py).
IN_GUESTS = ("verbs/", "runtime/rendezvous/rdma", "runtime/rendezvous/put")
INCLUDED = re.compile(r'#include "tests/unit/([^"]+)"')


def sources(path, seen):
    """The text of a file and of all that it includes from here, headers with their source files."""
    if path in seen or not path.exists():
        return ""
    seen.add(path)
    text = path.read_text(encoding="utf-8")
    headers = [HERE / name for name in INCLUDED.findall(text)]
    return text + "".join(sources(header, seen) + sources(header.with_suffix(".cpp"), seen) for header in headers)


def is_threaded(_name, text):
    return THREADED.search(text)


def is_plain(name, text):
    return SANITIZER.search(text) or name.startswith(PLAIN_ROOMS + IN_GUESTS)


is_selected = {"threads": is_threaded, "plain": is_plain}[sys.argv[1]]
for test in sorted(HERE.rglob("*_test.cpp")):
    name = str(test.relative_to(HERE)).removesuffix("_test.cpp")
    if is_selected(name, sources(test, set())):
        print(name)
