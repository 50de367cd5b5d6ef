"""Options and words that the commands share which launch a program somewhere else: in namespaces, in guests."""

import os
import pathlib

from sluice_dev.base.builds import LIBRARY_IN_BUILD

NO_PLACE_CODE = 77  # there can be no such place on this machine
HUNG_CODE = 124


def numbers(text):
    return [int(word) for word in text.split(",")]


def assignment(text):
    name, equals, value = text.partition("=")
    return name, value if equals else os.environ.get(name, "")


def environment_of(variables, builddir: pathlib.Path | None):
    """Of the ranks; `builddir`: with the library that was built there."""
    environment = dict(variables)
    if builddir:
        environment["LD_PRELOAD"] = str((builddir / LIBRARY_IN_BUILD).resolve())
    return environment


def mca_arguments(settings):
    return [word for name, value in settings for word in ("--mca", name, value)]
