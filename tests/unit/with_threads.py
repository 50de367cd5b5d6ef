#!/usr/bin/env python3
"""Prints the names of the unit tests that may have more than one thread: their sources, or what they include from here, name some."""

import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
THREADED = re.compile(r"thread|\bEngine\b|Calibration|CopyPair|Sweeper", re.IGNORECASE)
INCLUDED = re.compile(r'#include "tests/unit/([^"]+)"')


def sources(path, seen):
    """The text of a file and of all that it includes from here, headers with their source files."""
    if path in seen or not path.exists():
        return ""
    seen.add(path)
    text = path.read_text(encoding="utf-8")
    headers = [HERE / name for name in INCLUDED.findall(text)]
    return text + "".join(sources(header, seen) + sources(header.with_suffix(".cpp"), seen) for header in headers)


for test in sorted(HERE.rglob("*_test.cpp")):
    if THREADED.search(sources(test, set())):
        print(str(test.relative_to(HERE)).removesuffix("_test.cpp"))
