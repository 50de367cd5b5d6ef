"""Programs that hand received buffers, and what shares their pages, to the kernel (page-guard rule 8)."""

from .program import Program

PROGRAMS = [
    Program("kernel_files"),
    Program("kernel_vectors"),
    Program("kernel_sockets"),
    Program("kernel_stdio"),
    Program("kernel_stdio_buffers"),
    Program("kernel_aio"),
    Program("kernel_neighbours"),
    Program("kernel_waiting"),
    Program("kernel_futex"),
    Program("kernel_output"),
    Program("kernel_in_handlers"),
]
