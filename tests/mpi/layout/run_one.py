#!/usr/bin/env python3
"""Runs a program as an MPI job of one process: run_one.py PROGRAM [arguments]"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from jobs import run_job  # noqa: E402

result = run_job(sys.argv[1:], ranks=1, env={}, timeout=110)
print(result.stdout if result.ok else result.describe())
sys.exit(0 if result.ok else 1)
