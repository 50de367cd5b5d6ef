"""Runs a program as an MPI job of one process: run_one PROGRAM [arguments]"""

import sys

from sluice_dev.jobs.job import run_job


def main():
    result = run_job(sys.argv[1:], ranks=1, env={}, timeout=110)
    print(result.stdout if result.ok else result.describe())
    sys.exit(0 if result.ok else 1)
