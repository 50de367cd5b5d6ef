"""The frequency of this processor's time stamp counter.

An emulated processor shows its guest the counter of the real one. A guest that measures the frequency while the machine is busy gets it
wrong, at times by far, and then lives in a time of its own in which every command hangs; so it is told.
"""

import ctypes
import mmap
import platform
import time

READ_COUNTER = bytes.fromhex("0f31 48c1e220 4809d0 c3")  # rdtsc; shl rdx, 32; or rax, rdx; ret
MEASURED_SECONDS = 0.05
ATTEMPTS = 20  # the quickest is not disturbed by other processes


def kilohertz():
    """Nothing where it cannot be measured."""
    if platform.machine() != "x86_64":
        return None
    try:
        code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    except OSError:  # some systems allow no code that can be written
        return None
    code.write(READ_COUNTER)
    read = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
    first_time, first_count = _sample(read)
    time.sleep(MEASURED_SECONDS)
    last_time, last_count = _sample(read)
    return round((last_count - first_count) * 1e6 / (last_time - first_time))


def _sample(read):
    """Nanoseconds and the counter at that time."""
    samples = []
    for _ in range(ATTEMPTS):
        before = time.monotonic_ns()
        count = read()
        after = time.monotonic_ns()
        samples.append((after - before, (before + after) / 2, count))
    _, moment, count = min(samples)
    return moment, count
