"""What every page of figures says of where they come from: the folder of these pages, the machine, the commit."""

import os
import platform
import subprocess

from sluice_dev.base.builds import ROOT

RESULTS = ROOT / "docs" / "results"


def _cpu_line(key):
    with open("/proc/cpuinfo") as cpuinfo:
        return next((line.partition(":")[2].strip() for line in cpuinfo if line.startswith(key)), "")


def machine():
    virtual = ", virtual machine" if " hypervisor" in f" {_cpu_line('flags')}" else ""
    release = ".".join(platform.release().split("-")[0].split(".")[:2])
    return f"{_cpu_line('model name') or 'unknown processor'}, {os.cpu_count()} processors{virtual}, Linux {release}"


def commit():
    """Of the tree; with a word where files differ from it."""
    found = subprocess.run(["git", "describe", "--always", "--dirty= with changes"], cwd=ROOT, capture_output=True, text=True)
    return f"commit {found.stdout.strip()}" if found.returncode == 0 else "unknown commit"
