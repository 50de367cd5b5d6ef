"""Programs whose threads share pages and releases, and one with more receives than there are mappings."""

from program import Program

PROGRAMS = [
    Program("threads"),
    Program("threads_openmp"),
    Program("outstanding"),
]
