"""Programs that wait for any or some of their requests, of which a large receive is the last."""

from .program import Program

PROGRAMS = [Program(f"waits_{case}", "waits", alone=False, arguments=(case,))
            for case in ("any_of_few", "any_of_many", "some_of_few", "some_of_many")]
