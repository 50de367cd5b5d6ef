"""Which of MPICH's tests run in every test run; `--all` runs the others as well."""

DIRECTORIES = ("pt2pt", "threads/pt2pt", "comm", "datatype", "topo", "attr", "init", "errors/pt2pt", "errhan", "f77/pt2pt", "f90/pt2pt", "perf")


def is_ordinary(test):
    return test.directory in DIRECTORIES and not test.gigabytes
