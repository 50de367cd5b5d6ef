#!/usr/bin/env python3
"""Compares what libsluice.so exports and needs with the list of calls.

Usage: exports_check.py libsluice.so calls.def [readelf]
"""

import re
import subprocess
import sys


def dynamic_symbols(library, readelf):
    """(defined, undefined): names in the dynamic symbol table with their type, binding and address."""
    text = subprocess.run([readelf, "--dyn-syms", "--wide", library], check=True, capture_output=True, text=True).stdout
    defined, undefined = {}, set()
    for line in text.splitlines():
        fields = line.split()
        if len(fields) < 8 or not fields[0].rstrip(":").isdigit():
            continue
        address, kind, section, name = fields[1], fields[3], fields[6], fields[7]
        if section == "UND":
            undefined.add(name.split("@")[0])
        else:
            defined[name.split("@")[0]] = (kind, address)
    return defined, undefined


def listed_calls(path):
    with open(path, encoding="utf-8") as lines:
        calls = [re.match(r"([A-Z_]+)\((\w+)(?:, (\w+))?\)$", line.strip()) for line in lines]
        mpi = {call[2]: ("MPI", "PMPI", "MPIX", "PMPIX") if call[3] == "MPIX" else ("MPI", "PMPI")
               for call in calls if call and call[1] not in ("USED", "LIBC")}
        return mpi, {call[2] for call in calls if call and call[1] == "LIBC"}


def complaints(library, calls, libc, readelf):
    defined, undefined = dynamic_symbols(library, readelf)
    expected = {f"{prefix}_{name}" for name, prefixes in calls.items() for prefix in prefixes} | libc
    for name in sorted(expected - defined.keys()):
        yield f"{name} is in the list and not exported"
    for name in sorted(defined.keys() - expected):
        yield f"{name} is exported and not in the list"
    for name in sorted(calls):
        if len({defined.get(f"{prefix}_{name}") for prefix in calls[name]}) != 1:
            yield f"MPI_{name} is not the same function by each of its names"
    for name in sorted(undefined):
        if re.match(r"P?MPI_|ompi_|mpi_", name):
            yield f"{name} is needed from libmpi, so that a program without MPI could not start"
        if re.match(r"_Z(n[wa]|d[la])|aligned_alloc$|memalign$|posix_memalign$", name):
            yield f"{name} is the application's allocator, which the helper thread must never enter (interpose/libc/new_delete.cpp)"


def needed_libraries(library, readelf):
    text = subprocess.run([readelf, "--dynamic", "--wide", library], check=True, capture_output=True, text=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.*)\]", text)


def main():
    library, listing = sys.argv[1:3]
    readelf = sys.argv[3] if len(sys.argv) > 3 else "readelf"
    calls, libc = listed_calls(listing)
    found = list(complaints(library, calls, libc, readelf))
    for name in needed_libraries(library, readelf):
        if re.match(r"libmpi|libopen-|libstdc\+\+|libgcc_s", name):
            found.append(f"the library is linked against {name}")
    for complaint in found:
        print(complaint)
    print(f"{len(calls)} calls listed, {len(found)} complaints")
    return 1 if found or not calls else 0


sys.exit(main())
