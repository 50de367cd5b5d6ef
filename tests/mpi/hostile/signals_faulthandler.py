#!/usr/bin/python3
"""Python's faulthandler, enabled before or after MPI_Init: it reports faults of its own and nothing of the guard's.

Usage: signals_faulthandler.py before|after
"""

import ctypes
import faulthandler
import os
import sys
import time

if sys.argv[1] == "before":
    faulthandler.enable()
from mpi4py import MPI  # noqa: E402

if sys.argv[1] == "after":
    faulthandler.enable()

LARGE = 600000
world = MPI.COMM_WORLD
rank = world.Get_rank()
message = bytes(range(250)) * (LARGE // 250)
for turn in range(4):
    if rank % 2 == 0:
        time.sleep(0.01)
        world.Send(message, dest=rank + 1, tag=turn)
    else:
        buffer = bytearray(LARGE)
        world.Recv(buffer, source=rank - 1, tag=turn)
        verdict = "right" if buffer == message else "wrong"
        # In one call: print() makes two, and a line of the other rank's may come between.
        os.write(1, f"CASE turn_{turn} {rank}: {verdict}, enabled {faulthandler.is_enabled()}\n".encode())
world.Barrier()
if rank == 0:
    time.sleep(0.01)
    world.Send(message, dest=1, tag=9)
elif rank == 1:
    world.Recv(buffer, source=0, tag=9)
    ctypes.string_at(8)
time.sleep(1)
