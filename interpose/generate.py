#!/usr/bin/env python3
"""Generates what follows from the list of calls (calls.def) and their prototypes: those of the host's mpi.h, and those of mpi4.h.

  newer_calls.h    declarations of mpi4.h that this mpi.h does not have
  host_table.inc   the members of HostTable, one typed function pointer for every call of the list
  host_names.inc   their names, for the look-up
  call_names.inc   names of the CARRIED and ALWAYS calls, for CallSite
  exports.hpp      EXPORT(X): the exported entry points of a CARRIED call, put behind its body
  settled.cpp      the entry points and bodies of every other call
  exports.map      the version script: nothing else leaves the library
  libc_calls.inc   the LIBC calls and the offsets of their slots, for libc_next
  entry_points.inc the exported calls, for look-ups by name
  libc_own.txt     for the linker: what Sluice itself calls of them goes past its own wrappers

Usage: generate.py calls.def mpi4.h output-directory compiler [compiler arguments that find mpi.h]
"""

import pathlib
import re
import subprocess
import sys

CALL = re.compile(r"^([A-Z_]+)\((\w+)(?:, (\w+))?\)$")
PROTOTYPE = re.compile(r"\bint\s+(MPI_\w+)\s*\(([^()]*)\)|\b(MPI_\w+)\s+(MPI_\w+)\s*\(([^()]*)\)")
ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)")

CALLER = "reinterpret_cast<std::uintptr_t>(__builtin_return_address(0))"
# Carried calls that may wait; the trace tells of each when it returns.
BLOCKING = ("Send", "Ssend", "Rsend", "Bsend", "Recv", "Mrecv", "Sendrecv", "Sendrecv_replace", "Probe", "Mprobe", "Wait",
            "Waitall", "Waitany", "Waitsome", "Buffer_detach", "Buffer_flush", "Comm_detach_buffer", "Comm_flush_buffer",
            "Barrier", "Bcast", "Reduce", "Allreduce", "Gather", "Gatherv", "Scatter", "Scatterv", "Allgather", "Allgatherv",
            "Alltoall", "Alltoallv", "Alltoallw", "Neighbor_allgather", "Neighbor_allgatherv", "Neighbor_alltoall",
            "Neighbor_alltoallv", "Neighbor_alltoallw", "Scan", "Exscan", "Reduce_scatter", "Reduce_scatter_block",
            "Win_fence", "Win_start", "Win_wait", "Win_lock", "Win_lock_all")
WITH_BODY = ("CARRIED", "ALWAYS")
BODIES = {
    "SETTLED": "return sluice::host().{name}({arguments});",
    "STARTS": "return sluice::host_activity().started(sluice::host().{name}({arguments}), {last});",
    "BEGINS": "return sluice::host_activity().begun(sluice::host().{name}({arguments}));",
    "ENDS": "return sluice::host_activity().ended(sluice::host().{name}({arguments}));",
    "SHARES": "return sluice::host_activity().shared(sluice::host().{name}({arguments}), {last});",
    "OPENS": "return sluice::{maker}_window({arguments});",
    "FREES": "return sluice::free_window({arguments});",
    "ASKS": "return sluice::window_calls::{name}(*carried, {arguments});",
    "WINDOW": "",  # as SETTLED or STARTS
    "MAKES_COMM": "return sluice::adopt_new(sluice::host().{name}({arguments}), {last});",
}


def takes_argument(kind, argument):
    return kind in ("SETTLED", "STARTS") or (kind == "CARRIED" and argument == "MPIX")


def read_list(path):
    calls = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("//"):
            continue
        match = CALL.match(line)
        if not match or match[1] not in {*BODIES, *WITH_BODY, "USED", "LIBC"} or match[3] and not takes_argument(match[1], match[3]):
            sys.exit(f"{path}:{number}: not understood: {line}")
        calls.append((match[1], match[2], match[3]))
    names = [name for _, name, _ in calls]
    for name in {name for name in names if names.count(name) > 1}:
        sys.exit(f"{path}: {name} is listed twice")
    return calls


