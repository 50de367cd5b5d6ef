"""Which of MPICH's tests run in every test run; `--all` runs the others as well."""

DIRECTORIES = ("pt2pt", "threads/pt2pt", "comm", "datatype", "topo", "attr", "init", "errors/pt2pt", "errhan", "f77/pt2pt", "f90/pt2pt",
               "f08/pt2pt")
# Of collective calls every eighth, with few ranks: more take longer, and only the numbers differ. `--all` has all of them.
COLLECTIVE = ("coll", "errors/coll")
COLLECTIVE_SAMPLE = 8
ONE_SIDED = ("rma", "errors/rma")
ONE_SIDED_SAMPLE = 5
MOST_RANKS = 5
# What costs time every day and shows nothing, and why.
LEFT_OUT = {
    "pt2pt/scancel": "hangs on the host alone: it cancels no send",
    "pt2pt/pscancel": "as scancel",
    "pt2pt/cancelrecv": "as scancel",
    "comm/ctxalloc": "makes thousands of communicators, which are the host's affair",
    "comm/comm_idup_nb": "hangs on the host alone, now and then",
    "comm/comm_idup_isend": "hangs on the host alone, now and then",
    "init/timeout": "waits for its own end, and fails on the host alone",
    "threads/pt2pt/multisend4": "takes minutes on the host alone where ranks share processors",
    "threads/pt2pt/mt_improbe_isendrecv": "fails on the host alone, after a while",
    "threads/pt2pt/mt_improbe_sendrecv": "as mt_improbe_isendrecv",
    "threads/pt2pt/mt_improbe_sendrecv_huge": "as mt_improbe_isendrecv",
}
GENERATED_SAMPLE = 20  # every so many of those that differ in datatypes and counts only


def ordinary(tests):
    wanted = [test for test in tests if test.directory in DIRECTORIES and f"{test.directory}/{test.program}" not in LEFT_OUT and not test.gigabytes]
    collective = [test for test in tests if test.directory in COLLECTIVE and test.ranks <= MOST_RANKS and not test.gigabytes]
    one_sided = [test for test in tests if test.directory in ONE_SIDED and test.ranks <= MOST_RANKS and not test.gigabytes]
    generated = [test for test in wanted if test.generated]
    return ([test for test in wanted if not test.generated] + collective[::COLLECTIVE_SAMPLE] + one_sided[::ONE_SIDED_SAMPLE]
            + generated[::GENERATED_SAMPLE])
