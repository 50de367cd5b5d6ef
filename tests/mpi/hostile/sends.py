"""Programs that use their buffers right after a send that was released early (SLUICE_SEND_RELEASE)."""

from .program import Program

PROGRAMS = [Program("sends", env={"SLUICE_SEND_RELEASE": "1"}, released="sends released early")]
