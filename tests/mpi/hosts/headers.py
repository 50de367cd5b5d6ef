"""What a host's mpi.h declares and the list of calls does not have: nothing that moves messages or makes requests may be forgotten."""

import re
import subprocess

ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)")
PROTOTYPE = re.compile(r"\b(?:int|MPI_\w+)\s+MPI_(\w+)\s*\(([^()]*)\)\s*;")
# Memory, requests, and what messages can be sent on.
CONCERNED = re.compile(r"\bvoid\s*\*\s*\w+|MPI_Request|MPI_Message|MPI_Comm\s*\*|MPI_Session\s*\*|MPI_Win\s*\*")
# Of these, that neither touch memory nor start, complete or make anything.
LEFT_ALONE = {"Abi_get_fortran_booleans", "Abi_set_fortran_booleans", "Alloc_mem", "Get_address", "Grequest_complete", "Request_c2f", "Request_toint",
              "Type_set_attr", "Win_shared_query", "Win_shared_query_c"}
ABOUT_OTHER_THINGS = re.compile(r"extra_state|attribute_val|^T_")


def forgotten(directory, calls):
    """Names, without MPI_, that are missing in the list `calls`."""
    command = ["gcc", "-E", "-P", "-x", "c", f"-I{directory}", "-include", "mpi.h", "/dev/null"]
    text = ATTRIBUTE.sub(" ", subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    listed = set(re.findall(r"^[A-Z_]+\((\w+)(?:, \w+)?\)$", calls.read_text(encoding="utf-8"), re.MULTILINE))
    declared = {name: arguments for name, arguments in PROTOTYPE.findall(" ".join(text.split()))}
    assert len(declared) > len(LEFT_ALONE), f"{directory}/mpi.h is not understood"
    return sorted(name for name, arguments in declared.items() if CONCERNED.search(arguments) and not ABOUT_OTHER_THINGS.search(name + arguments)
                  and name not in listed | LEFT_ALONE)
