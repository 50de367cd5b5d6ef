"""Installs into an empty directory and uses what lies there, as a user would who has no source tree."""

import os
import pathlib
import sys
import tempfile

from builds import BUILD, ROOT
from processes import run
from report import Tally

sys.path.insert(0, str(ROOT / "tests" / "mpi" / "support"))
from jobs import run_job  # noqa: E402


class Checks:
    def __init__(self):
        self.tally = Tally()

    def check(self, name, good, explanation=""):
        if good:
            self.tally.passed += 1
        else:
            self.tally.failed += 1
            print(f"FAIL {name}\n" + "\n".join(f"    {line}" for line in explanation.splitlines()))


def _only(root, pattern):
    found = sorted(root.rglob(pattern))
    return found[0] if found else root / pattern


def installation(seconds):
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="sluice-installed-") as name:
        root = pathlib.Path(name)
        outcome = run(["meson", "install", "-C", BUILD, "--no-rebuild"], seconds, env={"DESTDIR": name})
        checks.check("meson install", outcome.returncode == 0, outcome.output)
        _check_pkg_config(checks, root)
        _check_command(checks, root, seconds)
    return checks.tally


def _check_pkg_config(checks, root):
    description = _only(root, "sluice.pc")
    outcome = run(["pkg-config", "--variable=preload", "sluice"], 20, env={"PKG_CONFIG_PATH": str(description.parent)})
    library = root / outcome.output.strip().lstrip("/")
    checks.check("pkg-config names the installed library", outcome.returncode == 0 and library.is_file(),
                 f"{outcome.output}{library}")


def _check_command(checks, root, seconds):
    command = _only(root, "sluice")
    library = _only(root, "libsluice.so")
    outcome = run([command, "run", "sh", "-c", "echo $LD_PRELOAD"], 20)
    checks.check("the installed command preloads the installed library", outcome.output.strip() == str(library), outcome.output)

    program = [command, "run", "--", BUILD / "apps" / "pes" / "pes", "--size", "130", "--columns", "8192", "--iterations", "20"]
    job = run_job([*program, "--serial-check"], 2, {}, min(seconds, 60))
    checks.check("a job runs under the installed command", job.ok and "serial check equal" in job.stdout,
                 job.describe() if not job.ok else job.stdout)
    checks.check("the manual page is there", _only(root, "sluice.1*").is_file() and os.path.getsize(_only(root, "sluice.1*")) > 0)


def documentation(_seconds):
    """docs/configuration.md shows the table that the library is built with."""
    checks = Checks()
    outcome = run([BUILD / "tools" / "sluice", "info", "--config", "--format", "markdown"], 20)
    page = ROOT / "docs" / "configuration.md"
    current = page.exists() and outcome.returncode == 0 and outcome.output in page.read_text()
    checks.check("docs/configuration.md is current", current,
                 f"It should contain what `sluice info --config --format markdown` prints:\n{outcome.output}")
    return checks.tally