def read_prototypes(compiler):
    command = [*compiler, "-E", "-P", "-x", "c", "-include", "mpi.h", "/dev/null"]
    return prototypes_in(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def prototypes_in(text):
    text = " ".join(ATTRIBUTE.sub(" ", text).split())
    prototypes = {}
    for match in PROTOTYPE.finditer(text):
        result, name, parameters = ("int", match[1], match[2]) if match[1] else (match[3], match[4], match[5])
        prototypes[name] = (result, [p.strip() for p in parameters.split(",") if p.strip() != "void"])
    return prototypes


def without_comments(header):
    return re.sub(r"//.*", "", pathlib.Path(header).read_text())


def argument(parameter):
    return re.search(r"(\w+)\s*(?:\[\d*\]\s*)*$", parameter)[1]


class Call:
    number = 0  # of its name in call_names.inc

    def __init__(self, kind, name, needs, prototypes):
        if f"MPI_{name}" not in prototypes:
            sys.exit(f"MPI_{name} has no prototype in mpi.h")
        self.kind, self.name, self.needs = kind, name, needs
        self.is_mpix = needs == "MPIX"
        self.result, self.parameters = prototypes[f"MPI_{name}"]
        self.arguments = [argument(p) for p in self.parameters]

    def entry(self, body):
        """The definition of MPI_X with PMPI_X as its alias."""
        aliases = [f"extern \"C\" decltype(::PMPI_{self.name}) {other}_{self.name} SLUICE_ALIAS_OF(MPI_{self.name});"
                   for other in self.prefixes() if other != "MPI"]
        return " ".join([f"extern \"C\" SLUICE_EXPORTED {self.function(f'MPI_{self.name}', body)}", *aliases])

    def prefixes(self):
        return ("MPI", "PMPI", "MPIX", "PMPIX") if self.is_mpix else ("MPI", "PMPI")

    def host_name(self):
        """With what the host may have instead."""
        older = f"\"PMPIX_{self.name}\"" if self.is_mpix else "nullptr"
        return f"{{\"PMPI_{self.name}\", {older}}},"

    def function(self, name, body):
        return f"{self.result} {name}({', '.join(self.parameters)}) {{ {body} }}"

    def traced(self, by, blocks):
        """The call, for the trace, from here to its return."""
        return (f"const sluice::trace::Call traced({CALLER}, __builtin_dwarf_cfa(), \"MPI_{self.name}\", "
                f"sluice::trace::CallClass::{by}, {str(blocks).lower()}); ")

    def chosen(self, traced, engaged, body):
        """The entry, and the functions that it jumps to.

        MPI_X does nothing but choose and jump: were a body inlined, it would save registers for it in a program without Sluice as
        well. The jump leaves the caller's frame and return address where the bodies look for them, and every argument as it came,
        so that hosts whose handles have other types are called right.
        """
        passed = ", ".join(self.arguments)
        choice = ("if (sluice::engaged()) [[likely]] { " + engaged + " } "
                  f"if (sluice::host_is_resolved()) [[likely]] return sluice::detail::host_table.{self.name}({passed}); "
                  f"return first_{self.name}({passed});")
        first = f"return sluice::host().{self.name}({passed});"
        return " ".join([f"[[gnu::noinline]] static {self.function(f'engaged_{self.name}', body)}", traced,
                         f"[[gnu::noinline, gnu::cold]] static {self.function(f'first_{self.name}', first)}", self.entry(choice)])

    def body(self):
        site = f"sluice::CallSite({CALLER}, sluice::CallSite::Function{{{self.number}}})"
        return f"return sluice::calls::{self.name}({', '.join([site, *self.arguments])});"

    def carried(self):
        if self.kind == "ALWAYS":
            return self.entry(self.body())
        passed = ", ".join(self.arguments)
        told = self.traced("carried", self.name.removesuffix("_c") in BLOCKING) + self.body()
        traced = f"[[gnu::noinline, gnu::cold]] static {self.function(f'traced_{self.name}', told)}"
        engaged = (f"if (sluice::trace::on()) [[unlikely]] return traced_{self.name}({passed}); "
                   f"return engaged_{self.name}({passed});")
        return self.chosen(traced, engaged, self.body())

    def generated(self):
        if self.kind == "ASKS":
            return self.asked()
        passed = ", ".join(self.arguments)
        kind = self.kind
        if kind == "WINDOW":
            kind = "STARTS" if self.arguments[-1] == "request" else "SETTLED"
        maker = self.name.removeprefix("Win_").removesuffix("_c")
        body = BODIES[kind].format(name=self.name, arguments=passed, last=self.arguments[-1], maker=maker)
        described = ", ".join(self.arguments[:-1] if kind == "STARTS" else self.arguments)
        needs = f"([&] {{ return sluice::host_needs::{self.needs}({described}); }})" if self.needs else ""
        blocks = kind not in ("STARTS", "BEGINS", "SHARES", "OPENS")
        told = self.traced("host", blocks) + f"const sluice::HostCall host_call{needs}; " + body
        engaged = f"return engaged_{self.name}({passed});"
        if self.kind != "WINDOW":
            return self.chosen("", engaged, told)
        others = ", ".join(["*carried", *self.arguments_but_window()])
        asked = f"if (sluice::Window* const carried = sluice::carried_window(win)) [[unlikely]] return carried_{self.name}({others});"
        return self.chosen(self.on_window(), f"{asked} {engaged}", told)

    def on_window(self):
        """The call of a window that Sluice carries."""
        name = self.name.removesuffix("_c")
        passed = ", ".join(["window", *self.arguments_but_window()])
        body = f"return sluice::window_calls::{name}({passed});"
        told = self.traced("carried", name in BLOCKING) + body
        choice = f"if (sluice::trace::on()) [[unlikely]] return traced_{self.name}({passed}); {body}"
        parameters = ", ".join(["sluice::Window& window", *(one for one in self.parameters if argument(one) != "win")])
        return " ".join([f"[[gnu::noinline, gnu::cold]] static {self.result} traced_{self.name}({parameters}) {{ {told} }}",
                         f"[[gnu::noinline]] static {self.result} carried_{self.name}({parameters}) {{ {choice} }}"])

    def arguments_but_window(self):
        return [argument for argument in self.arguments if argument != "win"]

    def asked(self):
        passed = ", ".join(self.arguments)
        own = BODIES[self.kind].format(name=self.name, arguments=", ".join(self.arguments_but_window()))
        body = f"if (const sluice::Window* const carried = sluice::carried_window(win)) {own} return sluice::host().{self.name}({passed});"
        return self.chosen("", f"return engaged_{self.name}({passed});", body)


def main():
    listing, newer_header, output, *compiler = sys.argv[1:]
    output = pathlib.Path(output)
    known = read_prototypes(compiler)
    newer = {name: prototype for name, prototype in prototypes_in(without_comments(newer_header)).items() if name not in known}
    prototypes = {**known, **newer}
    listed = read_list(pathlib.Path(listing))
    calls = [Call(kind, name, needs, prototypes) for kind, name, needs in listed if kind != "LIBC"]
    libc = [name for kind, name, _ in listed if kind == "LIBC"]
    exported = [call for call in calls if call.kind != "USED"]
    with_body = [call for call in exported if call.kind in WITH_BODY]
    for number, call in enumerate(with_body, 1):
        call.number = number

    def write(name, lines):
        (output / name).write_text("\n".join(lines) + "\n")

    write("newer_calls.h", ["#pragma once", "#include <mpi.h>", "extern \"C\" {", "typedef struct ompi_instance_t* MPI_Session;"] +
          [f"{result} {prefix}{name}({', '.join(parameters)});" for name, (result, parameters) in newer.items() for prefix in ("", "P")] +
          [f"decltype(::MPI_{call.name}) MPIX_{call.name}, PMPIX_{call.name};" for call in calls if call.is_mpix] + ["}"])
    write("host_table.inc", [f"decltype(&::MPI_{call.name}) {call.name};" for call in calls])
    write("host_names.inc", [call.host_name() for call in calls])
    write("exports.hpp", ["#pragma once", "#include \"interpose/mpi/entry.hpp\""] +
          [f"#define EXPORT_{call.name} {call.carried()}" for call in with_body])
    write("call_names.inc", ["\"an MPI call\",", *(f"\"MPI_{call.name}\"," for call in with_body)])
    write("settled.cpp", ["#include \"interpose/mpi/entry.hpp\"", "#include \"interpose/mpi/communicators.hpp\"",
                          "#include \"interpose/mpi/host_needs.hpp\"", "#include \"interpose/mpi/window_calls.hpp\""] +
          [call.generated() for call in exported if call.kind not in WITH_BODY])
    write("exports.map", ["{", "  global:"] + ["    " + " ".join(f"{prefix}_{c.name};" for prefix in c.prefixes()) for c in exported] +
          [f"    {name};" for name in libc] +
          ["  local: *;", "};"])
    write("libc_calls.inc", [f"SLUICE_LIBC_CALL({name}, {8 * slot})" for slot, name in enumerate(libc)])
    write("entry_points.inc", [f"SLUICE_ENTRY_POINT({prefix}_{call.name})" for call in exported for prefix in call.prefixes() if prefix[0] != "P"])
    write("libc_own.txt", [f"--wrap={name}" for name in libc])


main()
